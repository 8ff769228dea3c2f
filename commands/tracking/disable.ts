import { domainArg as args, domainId as find } from '../base/domain-id.ts';
import { trackingView as view } from '../base/tracking.ts';
import { showCommand } from '../base/verbs.ts';

export default showCommand({
  summary: 'Stop using the tracking host of a domain; links in sent mail go on for a week',
  examples: [['By name', 'svc tracking disable example.com']],
  args,
  find,
  route: async () =>
    (await import('../../src/tracking/custom/routes.ts')).customTrackingRoutes.disable,
  view,
});
