import { campaignRoutes } from '../../src/campaigns/setup/routes.ts';
import { campaignArg as args } from '../base/nouns/campaign.ts';
import { deleteCommand } from '../base/verbs.ts';

export default deleteCommand({
  examples: [['Delete a campaign', 'svc campaigns delete @last --yes']],
  args,
  shows: campaignRoutes.get,
  route: campaignRoutes.delete,
  question: ({ name }) => `Delete the campaign ${name} with its runs and their ledgers?`,
});
