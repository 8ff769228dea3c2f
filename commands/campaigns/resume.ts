import { resumeRunInput } from '../../src/campaigns/setup/run-schema.ts';
import { runArg as args, findRun as find } from '../base/nouns/campaign.ts';
import { runView as view } from '../base/nouns/run-view.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Let a paused or held run go on',
  description: 'A held run needs --note. One that had not started is scheduled again.',
  examples: [['Resume a held run', 'svc campaigns resume @last --note "The list is cleaned"']],
  args,
  find,
  body: resumeRunInput,
  route: async () => (await import('../../src/campaigns/setup/routes.ts')).campaignRunRoutes.resume,
  view,
});
