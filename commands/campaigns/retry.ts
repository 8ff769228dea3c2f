import { campaignRunRoutes } from '../../src/campaigns/setup/routes.ts';
import { runArg as args, findRun as find } from '../base/nouns/campaign.ts';
import { runView as view } from '../base/nouns/run-view.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  description:
    'Reaches those without a message and those whose message failed, with the content of now.',
  examples: [['Retry a run', 'svc campaigns retry @last']],
  args,
  find,
  route: campaignRunRoutes.retry,
  view,
});
