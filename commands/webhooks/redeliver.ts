// `svc webhooks redeliver`: a single attempt now, or many events queued again.
import { Args, Flags } from '@oclif/core';
import { BaseCommand } from '../base/command.ts';
import { given } from '../base/input/body.ts';
import { rangeFlags, rangeFrom } from '../base/input/since.ts';
import { ExpectationError, UsageError } from '../base/output/failure.ts';
import { print, printCard } from '../base/output/output.ts';
import { callRoute } from '../base/route.ts';

export default class WebhooksRedeliver extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Retry one delivery now, or post given-up events again';

  static override description =
    'With a delivery: makes one attempt, waits for its outcome, and ends with exit code ' +
    '8 if it fails. The automatic attempts stay as planned. With --failed: creates new ' +
    'deliveries for events that were given up, under their old webhook-id, behind new ' +
    'events; the oldest 10,000 at most.';

  static override examples = [
    {
      description: 'Retry one delivery now',
      command: 'svc webhooks redeliver wep_06dq2k0qz8h3v5m1r9t4w7xy whdel_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Post all events given up in the last hour',
      command: 'svc webhooks redeliver wep_06dq2k0qz8h3v5m1r9t4w7xy --failed --since 1h',
    },
  ];

  static override args = {
    id: Args.string({ description: 'Id of the webhook (wep_…)', required: true }),
    delivery: Args.string({ description: 'Id of the delivery (whdel_…)' }),
  };

  static override flags = {
    failed: Flags.boolean({ description: 'Post all events that were given up' }),
    ...rangeFlags('deliveries created'),
    event: Flags.string({
      description: 'Only these kinds, separated by commas, such as message.*; may be repeated',
      helpValue: 'KIND',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
    }),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(WebhooksRedeliver);
    const { id, delivery } = args;
    if ((flags.failed === true) === (delivery !== undefined)) {
      throw new UsageError('give either a delivery or --failed');
    }
    if (delivery !== undefined) {
      const answer = await callRoute(
        flags,
        async () => (await import('../../src/webhooks/routes.ts')).webhookRoutes.redeliver,
        { params: { id, deliveryId: delivery } },
      );
      await printCard(flags, answer, ['outcome', 'deliveryId', 'attemptId']);
      if (answer.outcome === 'succeeded') return;
      throw new ExpectationError(
        `${delivery} failed again. See why: svc webhooks deliveries ${id}`,
      );
    }
    const body = given({
      status: 'exhausted',
      ...rangeFrom(flags, Date.now()),
      events: flags.event,
    });
    const answer = await callRoute(
      flags,
      async () => (await import('../../src/webhooks/routes.ts')).webhookRoutes.replay,
      { params: { id }, body },
    );
    await print(flags, answer, () => {
      const rest = answer.isComplete
        ? ''
        : ' More remain: run the same command again once these are done.';
      return `${answer.deliveries} events are queued again.${rest}`;
    });
  }
}
