import { warmingRoutes } from '../../src/identity/warming/routes.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { warmingView as view } from '../base/nouns/ramp.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  examples: [['Show it by the name of the domain', 'svc warming show example.com']],
  args,
  find,
  route: warmingRoutes.get,
  view,
});
