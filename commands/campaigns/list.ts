import { campaignRoutes } from '../../src/campaigns/setup/routes.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [['List the newest campaigns', 'svc campaigns list --limit 5']],
  route: campaignRoutes.list,
  columns: ['id', 'name', 'email.subject', 'audience.includeTags', 'createdAt'],
  whenEmpty: 'No campaigns yet. Create one: svc campaigns create --help',
});
