import { customTrackingRoutes } from '../../src/outbound/tracking/custom/routes.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { trackingView as view } from '../base/nouns/tracking.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  description: 'Links in sent mail keep working for a week.',
  examples: [['Disable it by the name of the domain', 'svc tracking disable example.com']],
  args,
  find,
  route: customTrackingRoutes.disable,
  view,
});
