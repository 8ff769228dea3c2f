import { listCampaignsQuery } from '../../src/campaigns/setup/schema.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List campaigns, newest first',
  examples: [['List the newest campaigns', 'svc campaigns list --limit 5']],
  query: listCampaignsQuery,
  route: async () => (await import('../../src/campaigns/setup/routes.ts')).campaignRoutes.list,
  columns: ['id', 'name', 'email.subject', 'audience.includeTags', 'createdAt'],
  whenEmpty: 'No campaigns yet. Create one: svc campaigns create --help',
});
