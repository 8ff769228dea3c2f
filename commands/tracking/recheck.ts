import { customTrackingRoutes } from '../../src/outbound/tracking/custom/routes.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { trackingView as view } from '../base/nouns/tracking.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  description: 'Checks at most once in 30 seconds.',
  examples: [['Check it by the name of the domain', 'svc tracking recheck example.com']],
  args,
  find,
  route: customTrackingRoutes.recheck,
  view,
});
