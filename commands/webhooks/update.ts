import { Flags } from '@oclif/core';
import { webhookRoutes } from '../../src/webhooks/routes.ts';
import { given } from '../base/input/body.ts';
import { settingFlags, settingsOf } from '../base/nouns/webhook.ts';
import { updateCommand } from '../base/verbs.ts';
import { args, card } from './show.ts';

export default updateCommand({
  summary: 'Change a webhook: its URL, events, headers or state',
  description:
    'A disabled webhook gets no events, and its waiting deliveries are cancelled. ' +
    'Enabled again, it starts without a backlog. The given events and headers replace ' +
    'all earlier ones.',
  examples: [
    [
      'Subscribe to other events',
      "svc webhooks update wep_06dq2k0qz8h3v5m1r9t4w7xy --event 'message.*' --event domain.failed",
    ],
    ['Enable a webhook again', 'svc webhooks update wep_06dq2k0qz8h3v5m1r9t4w7xy --active'],
  ],
  args,
  names: { status: null },
  flags: {
    ...settingFlags,
    active: Flags.boolean({ description: 'Enable it, or disable it', allowNo: true }),
  },
  more: (flags) => {
    const status = flags.active ? 'active' : 'disabled';
    return {
      ...settingsOf(flags),
      ...given({ status: flags.active === undefined ? undefined : status }),
    };
  },
  route: webhookRoutes.update,
  card,
});
