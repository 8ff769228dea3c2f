import { listRunsQuery } from '../../src/campaigns/setup/run-schema.ts';
import { campaignArg as args } from '../base/nouns/campaign.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  summary: 'List the runs of a campaign, newest first',
  examples: [['List the runs of the newest campaign', 'svc campaigns runs @last']],
  args,
  query: listRunsQuery,
  route: async () => (await import('../../src/campaigns/setup/routes.ts')).campaignRunRoutes.list,
  columns: [
    ...['id', 'status', 'scheduledFor', 'startedAt', 'completedAt', 'totalRecipients'],
    ...['dispatchedCount', 'failedCount', 'skippedCount'],
  ],
  whenEmpty: 'No runs yet. Make one: svc campaigns run C',
});
