import { campaignRunRoutes } from '../../src/campaigns/setup/routes.ts';
import { runArg as args, findRun as find } from '../base/nouns/campaign.ts';
import { runView as view } from '../base/nouns/run-view.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  description:
    'Queued mail waits too, until the run is resumed. A completed run can be paused while mail ' +
    'of it is queued.',
  examples: [['Pause a run', 'svc campaigns pause @last --note "Wrong prices"']],
  args,
  find,
  route: campaignRunRoutes.pause,
  view,
});
