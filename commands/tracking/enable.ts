import { customTrackingRoutes } from '../../src/outbound/tracking/custom/routes.ts';
import { domainArg as args, domainId as find } from '../base/nouns/domain-id.ts';
import { trackingView as view } from '../base/nouns/tracking.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  description:
    'Shows the DNS records to publish. From then on the daemon checks them on its own and ' +
    'fetches the certificate; "svc tracking recheck" checks at once.',
  examples: [['Enable links.example.com', 'svc tracking enable example.com --label links']],
  args,
  find,
  route: customTrackingRoutes.enable,
  view,
});
