import { domainArg as args, domainId as find } from '../base/domain-id.ts';
import { warmingView as view } from '../base/ramp.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Show the warming of a domain: the plan against what was sent, and how that fared',
  examples: [['By name', 'svc warming show example.com']],
  args,
  find,
  route: async () => (await import('../../src/warming/routes.ts')).warmingRoutes.get,
  view,
});
