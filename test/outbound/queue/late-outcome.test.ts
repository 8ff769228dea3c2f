// Late outcomes: the statuses that each report moves, and the fields of an assumed delivery.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type MessageStatus, messageStatuses } from '../../../src/outbound/deliveries/status.ts';
import { listMessageEvents } from '../../../src/outbound/messages/messages.ts';
import { confirmDelivered } from '../../../src/outbound/queue/settling/confirm.ts';
import type { LateOutcome } from '../../../src/outbound/queue/settling/late-outcome.ts';
import { complaint, late, lateBounce } from '../../identity/reputation/fixtures.ts';
import { stores } from '../../support/command.ts';
import { firstDelivery, send } from '../../support/delivery.ts';
import { eachApp } from '../../support/each-app.ts';

const moves: readonly (readonly [LateOutcome, readonly MessageStatus[]])[] = [
  [{ kind: 'delivered' }, ['sent']],
  [lateBounce, ['sent', 'delivered', 'read']],
  [complaint, ['sent', 'delivered', 'read']],
];

describe.each(stores)('an attempted delivery, on %s', (store) => {
  const test = eachApp({ store });
  let id: string;
  beforeEach(async () => {
    id = (await send(test.app, test.caller, 'ada@example.com')).id;
  });

  /** Puts the delivery into this status. */
  const put = (status: MessageStatus, sentAt: number | null = test.clock.now()) =>
    test.app.store.write((trx) =>
      sql`update deliveries set status = ${status}, sent_at = ${sentAt}, due_at = null, turn = null
        where message_id = ${id}`.execute(trx),
    );

  const statusOf = async () => (await firstDelivery(test.app, test.caller, id)).status;

  it('is moved by a report from the allowed statuses alone', async () => {
    for (const [outcome, froms] of moves) {
      for (const from of messageStatuses) {
        await put(from);
        const isMoved = froms.includes(from);
        const name = `${outcome.kind} after ${from}`;
        expect([name, await late(test.app, id, outcome)]).toEqual([name, isMoved]);
        expect([name, await statusOf()]).toEqual([name, isMoved ? outcome.kind : from]);
      }
    }
  });

  it('counts as delivered without a bounce in time, and its event says that this is assumed', async () => {
    const { app, caller, clock } = test;
    await put('sent');
    const waitMs = app.config.delivery.relay.assumeDeliveredAfterMinutes * 60_000;
    await clock.advance(waitMs - 1);
    await confirmDelivered(app);
    expect(await statusOf()).toBe('sent');
    await clock.advance(1);
    await confirmDelivered(app);
    expect(await statusOf()).toBe('delivered');
    const events = await listMessageEvents(app, caller, id);
    expect(events.at(-1)).toMatchObject({ eventType: 'delivered', metadata: { assumed: true } });
  });
});
