import { warmingRoutes } from '../../src/identity/warming/routes.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { warmingView as view } from '../base/nouns/ramp.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'End the warming of a domain for good',
  description: 'Its plan and windows are cancelled; another plan can be started.',
  examples: [
    ['End a plan to start another one', 'svc warming stop example.com --note "Too steep"'],
  ],
  args,
  find,
  route: warmingRoutes.cancel,
  view,
});
