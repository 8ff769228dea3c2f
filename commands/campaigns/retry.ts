import { retryRunInput } from '../../src/campaigns/setup/run-schema.ts';
import { runArg as args, findRun as find } from '../base/nouns/campaign.ts';
import { runView as view } from '../base/nouns/run-view.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Make a run to the contacts that failed in an ended run',
  description:
    'Reaches those without a message and those whose message failed, with the content of now.',
  examples: [['Retry a run', 'svc campaigns retry @last']],
  args,
  find,
  body: retryRunInput,
  route: async () => (await import('../../src/campaigns/setup/routes.ts')).campaignRunRoutes.retry,
  view,
});
