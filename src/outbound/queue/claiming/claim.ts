// Claims deliveries in a short transaction: gives turns to due deliveries, then checks each
// candidate in the order of turns against the lane and the organization's share, and leases or
// postpones it. A claim also reads the messages for the attempts: this is cheap on SQLite, as the
// pages of recent messages are still in the writer's cache.
import type { App } from '../../../core/app.ts';
import { recordTimeline } from '../../../history/events/record.ts';
import { type Deferral, openDeferral } from '../../../identity/warming/deferral.ts';
import type { RouteSender } from '../../../mail/smtp/route.ts';
import { serviceOrganizationId } from '../../../platform/runtime/ids.ts';
import { leaseDelayMs } from '../../../platform/store/changes/lease.ts';
import type { Db } from '../../../platform/store/db.ts';
import {
  claimDeliveries,
  findDue,
  findInLane,
  findReady,
  firstTurn,
  makeReady,
  postpone,
  renewLeases,
} from '../../deliveries/claim-queries.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import { type ContentRow, findSmallContents } from '../../messages/contents/content-queries.ts';
import { findMessageValues } from '../../messages/contents/merge-queries.ts';
import {
  findFromAddresses,
  findMessageRows,
  findRecipients,
  lockMessages,
  type MessageRow,
  markProcessing,
  type RecipientRow,
} from '../../messages/queries.ts';
import type { Cuts } from '../../tracking/links.ts';
import { cutsOf } from '../../tracking/merged-links.ts';
import type { Lanes } from '../lanes/lanes.ts';
import type { Shares } from '../lanes/shares.ts';
import { takeScheduled } from '../schedule/scheduled.ts';
import { countDropped } from '../settling/outcome-counts.ts';
import { isLateService } from '../settling/retry.ts';
import { turnsOf } from './delivery-turns.ts';
import { endUnsent, lateWords } from './end-unsent.ts';
import { deferredByWarming, readStops, type Stops, stopOfShare } from './stops.ts';
import { suppressBlocked } from './suppress.ts';

/**
 * Fewest ready deliveries that a claim checks, even when waiting deliveries fill it. A late
 * delivery with an early turn can then reserve a place in the lane ahead of the backlog.
 */
const fewestReady = 8;

/** Largest content that a claim of 100 messages reads. The attempt itself reads larger contents. */
const mostContentBytes = 100_000;

/** A message, with the deliveries that a claim took. */
export interface ClaimedMessage {
  message: MessageRow;
  /** Null for mail sent as raw MIME, and for a large content until the attempt reads it. */
  content: ContentRow | null;
  /** Positions of the links in the content of a tracked message. */
  cuts?: Cuts | null;
  /** JSON of the values that fill the content, for a message of a campaign run. */
  values?: string | undefined;
  recipients: RecipientRow[];
  deliveries: DeliveryRow[];
}

export interface ClaimOptions {
  worker: string;
  leaseMs: number;
  limit: number;
  /** Deliveries in an attempt of this worker. Their leases expire only if the clock was set. */
  inWork?: ReadonlySet<string>;
}

/** Lanes and shares for claims and attempts. A route without limits has no lane. */
export interface LaneChoice {
  lanes: Lanes;
  shares: Shares;
  laneOf(email: string, sender: RouteSender): string | null;
  /** Whether lanes depend on the address of From, and not only on the domain. */
  needsAddress?: boolean;
  /**
   * The lane that all mail uses, if there is a single lane. A claim then takes at most as many
   * deliveries as the lane has free places, and postpones nothing.
   */
  soleLane: { quickRoom(): number } | null;
}

export interface Claimed {
  messages: ClaimedMessage[];
  /** Scheduled deliveries that are due, for `sendScheduled`. */
  scheduled: DeliveryRow[];
  /** Whether the claim changed anything. If so, a further claim may find more at once. */
  progressed: boolean;
}

/** Claims up to `limit` deliveries that may be attempted now, grouped by message. */
export async function claimMessages(
  app: App,
  choice: LaneChoice,
  options: ClaimOptions,
): Promise<Claimed> {
  const begunIds: string[] = [];
  const withdraw = () => {
    for (const id of begunIds.splice(0)) handBack(choice, id);
  };
  const { lanes, shares } = choice;
  const roomy = { lanes: lanes.withRoom(), shares: shares.withRoom() };
  const claimIn = (trx: Db) => {
    // Undoes the reservations of an earlier run of this transaction that the store rolled back.
    withdraw();
    return claimInTransaction(app, trx, choice, options, { roomy, begunIds });
  };
  const written = await app.store.write(claimIn, 'soon').catch((error: unknown) => {
    withdraw();
    throw error;
  });
  const { messages, scheduled, moved } = written;
  return { messages, scheduled, progressed: messages.length + moved > 0 };
}

/** Releases the places of a delivery after an ended attempt or an undone claim. */
export function handBack({ lanes, shares }: LaneChoice, deliveryId: string): void {
  lanes.released(deliveryId);
  shares.released(deliveryId);
}

async function claimInTransaction(
  app: App,
  trx: Db,
  choice: LaneChoice,
  options: ClaimOptions,
  { roomy, begunIds }: { roomy: Roomy; begunIds: string[] },
): Promise<{ messages: ClaimedMessage[]; scheduled: DeliveryRow[]; moved: number }> {
  const { worker, leaseMs, limit } = options;
  const now = app.clock.now();
  const waiting = await takeWaiting(trx, choice, roomy, limit);
  const taken = new Set(waiting.map((row) => row.id));
  const due = await giveTurns(app, trx, now, options, taken);
  const room = limit - waiting.length;
  const ready = await findReady(trx, waiting.length > 0 ? Math.max(fewestReady, room) : room);
  turnsOf(app).served(ready.at(-1)?.turn ?? 0);
  const claimed: DeliveryRow[] = [];
  let postponed = 0;
  const candidates = [...waiting, ...ready];
  await lockMessages(
    trx,
    candidates.map((row) => row.message_id),
  );
  const stops = candidates.length === 0 ? null : await readStops(trx, candidates);
  const ended = stops === null ? [] : await endSome(app, trx, stops, candidates);
  const deferral = candidates.length === 0 ? null : await openDeferral(app, trx, candidates);
  const from = choice.needsAddress
    ? await findFromAddresses(
        trx,
        candidates.map((row) => row.message_id),
      )
    : null;
  for (const row of candidates) {
    if (ended.includes(row)) postponed++;
    else if (await goesNow(trx, choice, { stops, deferral, from }, row, now)) {
      deferral?.take(row);
      claimed.push(begun(row, worker, now, now + leaseMs));
      begunIds.push(row.id);
    } else {
      postponed++;
    }
  }
  await deferral?.keep(trx);
  if (claimed.length > 0) {
    const ids = claimed.map((row) => row.id);
    await claimDeliveries(trx, { ids, worker, now, leaseUntil: now + leaseMs });
    await recordProcessing(app, trx, claimed, now);
  }
  // Counts at the end, because the counters block concurrent transactions.
  if (ended.length > 0) await countDropped(app, trx, ended);
  const messages = claimed.length === 0 ? [] : await withContent(trx, claimed);
  return { messages, scheduled: due.scheduled, moved: due.moved + postponed };
}

/**
 * Ends candidates that must not be sent any more, and returns them: blocked deliveries, late mail
 * of the service, and deliveries of cancelled runs.
 */
async function endSome(
  app: App,
  trx: Db,
  stops: Stops,
  candidates: readonly DeliveryRow[],
): Promise<DeliveryRow[]> {
  const suppressed = await suppressBlocked(app, trx, candidates);
  const left = candidates.filter((row) => !suppressed.includes(row));
  const now = app.clock.now();
  const late = left.filter((row) => isLateService(row, now));
  const ofRuns = left.filter((row) => stops.isCancelled(row));
  return [
    ...suppressed,
    ...(await endUnsent(app, trx, late, lateWords)),
    ...(await endUnsent(app, trx, ofRuns)),
  ];
}

/** Lanes and shares with waiting deliveries and free places when the claim began. */
interface Roomy {
  lanes: ReturnType<Lanes['withRoom']>;
  shares: ReturnType<Shares['withRoom']>;
}

/** Selects waiting deliveries of lanes and shares that have free places again. */
async function takeWaiting(
  trx: Db,
  { lanes, shares }: LaneChoice,
  roomy: Roomy,
  limit: number,
): Promise<DeliveryRow[]> {
  const taken: DeliveryRow[] = [];
  const take = async (
    { lane, room }: { lane: string; room: number },
    onTaken: (isDrained: boolean) => void,
  ) => {
    const wanted = Math.min(room, limit - taken.length);
    if (wanted <= 0) return;
    const waiting = await findInLane(trx, lane, wanted);
    onTaken(waiting.length < wanted);
    taken.push(...waiting);
  };
  // Lanes come first: their mail gets free places before mail that waits for a share.
  for (const one of roomy.lanes) {
    await take(one, (isDrained) => isDrained && lanes.drained(one.lane));
  }
  for (const one of roomy.shares) {
    await take(one, (isDrained) => shares.taken(one.lane, isDrained));
  }
  return taken;
}

/**
 * Gives turns to due retries and expired leases, and reserves due scheduled deliveries for
 * `sendScheduled`. Skips deliveries that this claim already took from a lane: with a turn they
 * would be claimed twice. Renews expired leases of attempts that still run here.
 */
async function giveTurns(
  app: App,
  trx: Db,
  now: number,
  { worker, leaseMs, limit, inWork }: ClaimOptions,
  taken: ReadonlySet<string>,
): Promise<{ moved: number; scheduled: DeliveryRow[] }> {
  const dueTo = now - leaseDelayMs(app, leaseMs);
  const found = (await findDue(trx, dueTo, limit)).filter(({ id }) => !taken.has(id));
  if (found.length === 0) return { moved: 0, scheduled: [] };
  const due = found.filter(({ id, claimed_by }) => claimed_by !== worker || !inWork?.has(id));
  if (due.length < found.length) {
    const ids = found.flatMap(({ id }) => (inWork?.has(id) ? id : []));
    await renewLeases(trx, worker, ids, now + leaseMs);
  }
  const turns = turnsOf(app);
  const first = await firstTurn(trx);
  const scheduled = due.filter(({ status }) => status === 'scheduled');
  for (const row of due) {
    if (row.status === 'scheduled') continue;
    await makeReady(trx, row.id, turns.next(row, first));
  }
  return { moved: found.length, scheduled: await takeScheduled(app, trx, scheduled, now) };
}

/** Facts that decide on the candidates of a claim. */
interface Judges {
  stops: Stops | null;
  deferral: Deferral | null;
  /** Addresses of From by message; null if lanes do not depend on them. */
  from: ReadonlyMap<string, string> | null;
}

/**
 * Decides whether a delivery is attempted now, by the stops, the warming of the domain, the lane
 * and the share. If so, reserves the places; if not, postpones the delivery. At the age limit only
 * stops can still prevent the last attempt, and nothing stops mail of the service.
 */
async function goesNow(
  trx: Db,
  { lanes, shares, laneOf }: LaneChoice,
  { stops, deferral, from }: Judges,
  row: DeliveryRow,
  now: number,
): Promise<boolean> {
  const { id, organization_id: organizationId } = row;
  const stop = stops?.on(row, now);
  if (stop) {
    await postpone(trx, stop);
    return false;
  }
  if (now < row.expires_at && deferral?.defers(row)) {
    await postpone(trx, deferredByWarming(row));
    return false;
  }
  // `from` exists only if a route depends on the address. Otherwise the domain is enough.
  const email = from?.get(row.message_id) ?? `@${row.sender_domain}`;
  const lane = laneOf(row.email, { organizationId, email });
  if (lane === null) return true;
  const admitted = lanes.admit(lane, organizationId);
  const admission = admitted.goes ? shares.admit(organizationId, row.sender_domain) : admitted;
  const mustGo = now >= row.expires_at || organizationId === serviceOrganizationId;
  if (admission.goes || mustGo) {
    lanes.begun(lane, id);
    shares.begun(id, organizationId);
    return true;
  }
  const { until, waitReason } = admission;
  const waitsIn = admitted.goes ? stopOfShare(organizationId) : lane;
  // At the age limit a delivery gets a last attempt even while the lane is closed.
  const dueAt = Math.min(until, row.expires_at);
  await postpone(trx, { id, lane: waitsIn, dueAt, waitReason });
  return false;
}

/** Returns the row as `claimDeliveries` has written it. */
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

async function recordProcessing(
  app: App,
  trx: Db,
  claimed: readonly DeliveryRow[],
  now: number,
): Promise<void> {
  const ids = [...new Set(claimed.map((row) => row.message_id))];
  const started = await markProcessing(trx, ids, now);
  await recordTimeline(
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

async function withContent(db: Db, deliveries: DeliveryRow[]): Promise<ClaimedMessage[]> {
  const byMessage = Map.groupBy(deliveries, (row) => row.message_id);
  const ids = [...byMessage.keys()];
  const rows = new Map((await findMessageRows(db, ids)).map((row) => [row.id, row]));
  // Restores the order of the claim, which PostgreSQL does not keep.
  const messages = ids.flatMap((id) => rows.get(id) ?? []);
  const recipients = Map.groupBy(await findRecipients(db, ids), (row) => row.message_id);
  const composed = messages.filter((row) => row.raw_blob_id === null);
  const contentIds = [...new Set(composed.flatMap((row) => row.content_id ?? []))];
  const found =
    contentIds.length > 0 ? await findSmallContents(db, contentIds, mostContentBytes) : [];
  const contents = new Map(found.map((row) => [row.id, row]));
  const cuts = await cutsOf(db, messages);
  const ofRuns = messages.flatMap(({ id, campaign_run_id }) => (campaign_run_id ? id : []));
  const values = ofRuns.length > 0 ? await findMessageValues(db, ofRuns) : null;
  return messages.map((message) => ({
    message,
    values: values?.get(message.id),
    content: contents.get(message.content_id ?? '') ?? null,
    cuts: cuts.get(message.content_id ?? '') ?? null,
    recipients: recipients.get(message.id) ?? [],
    deliveries: byMessage.get(message.id) ?? [],
  }));
}
