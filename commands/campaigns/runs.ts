import { campaignRunRoutes } from '../../src/campaigns/setup/routes.ts';
import { campaignArg as args } from '../base/nouns/campaign.ts';
import { listCommand } from '../base/verbs.ts';

export default listCommand({
  examples: [['List the runs of the newest campaign', 'svc campaigns runs @last']],
  args,
  route: campaignRunRoutes.list,
  columns: [
    ...['id', 'status', 'scheduledFor', 'startedAt', 'completedAt', 'totalRecipients'],
    ...['dispatchedCount', 'failedCount', 'skippedCount'],
  ],
  whenEmpty: 'No runs yet. Make one: svc campaigns run C',
});
