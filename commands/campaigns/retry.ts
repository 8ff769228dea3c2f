import { campaignRunRoutes } from '../../src/campaigns/setup/routes.ts';
import { runArg as args, findRun as find } from '../base/nouns/campaign.ts';
import { runView as view } from '../base/nouns/run-view.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  description:
    'Reaches contacts without a message, or with a failed one. The content is that of the campaign now.',
  examples: [['Retry a run', 'svc campaigns retry @last']],
  args,
  find,
  route: campaignRunRoutes.retry,
  view,
});
