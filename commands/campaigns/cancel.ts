import { campaignRunRoutes } from '../../src/campaigns/setup/routes.ts';
import { runArg as args, findRun as find } from '../base/nouns/campaign.ts';
import { runView as view } from '../base/nouns/run-view.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  examples: [['Cancel a run', 'svc campaigns cancel run_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  find,
  route: campaignRunRoutes.cancel,
  view,
});
