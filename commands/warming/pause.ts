import { warmingRoutes } from '../../src/identity/warming/routes.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { warmingView as view } from '../base/nouns/ramp.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  examples: [
    ['Pause for the holidays', 'svc warming pause example.com --note "Nobody is here to look"'],
  ],
  args,
  find,
  route: warmingRoutes.pause,
  view,
});
