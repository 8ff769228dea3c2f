// `svc webhooks deliveries`. src/webhooks/deliveries/deliveries.ts lists the deliveries.
import { Args, Flags } from '@oclif/core';
import { BaseCommand, pageFlags, tableFlags } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { rangeFlags, rangeFrom } from '../base/input/since.ts';
import { deliveryText } from '../base/nouns/webhook.ts';
import { print, printList } from '../base/output/output.ts';
import { callRoute } from '../base/route.ts';

const columns = [
  ...['id', 'eventType', 'status', 'attemptCount', 'lastError', 'nextAttemptAt', 'createdAt'],
];

export default class WebhooksDeliveries extends BaseCommand {
  static override asksServer = true;

  static override summary = 'List the deliveries of a webhook, or show one of them';

  static override examples = [
    {
      description: 'List the deliveries given up today',
      command:
        'svc webhooks deliveries wep_06dq2k0qz8h3v5m1r9t4w7xy --status exhausted --since 24h',
    },
    {
      description: 'Show why a delivery failed',
      command:
        'svc webhooks deliveries wep_06dq2k0qz8h3v5m1r9t4w7xy whdel_06dq2k0qz8h3v5m1r9t4w7xy',
    },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the webhook (wep_…)', required: true }),
    delivery: Args.string({ description: 'Id of a delivery (whdel_…), to show its attempts' }),
  };

  static override flags = {
    status: Flags.string({
      description: 'Only this status: pending, delivered, exhausted or cancelled',
    }),
    event: Flags.string({
      description: 'Only these kinds, separated by commas, such as message.*',
      helpValue: 'KIND',
    }),
    ...rangeFlags('deliveries created'),
    ...pageFlags,
    ...tableFlags,
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksDeliveries);
    const { id, delivery } = args;
    if (delivery !== undefined) {
      const one = await callRoute(
        flags,
        async () => (await import('../../src/webhooks/routes.ts')).webhookRoutes.delivery,
        { params: { id, deliveryId: delivery } },
      );
      return print(flags, one, () => deliveryText(one));
    }
    const { status, event: eventType, page, limit } = flags;
    const range = rangeFrom(flags, Date.now());
    const query = given({ status, eventType, ...range, page, limit });
    const found = await callRoute(
      flags,
      async () => (await import('../../src/webhooks/routes.ts')).webhookRoutes.deliveries,
      { params: { id }, query },
    );
    await printList(
      flags,
      found,
      columns,
      'No deliveries found. Post a test event: svc webhooks test ID',
    );
  }
}
