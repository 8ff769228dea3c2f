import { domainArg as args, domainId as find } from '../base/domain-id.ts';
import { trackingView as view } from '../base/tracking.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Look at the tracking host of a domain now, at most each 30 seconds',
  examples: [['By name', 'svc tracking recheck example.com']],
  args,
  find,
  route: async () =>
    (await import('../../src/tracking/custom/routes.ts')).customTrackingRoutes.recheck,
  view,
});
