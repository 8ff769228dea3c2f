import { decideRunInput } from '../../src/campaigns/setup/run-schema.ts';
import { runArg as args, findRun as find } from '../base/nouns/campaign.ts';
import { runView as view } from '../base/nouns/run-view.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'End a run for good',
  description:
    'What has not left is cancelled; what has left stays. A completed run can be cancelled while ' +
    'mail of it is queued.',
  examples: [['Cancel a run', 'svc campaigns cancel run_06dq2k0qz8h3v5m1r9t4w7xy']],
  args,
  find,
  body: decideRunInput,
  route: async () => (await import('../../src/campaigns/setup/routes.ts')).campaignRunRoutes.cancel,
  view,
});
