import { warmingRoutes } from '../../src/identity/warming/routes.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { warmingView as view } from '../base/nouns/ramp.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  description:
    'A held plan needs a note. It repeats the unsafe window; earlier bounces and ' +
    'complaints no longer count.',
  examples: [
    ['Show why the plan is held', 'svc warming show example.com'],
    ['Resume after a review', 'svc warming resume example.com --note "An old list was removed"'],
  ],
  args,
  find,
  route: warmingRoutes.resume,
  view,
});
