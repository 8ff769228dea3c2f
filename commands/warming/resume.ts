import { resumeWarmingInput } from '../../src/identity/warming/schema.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { warmingView as view } from '../base/nouns/ramp.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Resume the paused or held warming of a domain',
  description:
    'A held plan needs a note. It repeats the unsafe window; earlier bounces and ' +
    'complaints no longer count.',
  examples: [
    ['Show why the plan is held', 'svc warming show example.com'],
    ['Resume after a review', 'svc warming resume example.com --note "An old list was removed"'],
  ],
  args,
  find,
  body: resumeWarmingInput,
  route: async () => (await import('../../src/identity/warming/routes.ts')).warmingRoutes.resume,
  view,
});
