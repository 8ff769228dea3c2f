import { campaignArg as args } from '../base/nouns/campaign.ts';
import { deleteCommand } from '../base/verbs.ts';

const routes = async () => (await import('../../src/campaigns/setup/routes.ts')).campaignRoutes;

export default deleteCommand({
  summary: 'Delete a campaign with its runs; messages stay',
  examples: [['Delete a campaign', 'svc campaigns delete @last --yes']],
  args,
  shows: async () => (await routes()).get,
  route: async () => (await routes()).delete,
  question: ({ name }) => `Delete the campaign ${name} with its runs and their ledgers?`,
});
