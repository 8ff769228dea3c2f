// Builds the receipt of a message: events, attempts and envelope, with the proof that they are
// in the sealed log of the organization. verify.ts checks a receipt.
import type { Caller } from '../core/api/route.ts';
import type { App } from '../core/app.ts';
import {
  countLogOfMessage,
  type LogRow,
  selectLogOfMessage,
} from '../history/events/log-queries.ts';
import { typeOfStep } from '../history/events/names.ts';
import { type DeliveryRow, findDeliveries } from '../outbound/deliveries/queries.ts';
import { getMessageRow } from '../outbound/messages/messages.ts';
import type { Attempt } from '../outbound/messages/schema.ts';
import { ConflictError, ResourceNotFoundError } from '../platform/errors.ts';
import { isoTime } from '../platform/runtime/clock.ts';
import { fromJson } from '../platform/store/db.ts';
import { signSummary } from './head.ts';
import { findPublicKey, getSigningKey } from './keys.ts';
import { proveEvents } from './prove.ts';
import {
  mostEvents,
  type Receipt,
  type ReceiptAttempt,
  type ReceiptEvent,
  receiptVersion,
} from './schema.ts';
import { sealLog } from './seal.ts';
import { commonOf } from './verify.ts';

function eventOf(row: LogRow): ReceiptEvent {
  return {
    id: row.id,
    type: typeOfStep(row.event_type),
    recipientId: row.recipient_id,
    status: row.status,
    timestamp: isoTime(row.timestamp),
    facts: fromJson<Record<string, unknown>>(row.facts),
  };
}

function attemptsOf({ id, email, attempts }: DeliveryRow): ReceiptAttempt[] {
  return (fromJson<Attempt[]>(attempts) ?? []).map(({ releasedAs: _, ...attempt }) => {
    return { deliveryId: id, recipient: email, attempt };
  });
}

const mostSeals = 10;

/**
 * Returns the first 1,000 events of a message, the number of all events, the deliveries, and a tree
 * in which all events of the message are sealed.
 * @throws ConflictError if new events come faster than seals
 */
async function sealedLog(app: App, organizationId: string, id: string) {
  const { db } = app.store;
  const countNow = async () => Number((await countLogOfMessage(db, id))?.count ?? 0);
  for (let seals = 0; seals < mostSeals; seals += 1) {
    const count = await countNow();
    const rows = await selectLogOfMessage(db, id, mostEvents);
    const tree = await sealLog(app, organizationId);
    if (!tree) throw new ResourceNotFoundError('message', id);
    const deliveries = await findDeliveries(db, [id]);
    // Tries again if an event was recorded meanwhile: the seal or the attempts may then be newer
    // than the rows.
    if ((await countNow()) === count) return { rows, count, tree, deliveries };
  }
  throw new ConflictError('message', 'Events of the message come too fast: ask again');
}

/**
 * Returns the receipt of a message. Seals the events first.
 * @throws ResourceNotFoundError; ConflictError if an event was changed since the seal, or if events
 * come faster than seals.
 */
export async function buildReceipt(app: App, caller: Caller, id: string): Promise<Receipt> {
  const { db } = app.store;
  const { organizationId } = caller;
  await getMessageRow(db, organizationId, id);
  const { rows, count, tree, deliveries } = await sealedLog(app, organizationId, id);
  const proofs = await proveEvents(app, tree, rows);
  const path = proofs.flatMap((proof) => proof ?? []);
  const changed = rows.find((_, index) => proofs[index] === null);
  if (changed) {
    const text = `Event ${changed.id} is not the one that was sealed: run "svc events verify"`;
    throw new ConflictError('message', text);
  }
  const attempts = deliveries.flatMap(attemptsOf);
  const taken = attempts.flatMap(({ attempt }) => (attempt.digest === undefined ? [] : attempt));
  const recipients = [...new Set(attempts.map(({ recipient }) => recipient))];
  const counts = { events: count, recipients: recipients.length };
  const key = await getSigningKey(app, tree.key_id);
  return {
    version: receiptVersion,
    message: { id, organizationId, digest: commonOf(taken.map(({ digest = '' }) => digest)) },
    envelope: {
      returnPath: commonOf(taken.map(({ returnPath = '' }) => returnPath)),
      recipients,
    },
    attempts,
    events: rows.map(eventOf),
    path,
    summary: { ...counts, at: isoTime(tree.sealed_at) },
    summarySignature: signSummary({ messageId: id, ...counts }, tree, key),
    head: {
      size: tree.size,
      root: tree.root,
      at: isoTime(tree.sealed_at),
      signature: tree.signature,
      keyId: tree.key_id,
      publicKey: await findPublicKey(app, tree.key_id),
    },
  };
}
