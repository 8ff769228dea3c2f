import { Flags } from '@oclif/core';
import { domainArg as args, domainId as find } from '../base/domain-id.ts';
import { warmingView as view } from '../base/ramp.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'End the warming of a domain for good',
  description: 'Its plan is cancelled, and so are its windows; another plan can be started.',
  examples: [['To begin with another plan', 'svc warming stop example.com --note "Too steep"']],
  args,
  find,
  flags: { note: Flags.string({ description: 'Why; the decision shows it' }) },
  route: async () => (await import('../../src/warming/routes.ts')).warmingRoutes.cancel,
  view,
});
