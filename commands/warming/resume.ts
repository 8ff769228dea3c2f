import { Flags } from '@oclif/core';
import { domainArg as args, domainId as find } from '../base/domain-id.ts';
import { warmingView as view } from '../base/ramp.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Let the warming of a domain go on that is paused or held',
  description:
    'A held plan needs a note. It tries again the window that was not safe, and what was sent before ' +
    'counts no more.',
  examples: [
    ['Why it is held', 'svc warming show example.com'],
    ['After a look at it', 'svc warming resume example.com --note "An old list was removed"'],
  ],
  args,
  find,
  flags: { note: Flags.string({ description: 'What the review found; the decision shows it' }) },
  route: async () => (await import('../../src/warming/routes.ts')).warmingRoutes.resume,
  view,
});
