import { campaignRunRoutes } from '../../src/campaigns/setup/routes.ts';
import { runArg as args, findRun as find } from '../base/nouns/campaign.ts';
import { runView as view } from '../base/nouns/run-view.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  description: 'A held run needs --note. One that had not started is scheduled again.',
  examples: [['Resume a held run', 'svc campaigns resume @last --note "The list is cleaned"']],
  args,
  find,
  route: campaignRunRoutes.resume,
  view,
});
