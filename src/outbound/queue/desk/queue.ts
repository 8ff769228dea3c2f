// The queue for an operator: list, show, retry, flush, drop. Works on the store, with or without a
// running daemon, and never on a delivery that a daemon attempts at that moment. holds.ts has
// holds.

import { operatorIn } from '../../../access/organizations/organizations.ts';
import { type Page, toPage } from '../../../core/api/pagination.ts';
import type { App } from '../../../core/app.ts';
import { byOperator, record } from '../../../history/events/record.ts';
import { ConflictError, ResourceNotFoundError } from '../../../platform/errors.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import { type Db, fromJson } from '../../../platform/store/db.ts';
import { type Holds, readHolds } from '../../deliveries/holds-in-force.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import {
  countQueue,
  countStates,
  findNamedDeliveries,
  type QueueCounts,
  type QueueFilter,
  type QueueHalf,
  type QueueState,
  selectQueue,
} from '../../deliveries/queue-queries.ts';
import type { Attempt } from '../../messages/schema.ts';
import { holdOfStop } from '../claiming/stops.ts';
import { endDeliveries, lockWhole, underWay } from '../schedule/cancel.ts';
import { heldStops } from './holds.ts';
import type { ListQueueQuery, QueueEntry, QueueSelection } from './queue-schema.ts';
import { changeQueue, giveTurnsNow, type OnProgress, recordByHand } from './queue-walk.ts';

/** Most entries that are counted by state: on PostgreSQL, counting a million takes a second. */
const mostCounted = 1_000_000;

/** The `errorMessage` of dropped deliveries. */
export const droppedWords = 'Dropped from the queue by the operator before it was sent';

export function stateOf(row: DeliveryRow): QueueEntry['state'] {
  if (row.due_at === null) return 'ended';
  if (row.turn !== null) return 'ready';
  if (row.claimed_by !== null) return 'claimed';
  if (row.lane === null) return 'waiting';
  return holdOfStop(row.lane) === null ? 'in-lane' : 'held';
}

function toEntry(row: DeliveryRow): QueueEntry {
  const holdId = holdOfStop(row.lane);
  return {
    id: row.id,
    messageId: row.message_id,
    organizationId: row.organization_id,
    recipient: row.email,
    domain: row.domain,
    senderDomain: row.sender_domain,
    status: row.status,
    state: stateOf(row),
    lane: holdId === null ? row.lane : null,
    holdId,
    waitReason: row.wait_reason,
    dueAt: isoTime(row.claimed_by === null ? row.due_at : row.claimed_at),
    expiresAt: isoTime(row.expires_at),
    queuedAt: isoTime(row.queued_at),
    claimedBy: row.claimed_by,
    lastAttemptAt: isoTime(row.last_attempt_at),
    attemptCount: row.attempt_count,
    maxAttempts: row.max_attempts,
    errorCode: row.error_code,
    lastWords: row.error_message,
    createdAt: isoTime(row.created_at),
  };
}

/**
 * Counts the entries of all organizations by state, each up to `most`. A million in all take 0.2 s
 * on SQLite.
 */
export async function countQueueStates(app: App, most = mostCounted): Promise<QueueCounts> {
  const { db } = app.store;
  return countStates(db, await heldStops(db), most);
}

/** Lists a page of the queue, next to be sent first. `counts` cover the whole queue. */
export async function listQueue(
  app: App,
  query: ListQueueQuery,
): Promise<Page<QueueEntry> & { counts: QueueCounts }> {
  const { page, limit, state = null, ...filter } = query;
  const { db } = app.store;
  const lanes = await heldStops(db);
  const rows: DeliveryRow[] = [];
  let offset = (page - 1) * limit;
  let total = 0;
  for (const half of halvesOf(state)) {
    const part = { half, state, heldStops: lanes };
    const count = await countQueue(db, part, filter);
    total += count;
    const wanted = limit - rows.length;
    if (wanted > 0 && offset < count) {
      rows.push(...(await selectQueue(db, part, filter, { limit: wanted, offset })));
    }
    offset = Math.max(0, offset - count);
  }
  const listed = toPage(rows.map(toEntry), total, { page, limit });
  return { ...listed, counts: await countQueueStates(app) };
}

function halvesOf(state: QueueState | null): QueueHalf[] {
  if (state === null) return ['ready', 'due'];
  return state === 'ready' ? ['ready'] : ['due'];
}

/**
 * Finds the delivery with this id, or the deliveries of the message with this id, within the
 * organization.
 */
async function getNamed(db: Db, id: string, organizationId?: string): Promise<DeliveryRow[]> {
  const rows = await findNamedDeliveries(db, id);
  const [first] = rows;
  if (!first || (organizationId !== undefined && first.organization_id !== organizationId)) {
    throw new ResourceNotFoundError(id.startsWith('msg_') ? 'message' : 'delivery', id);
  }
  return rows;
}

export type QueueEntryWithAttempts = QueueEntry & { attempts: Attempt[] };

/**
 * Returns the entries of a delivery or message id, including ended deliveries.
 * @throws ResourceNotFoundError, also for a message without deliveries.
 */
export async function showQueueEntries(
  app: App,
  id: string,
  organizationId?: string,
): Promise<QueueEntryWithAttempts[]> {
  const rows = await getNamed(app.store.db, id, organizationId);
  return rows.map((row) => ({
    ...toEntry(row),
    attempts: fromJson<Attempt[]>(row.attempts) ?? [],
  }));
}

/**
 * Makes the waiting deliveries of these ids ready now: all of them or none. Ready and claimed
 * deliveries stay as they are. @throws ResourceNotFoundError; ConflictError for deliveries that
 * have ended, are held, or are scheduled for later.
 */
export async function retryDeliveries(
  app: App,
  ids: readonly string[],
  organizationId?: string,
): Promise<QueueEntry[]> {
  return app.store.write(async (trx) => {
    const holds = await readHolds(trx);
    const waiting = new Map<string, DeliveryRow>();
    for (const id of ids) {
      const rows = await getNamed(trx, id, organizationId);
      for (const row of retryable(id, rows, holds, app.clock.now())) waiting.set(row.id, row);
    }
    const sorted = [...waiting.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    const given = await giveTurnsNow(app, trx, sorted);
    await recordByHand(app, trx, given, 'queued', { by: 'operator', action: 'retry' });
    await recordByOperator(app, trx, given, 'queue.retried');
    const after: DeliveryRow[] = [];
    for (const { id } of sorted) after.push(...(await findNamedDeliveries(trx, id)));
    return after.map(toEntry);
  });
}

/**
 * Returns the queued deliveries of an id.
 * @throws ConflictError if all have ended, or if a delivery is held or scheduled for later.
 */
function retryable(
  id: string,
  rows: readonly DeliveryRow[],
  holds: Holds,
  now: number,
): DeliveryRow[] {
  const live = rows.filter((row) => row.due_at !== null);
  const [ended] = rows;
  if (live.length === 0 && ended) {
    const advice = 'A delivery that has ended is not attempted again: send a new message';
    throw new ConflictError('delivery', `${id} is ${ended.status}. ${advice}`);
  }
  for (const row of live) {
    const holdId = holdOfStop(row.lane) ?? holds.of(row)?.id;
    if (holdId !== undefined) {
      const advice = `svc queue release ${holdId}`;
      throw new ConflictError('delivery', `${row.id} is held by ${holdId}: ${advice}`);
    }
    if (row.status === 'scheduled' && (row.due_at ?? 0) > now) {
      const why =
        row.wait_reason === null ? 'is scheduled for' : `waits (${row.wait_reason}) until`;
      throw new ConflictError('delivery', `${row.id} ${why} ${isoTime(row.due_at)}`);
    }
  }
  return live;
}

/** Records an audit entry for each delivery, in the organization of the delivery. */
export async function recordByOperator(
  app: App,
  trx: Db,
  rows: readonly DeliveryRow[],
  action: 'queue.retried' | 'queue.dropped',
): Promise<void> {
  for (const { id, organization_id, message_id } of rows) {
    const details = { messageId: message_id };
    await record(app, trx, byOperator(organization_id), { subject: id, action, details });
  }
}

/**
 * Makes all waiting deliveries ready now, at fair turns. Leaves out held deliveries and deliveries
 * scheduled for later.
 * @returns how many became ready.
 */
export async function flushQueue(
  app: App,
  scope: QueueSelection,
  onProgress?: OnProgress,
): Promise<{ flushed: number }> {
  const filter: QueueFilter = scope;
  const exceptStops = await heldStops(app.store.db);
  // Records the action before the change takes several transactions: after an interruption the
  // audit must show the actor.
  await app.store.write(async (trx) => {
    const by = await operatorIn(trx, scope.organizationId ?? null);
    const { domain, queuedBefore } = scope;
    const details = { domain, queuedBefore: isoTime(queuedBefore ?? null) ?? undefined };
    await record(app, trx, by, { subject: null, action: 'queue.flushed', details });
  });
  const flushed = await changeQueue(
    app,
    { half: 'due', filter, exceptStops, withScheduled: false },
    async (trx, rows) => (await giveTurnsNow(app, trx, rows)).length,
    onProgress,
  );
  return { flushed };
}

/**
 * Drops deliveries from the queue for good: they end as `failed`, `errorCode` `cancelled`. For each
 * id, drops all deliveries or none; deliveries dropped before stay as they are.
 * @throws ResourceNotFoundError; ConflictError for deliveries that are under way or have ended
 * otherwise.
 */
export async function dropDeliveries(
  app: App,
  ids: readonly string[],
  organizationId?: string,
): Promise<QueueEntry[]> {
  for (const id of ids) droppable(id, await getNamed(app.store.db, id, organizationId));
  const entries = new Map<string, QueueEntry>();
  // A message in each transaction: on PostgreSQL, two orders of messages could deadlock.
  for (const id of ids) {
    const dropped = await app.store.write((trx) => drop(app, trx, id, organizationId));
    for (const entry of dropped) entries.set(entry.id, entry);
  }
  return [...entries.values()];
}

async function drop(app: App, trx: Db, id: string, organizationId?: string): Promise<QueueEntry[]> {
  const [known] = await getNamed(trx, id, organizationId);
  if (known) await lockWhole(trx, known.message_id);
  const rows = droppable(id, await getNamed(trx, id, organizationId));
  const waiting = rows.filter(({ due_at }) => due_at !== null);
  const byHand = { by: 'operator', action: 'drop' } as const;
  await endDeliveries(app, trx, waiting, { words: droppedWords, byHand });
  await recordByOperator(app, trx, waiting, 'queue.dropped');
  const dropIds = new Set(rows.map((row) => row.id));
  return (await findNamedDeliveries(trx, id)).filter((row) => dropIds.has(row.id)).map(toEntry);
}

/**
 * Returns the deliveries of an id that are queued or were cancelled before.
 * @throws ConflictError if a delivery is in an attempt, or if all ended without a cancellation.
 */
function droppable(id: string, rows: readonly DeliveryRow[]): DeliveryRow[] {
  const claimed = rows.find((row) => row.claimed_by !== null);
  if (claimed) throw underWay(claimed.id, 'delivery');
  const meant = rows.filter((row) => row.due_at !== null || row.error_code === 'cancelled');
  const [ended] = rows;
  if (meant.length === 0 && ended) {
    throw new ConflictError('delivery', `${id} is ${ended.status}: it is no longer in the queue`);
  }
  return meant;
}
