// Claims: a short transaction that gives turns to what became due, asks the lanes for each delivery
// in the order of turns, leases those that go and puts off those that must wait. What the attempts
// need is read afterwards, outside of it.
import type { App } from '../app.ts';
import { recordEvents } from '../events/events.ts';
import {
  claimDeliveries,
  type DeliveryRow,
  findDue,
  findInLane,
  findReady,
  firstTurn,
  makeReady,
  postpone,
} from '../messages/delivery-queries.ts';
import {
  type ContentRow,
  findContents,
  findMessageRows,
  findRecipients,
  type MessageRow,
  markProcessing,
  type RecipientRow,
} from '../messages/queries.ts';
import type { Db } from '../store/db.ts';
import { type Holds, heldBy, readHolds } from './holds.ts';
import type { Lanes } from './lanes.ts';
import { pausedBy, readPaused } from './pauses.ts';
import { turnsOf } from './turns.ts';

/** A message with the deliveries of it that were claimed together. */
export interface ClaimedMessage {
  message: MessageRow;
  content: ContentRow | null;
  recipients: RecipientRow[];
  deliveries: DeliveryRow[];
}

export interface ClaimOptions {
  worker: string;
  leaseMs: number;
  limit: number;
}

/** The lanes as claims and attempts see them: null for routes that have no limits. */
export interface LaneChoice {
  lanes: Lanes;
  laneOf(email: string): string | null;
}

export interface Claimed {
  messages: ClaimedMessage[];
  /** Something was moved, so that there may be more at once. */
  progressed: boolean;
}

/** Takes up to `limit` deliveries that may go now, grouped by message. */
export async function claimMessages(
  app: App,
  choice: LaneChoice,
  options: ClaimOptions,
): Promise<Claimed> {
  const begunIds: string[] = [];
  const claimIn = (trx: Db) => claimInTransaction(app, trx, choice, options, begunIds);
  const { claimed, moved } = await app.store.write(claimIn, 'soon').catch((error: unknown) => {
    for (const id of begunIds) choice.lanes.released(id);
    throw error;
  });
  const messages = claimed.length === 0 ? [] : await withContent(app, claimed);
  return { messages, progressed: claimed.length + moved > 0 };
}

async function claimInTransaction(
  app: App,
  trx: Db,
  choice: LaneChoice,
  { worker, leaseMs, limit }: ClaimOptions,
  begunIds: string[],
): Promise<{ claimed: DeliveryRow[]; moved: number }> {
  const now = app.clock.now();
  const fromLanes = await takeFromLanes(trx, choice.lanes, limit);
  const promoted = await giveTurns(app, trx, now, limit);
  const ready = await findReady(trx, limit - fromLanes.length);
  turnsOf(app).served(ready.at(-1)?.turn ?? 0);
  const claimed: DeliveryRow[] = [];
  let postponed = 0;
  const candidates = [...fromLanes, ...ready];
  const stops = candidates.length === 0 ? null : await readStops(trx);
  for (const row of candidates) {
    if (await goesNow(trx, choice, stops, row, now)) {
      claimed.push(begun(row, worker, now, now + leaseMs));
      begunIds.push(row.id);
    } else {
      postponed++;
    }
  }
  if (claimed.length > 0) {
    const ids = claimed.map((row) => row.id);
    await claimDeliveries(trx, { ids, worker, now, leaseUntil: now + leaseMs });
    await tellProcessing(app, trx, claimed, now);
  }
  return { claimed, moved: promoted + postponed };
}

/** What waits for lanes that have room again, before anything new goes there. */
async function takeFromLanes(trx: Db, lanes: Lanes, limit: number): Promise<DeliveryRow[]> {
  const taken: DeliveryRow[] = [];
  for (const { lane, room } of lanes.withRoom()) {
    const wanted = Math.min(room, limit - taken.length);
    if (wanted <= 0) break;
    const waiting = await findInLane(trx, lane, wanted);
    if (waiting.length < wanted) lanes.drained(lane);
    taken.push(...waiting);
  }
  return taken;
}

/** Retries, and leases that ran out: they queue up behind nobody of another organization. */
async function giveTurns(app: App, trx: Db, now: number, limit: number): Promise<number> {
  const due = await findDue(trx, now, limit);
  if (due.length === 0) return 0;
  const turns = turnsOf(app);
  const first = await firstTurn(trx);
  for (const row of due) {
    await makeReady(trx, row.id, turns.next(row.organization_id, row.sender_domain, first));
  }
  return due.length;
}

/** What keeps deliveries back whatever their lanes say. */
interface Stops {
  holds: Holds;
  paused: ReadonlySet<string>;
}

async function readStops(trx: Db): Promise<Stops> {
  return { holds: await readHolds(trx), paused: await readPaused(trx) };
}

/** Asks the holds, the pauses and the lane; one that is over its age goes past the lane, for its last attempt. */
async function goesNow(
  trx: Db,
  { lanes, laneOf }: LaneChoice,
  stops: Stops | null,
  row: DeliveryRow,
  now: number,
): Promise<boolean> {
  const hold = stops?.holds.of(row);
  if (hold) {
    await postpone(trx, heldBy(hold, row.id, now));
    return false;
  }
  if (stops?.paused.has(row.organization_id)) {
    await postpone(trx, pausedBy(row.organization_id, row.id, now));
    return false;
  }
  const lane = laneOf(row.email);
  if (lane === null) return true;
  const admission = lanes.admit(lane, row.organization_id);
  if (admission.goes || now >= row.expires_at) {
    lanes.begun(lane, row.id);
    return true;
  }
  const { until, waitReason } = admission;
  await postpone(trx, { id: row.id, lane, dueAt: until, waitReason });
  return false;
}

/** The row as `claimDeliveries` leaves it. */
function begun(row: DeliveryRow, worker: string, now: number, leaseUntil: number): DeliveryRow {
  return {
    ...row,
    status: 'processing',
    claimed_by: worker,
    claimed_at: now,
    last_attempt_at: now,
    attempt_count: row.attempt_count + 1,
    due_at: leaseUntil,
    turn: null,
    lane: null,
    wait_reason: null,
    updated_at: now,
  };
}

async function tellProcessing(
  app: App,
  trx: Db,
  claimed: readonly DeliveryRow[],
  now: number,
): Promise<void> {
  const ids = [...new Set(claimed.map((row) => row.message_id))];
  const started = await markProcessing(trx, ids, now);
  await recordEvents(
    app,
    trx,
    started.map((row) => ({
      organizationId: row.organization_id,
      messageId: row.id,
      recipientId: null,
      eventType: 'processing',
      status: 'processing',
      timestamp: now,
      metadata: null,
    })),
  );
}

async function withContent(app: App, deliveries: DeliveryRow[]): Promise<ClaimedMessage[]> {
  const { db } = app.store;
  const byMessage = Map.groupBy(deliveries, (row) => row.message_id);
  const ids = [...byMessage.keys()];
  const messages = await findMessageRows(db, ids);
  const recipients = Map.groupBy(await findRecipients(db, ids), (row) => row.message_id);
  const contentIds = [...new Set(messages.flatMap((row) => row.content_id ?? []))];
  const found = contentIds.length > 0 ? await findContents(db, contentIds) : [];
  const contents = new Map(found.map((row) => [row.id, row]));
  // A message that was deleted since is absent: its deliveries went with it.
  return messages.map((message) => ({
    message,
    content: contents.get(message.content_id ?? '') ?? null,
    recipients: recipients.get(message.id) ?? [],
    deliveries: byMessage.get(message.id) ?? [],
  }));
}
