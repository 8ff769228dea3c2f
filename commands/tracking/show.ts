import { customTrackingRoutes } from '../../src/outbound/tracking/custom/routes.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { trackingView as view } from '../base/nouns/tracking.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Show the tracking host of a domain and its DNS records',
  examples: [['Show it by the name of the domain', 'svc tracking show example.com']],
  args,
  find,
  route: customTrackingRoutes.get,
  view,
});
