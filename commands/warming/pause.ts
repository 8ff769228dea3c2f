import { decideInput } from '../../src/identity/warming/schema.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { warmingView as view } from '../base/nouns/ramp.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Pause the warming of a domain',
  description: 'The open window runs to its end; no other opens until the plan is resumed.',
  examples: [
    ['Pause for the holidays', 'svc warming pause example.com --note "Nobody is here to look"'],
  ],
  args,
  find,
  body: decideInput,
  route: async () => (await import('../../src/identity/warming/routes.ts')).warmingRoutes.pause,
  view,
});
