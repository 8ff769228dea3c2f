// `svc webhooks test`. src/webhooks/deliveries/deliveries.ts queues the test event.
import { Flags } from '@oclif/core';
import { BaseCommand, dataFlag } from '../base/command.ts';
import { wordOfNoDaemon } from '../base/daemon-word.ts';
import { readData } from '../base/input/body.ts';
import { timeoutFlag, timeoutFrom } from '../base/input/timeout.ts';
import { readUntil } from '../base/keep-alive.ts';
import { deliveryText } from '../base/nouns/webhook.ts';
import { ExpectationError } from '../base/output/failure.ts';
import { print, printCard, writeWarning } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';
import { args } from './show.ts';

/** Default value of --timeout. */
const waited = '30s';

export default class WebhooksTest extends BaseCommand {
  static override asksServer = true;

  static override summary = 'Post a test event to a webhook, and wait for the result';

  static override description =
    'Publishes a webhook.test event, which the daemon posts like any other, and waits for ' +
    'the first attempt. Ends with exit code 8 if the post fails or is not made in time.';

  static override examples = [
    {
      description: 'Test whether an endpoint answers',
      command: 'svc webhooks test wep_06dq2k0qz8h3v5m1r9t4w7xy',
    },
    {
      description: 'Post data of your own',
      command: `svc webhooks test wep_06dq2k0qz8h3v5m1r9t4w7xy --data '{"data":{"order":7}}'`,
    },
  ];

  static override args = args;

  static override flags = {
    wait: Flags.boolean({
      description: 'Wait for the first attempt',
      allowNo: true,
      default: true,
    }),
    timeout: timeoutFlag(waited),
    ...dataFlag,
  };

  async run(): Promise<void> {
    const { args: typed, flags } = await this.parse(WebhooksTest);
    const timeoutMs = timeoutFrom(flags.timeout ?? waited) ?? Number.POSITIVE_INFINITY;
    const { id } = typed;
    const body = await readData(flags.data);
    await withSession(flags, async (session) => {
      const { webhookRoutes: routes } = await import('../../src/webhooks/routes.ts');
      const test = await session.ask(routes.test, { params: { id }, body });
      if (!flags.wait) return printCard(flags, test, ['accepted', 'eventId', 'deliveryId']);
      const word = await wordOfNoDaemon(session, 'The event');
      if (word) writeWarning(word);
      const params = { id, deliveryId: test.deliveryId };
      const delivery = await readUntil(
        session,
        {
          timeoutMs,
          isEnough: ({ status, attempts }) => status !== 'pending' || attempts.length > 0,
        },
        () => session.ask(routes.delivery, { params }),
      );
      await print(flags, test, () => deliveryText(delivery));
      if (delivery.status === 'delivered') return;
      const what = delivery.lastError ?? `not posted yet: it is ${delivery.status}`;
      throw new ExpectationError(
        `${what}. See later attempts: svc webhooks deliveries ${id} ${delivery.id}`,
      );
    });
  }
}
