import { Flags } from '@oclif/core';
import { dataFlag } from '../base/command.ts';
import { domainArg as args, domainId as find } from '../base/domain-id.ts';
import { trackingView as view } from '../base/tracking.ts';
import { updateCommand } from '../base/verbs.ts';

export default updateCommand({
  summary: 'Make a host of a verified domain the one that its links point to',
  description:
    'Shows the DNS records to publish. The daemon looks for them by itself from then on, and fetches ' +
    'the certificate; "svc tracking recheck" looks at once.',
  examples: [['As links.example.com', 'svc tracking enable example.com --label links']],
  args,
  find,
  flags: {
    label: Flags.string({ description: 'In front of the domain: links makes links.example.com' }),
    ...dataFlag,
  },
  route: async () =>
    (await import('../../src/tracking/custom/routes.ts')).customTrackingRoutes.enable,
  view,
});
