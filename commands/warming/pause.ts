import { Flags } from '@oclif/core';
import { domainArg as args, domainId as find } from '../base/domain-id.ts';
import { warmingView as view } from '../base/ramp.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Pause the warming of a domain',
  description: 'The open window goes on until its end; no other opens until the plan is resumed.',
  examples: [['For the holidays', 'svc warming pause example.com --note "Nobody is here to look"']],
  args,
  find,
  flags: { note: Flags.string({ description: 'Why; the decision shows it' }) },
  route: async () => (await import('../../src/warming/routes.ts')).warmingRoutes.pause,
  view,
});
