// Shared by the queue tests: entries in each state, and a claim as a daemon makes it.
import { sql } from 'kysely';
import { operatorOf } from '../../../src/access/keys/roles.ts';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { insertSender } from '../../../src/identity/senders/queries.ts';
import { newSenderRow } from '../../../src/identity/senders/senders.ts';
import { loadProviders } from '../../../src/mail/smtp/load-providers.ts';
import { postpone } from '../../../src/outbound/deliveries/claim-queries.ts';
import { type DeliveryRow, findDeliveries } from '../../../src/outbound/deliveries/queries.ts';
import type { WaitReason } from '../../../src/outbound/deliveries/status.ts';
import { claimMessages } from '../../../src/outbound/queue/claiming/claim.ts';
import type { ListQueueQuery } from '../../../src/outbound/queue/desk/queue-schema.ts';
import { Lanes } from '../../../src/outbound/queue/lanes/lanes.ts';
import { Shares } from '../../../src/outbound/queue/lanes/shares.ts';
import { send } from '../../support/delivery.ts';

/** A query for `listQueue` with its defaults. */
export function query(more: Partial<ListQueueQuery> = {}): ListQueueQuery {
  return { page: 1, limit: 100, ...more };
}

/**
 * Claims up to `limit` as a daemon without limits does; returns the recipients, in the order taken.
 */
export async function claim(app: App, limit = 100, worker = 'wrk_test'): Promise<string[]> {
  const lanes = new Lanes(app.clock, app.random, loadProviders(null, 10));
  const choice = { lanes, shares: new Shares(app.clock), laneOf: () => null, soleLane: null };
  const taken: DeliveryRow[] = [];
  for (;;) {
    const options = { worker, leaseMs: 60_000, limit: limit - taken.length };
    const { messages, progressed } = await claimMessages(app, choice, options);
    taken.push(...messages.flatMap(({ deliveries }) => deliveries));
    if (!progressed || taken.length >= limit) return taken.map(({ email }) => email);
  }
}

/** The first delivery of a message, as a row. */
export async function rowOf(app: App, messageId: string): Promise<DeliveryRow> {
  const [row] = await findDeliveries(app.store.db, [messageId]);
  if (!row) throw new Error(`${messageId} has no delivery`);
  return row;
}

/** Sends one message; returns its delivery. */
export async function queued(app: App, caller: Caller, to: string): Promise<DeliveryRow> {
  return rowOf(app, (await send(app, caller, to)).id);
}

/** Makes a message that waits until `dueAt` for this reason. */
export async function waiting(
  app: App,
  caller: Caller,
  to: string,
  dueAt: number,
  reason: WaitReason = 'retry',
): Promise<DeliveryRow> {
  const { id, message_id } = await queued(app, caller, to);
  await app.store.write((trx) =>
    sql`update deliveries set turn = null, due_at = ${dueAt}, wait_reason = ${reason},
      status = 'processing', attempt_count = 1, error_code = 'mailbox-full',
      error_message = 'RCPT: 452 4.2.2 Mailbox full' where id = ${id}`.execute(trx),
  );
  return rowOf(app, message_id);
}

/** Makes a message that waits for room in a lane. */
export async function inLane(
  app: App,
  caller: Caller,
  to: string,
  dueAt: number,
  lane = 'google',
): Promise<DeliveryRow> {
  const { id, message_id } = await queued(app, caller, to);
  await app.store.write((trx) => postpone(trx, { id, lane, dueAt, waitReason: 'rate' }));
  return rowOf(app, message_id);
}

/** Makes another organization that can send. */
export async function anotherOrganization(app: App, name: string): Promise<Caller> {
  const { id } = await createOrganization(app, { name, plan: 'self-hosted' });
  const row = newSenderRow(app, id, { email: `hi@${name}.test` });
  const verified = { ...row, is_default: 1, verified_at: app.clock.now() };
  await app.store.write((trx) => insertSender(trx, verified));
  return operatorOf(id);
}
