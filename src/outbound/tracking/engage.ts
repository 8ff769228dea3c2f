// Records opens and clicks: rows of `engagements`, status, timeline and counters, in a single
// transaction for all hits that arrive together.
//
//   by a         delivery is                 its row                            also
//   person       sent, delivered             opens, opened_at if it is first    read, also its message
//   person       read, complained            opens, opened_at if it is first
//   person       under way, failed, bounced  opens
//   machine      any                         automated
//
// A click counts the same way, and implies an open if there was none. Each open and click becomes
// an event of the timeline, with two exceptions that only count: a repeat of the same link within
// 30 s of the last event, and all beyond 100 events of a delivery.
import type { App } from '../../core/app.ts';
import { type MessageEvent, recordTimeline } from '../../history/events/record.ts';
import { countMail, type Observation } from '../../identity/reputation/count.ts';
import { type Proof, proveAddresses } from '../../people/contacts/verify.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { countRun } from '../../run-ledger/counters.ts';
import { deliveryEvent } from '../deliveries/delivery-event.ts';
import {
  type DeliveryRow,
  type EngagedDelivery,
  findDeliveryStatuses,
  findEngagedDeliveries,
  readDelivery,
} from '../deliveries/queries.ts';
import { type MessageStatus, overallStatus } from '../deliveries/status.ts';
import { type TraitsOf, traitsOfMessages } from '../messages/lists/traits.ts';
import { findEngagedMessages, type TrackedMessageRow } from '../messages/queries.ts';
import { lockWithMessages, moveMessages } from '../messages/restate.ts';
import type { EngagementKind } from './automated.ts';
import { firstDomain, hasArrived, observeCohort, type Standing } from './cohorts.ts';
import { type EngagementRow, findEngagements, upsertEngagements } from './queries.ts';
import { type FirstEngagement, recordFirstEngagements } from './run-engagement.ts';

/** Time within which a repeated click or open creates no event. */
const reportAgainMs = 30_000;
/** Largest number of engagement events of a delivery. */
const mostEvents = 100;
/**
 * Number of events of a delivery after which programs create no further event, so that scanners do
 * not use up the limit for persons.
 */
const mostBeforeAutomated = 90;
/** Least time that a person needs to read a delivery and click. */
const soonestClickMs = 2_000;

/** A request for a pixel or a link. */
export interface Hit {
  deliveryId: string;
  messageId: string;
  kind: EngagementKind;
  /** Number of the link; 0 is the pixel. */
  link: number;
  /** Target of the link; null for the pixel. */
  url: string | null;
  /** Name of the rule or check that recognized a program; null for a person. */
  automatedBy: string | null;
  userAgent: string | null;
  /** Ms since 1970. */
  at: number;
}

/** A message, with the statuses and engagements after this transaction. */
interface Engaged {
  message: TrackedMessageRow;
  statuses: Map<string, MessageStatus>;
  rows: Map<string, EngagementRow>;
  before: Standing;
  /** Domain of the first recipient. */
  domain: string;
}

/**
 * Records hits that arrived together, inside the caller's transaction. Skips messages deleted
 * meanwhile.
 */
export async function engageAll(app: App, trx: Db, hits: readonly Hit[]): Promise<void> {
  await lockWithMessages(
    trx,
    hits.map(({ deliveryId, messageId }) => ({ id: deliveryId, message_id: messageId })),
  );
  const ids = [...new Set(hits.map(({ deliveryId }) => deliveryId))];
  const deliveries = new Map((await findEngagedDeliveries(trx, ids)).map((row) => [row.id, row]));
  const messages = await engagedOf(trx, [...deliveries.values()]);
  const traitsOf = await traitsOfMessages(
    app,
    trx,
    [...messages.values()].map(({ message }) => message),
  );
  const events: MessageEvent[] = [];
  const changed = new Map<string, EngagementRow>();
  const read = new Map<string, EngagedDelivery>();
  const observations: Observation[] = [];
  const proofs: Proof[] = [];
  const firsts: FirstEngagement[] = [];
  for (const hit of hits) {
    const delivery = deliveries.get(hit.deliveryId);
    const engaged = messages.get(hit.messageId);
    if (!delivery || !engaged) continue;
    const row = rowOf(engaged, delivery.id);
    changed.set(delivery.id, row);
    const by = hit.automatedBy ?? tooSoon(hit, delivery);
    if (by === null && hit.kind === 'click') proofs.push(proofOf(delivery));
    const { opened_at, clicked_at } = row;
    const recorded = engage(hit, by, row, engaged, delivery);
    firsts.push(...firstOf(delivery, { opened_at, clicked_at }, row));
    if (by === null && reads(engaged, delivery)) {
      if (delivery.status === 'sent') {
        observations.push(deliveredBy(delivery, traitsOf));
        if (delivery.campaign_run_id !== null) {
          countRun(trx, delivery.campaign_run_id, { delivered: 1 });
        }
      }
      read.set(delivery.id, delivery);
      engaged.statuses.set(delivery.id, 'read');
    }
    const status = overallStatus([...engaged.statuses.values()]);
    for (const kind of recorded) events.push(eventOf(hit, by, kind, delivery, status));
  }
  await moveRead(app, trx, messages, [...read.values()]);
  await upsertEngagements(trx, [...changed.values()]);
  if (events.length > 0) await recordTimeline(app, trx, events);
  for (const engaged of messages.values()) {
    const { message, domain, before } = engaged;
    const traits = traitsOf(message.id, domain);
    const observed = observeCohort(message, traits, before, standingOf(engaged));
    if (observed) observations.push(observed);
  }
  if (proofs.length > 0) await proveAddresses(app, trx, proofs);
  // Runs after the proofs: a deletion of a contact locks the contact before the ledger rows.
  await recordFirstEngagements(trx, firsts);
  await countMail(app, trx, observations);
}

/**
 * Returns the first open and the first click that a change of a row contains. Empty if there is
 * neither, and for mail outside of campaign runs.
 */
function firstOf(
  delivery: EngagedDelivery,
  before: Pick<EngagementRow, 'opened_at' | 'clicked_at'>,
  after: EngagementRow,
): FirstEngagement[] {
  if (delivery.campaign_run_id === null) return [];
  const openedAt = before.opened_at === null ? after.opened_at : null;
  const clickedAt = before.clicked_at === null ? after.clicked_at : null;
  return openedAt === null && clickedAt === null ? [] : [{ delivery, openedAt, clickedAt }];
}

/** Returns the proof that a click gives: a person reads the mail of the address. */
function proofOf({ organization_id: organizationId, email: address }: EngagedDelivery): Proof {
  return { organizationId, address };
}

async function engagedOf(
  trx: Db,
  deliveries: readonly EngagedDelivery[],
): Promise<Map<string, Engaged>> {
  const ids = [...new Set(deliveries.map((row) => row.message_id))];
  const messages = await findEngagedMessages(trx, ids);
  const engagements = Map.groupBy(await findEngagements(trx, ids), (row) => row.message_id);
  const sharing = messages.flatMap(({ id, delivery_count }) => (delivery_count > 1 ? id : []));
  const siblings = sharing.length > 0 ? await findDeliveryStatuses(trx, sharing) : [];
  const statuses = Map.groupBy([...deliveries, ...siblings], (row) => row.message_id);
  return new Map(
    messages.map((message) => {
      const engaged = {
        message,
        statuses: new Map((statuses.get(message.id) ?? []).map((row) => [row.id, row.status])),
        rows: new Map((engagements.get(message.id) ?? []).map((row) => [row.delivery_id, row])),
      };
      const domain = firstDomain(statuses.get(message.id) ?? []);
      return [message.id, { ...engaged, domain, before: standingOf(engaged) }];
    }),
  );
}

function standingOf({ statuses, rows }: Pick<Engaged, 'statuses' | 'rows'>): Standing {
  const all = [...rows.values()];
  return {
    arrived: [...statuses.values()].some(hasArrived),
    opened: all.some(({ opened_at }) => opened_at !== null),
    clicked: all.some(({ clicked_at }) => clicked_at !== null),
  };
}

function rowOf({ message, rows }: Engaged, deliveryId: string): EngagementRow {
  let row = rows.get(deliveryId);
  if (!row) {
    row = newEngagement(message.id, deliveryId);
    rows.set(deliveryId, row);
  }
  return row;
}

function newEngagement(messageId: string, deliveryId: string): EngagementRow {
  return {
    message_id: messageId,
    delivery_id: deliveryId,
    opened_at: null,
    clicked_at: null,
    opens: 0,
    clicks: 0,
    automated: 0,
    recorded: '{}',
    recorded_count: 0,
  };
}

function tooSoon({ kind, at }: Hit, row: EngagedDelivery): string | null {
  const { delivered_at: deliveredAt, sent_at: sentAt, read_at: readAt } = row;
  // If an open proved the delivery of relayed mail, `delivered_at` is only the time of the open.
  // Then `sent_at` counts.
  const takenAt = (deliveredAt === readAt ? null : deliveredAt) ?? sentAt ?? at;
  return kind === 'click' && at - takenAt < soonestClickMs ? 'too-soon' : null;
}

/** Tells whether an open or click by a person makes the delivery `read`. */
function reads({ statuses }: Engaged, { id }: EngagedDelivery): boolean {
  const status = statuses.get(id);
  return status === 'sent' || status === 'delivered';
}

/** Changes the row and returns the kinds of events to record. */
function engage(
  { kind, link, at }: Hit,
  by: string | null,
  row: EngagementRow,
  { statuses, message }: Engaged,
  { id }: EngagedDelivery,
): EngagementKind[] {
  if (by !== null) {
    row.automated++;
    return counted(row, `a${link}`, at, mostBeforeAutomated) ? [kind] : [];
  }
  const isRecorded = counted(row, `${link}`, at);
  const status = statuses.get(id);
  const counts = status !== undefined && (status === 'sent' || hasArrived(status));
  if (kind === 'open') {
    row.opens++;
    if (counts) row.opened_at ??= at;
    return isRecorded ? ['open'] : [];
  }
  row.clicks++;
  if (counts) row.clicked_at ??= at;
  const recorded: EngagementKind[] = isRecorded ? ['click'] : [];
  if (row.opens > 0) return recorded;
  row.opens++;
  if (counts) row.opened_at ??= at;
  if (message.track_opens === 1 && counted(row, '0', at)) recorded.unshift('open');
  return recorded;
}

/** Counts an event in `row`, and returns whether it was counted and is to be recorded. */
function counted(row: EngagementRow, what: string, at: number, most = mostEvents): boolean {
  if (row.recorded_count >= most) return false;
  const recorded = fromJson<Record<string, number>>(row.recorded);
  const last = recorded[what];
  if (last !== undefined && Math.abs(at - last) < reportAgainMs) return false;
  row.recorded = JSON.stringify({ ...recorded, [what]: at });
  row.recorded_count++;
  return true;
}

function eventOf(
  { link, url, userAgent, at, kind: asked }: Hit,
  by: string | null,
  kind: EngagementKind,
  delivery: EngagedDelivery,
  status: MessageStatus,
): MessageEvent {
  return deliveryEvent(delivery, kind === 'open' ? 'opened' : 'clicked', status, at, {
    automated: by !== null,
    ...(by !== null && { automatedBy: by }),
    ...(kind === 'click' && { link, url }),
    ...(kind !== asked && { implied: true }),
    ...(userAgent !== null && { userAgent }),
  });
}

/** Counts a delivery that a relay accepted and that only the open or click proves. */
function deliveredBy(delivery: EngagedDelivery, traitsOf: TraitsOf): Observation {
  const { organization_id: organizationId, created_at: acceptedAt, domain } = delivery;
  const traits = traitsOf(delivery.message_id, domain);
  return { organizationId, acceptedAt, traits, counts: { delivered: 1 } };
}

async function moveRead(
  app: App,
  trx: Db,
  messages: ReadonlyMap<string, Engaged>,
  read: readonly EngagedDelivery[],
): Promise<void> {
  if (read.length === 0) return;
  const now = app.clock.now();
  for (const { id } of read) await readDelivery(trx, id, now);
  const moved = new Map<string, MessageStatus>();
  for (const { message_id: id } of read) {
    const statuses = messages.get(id)?.statuses.values() ?? [];
    moved.set(id, overallStatus([...statuses]));
  }
  await moveMessages(trx, moved, now);
}

/**
 * Records the open of a simulated recipient. Writes the row and the counters of the run; the caller
 * counts the rest.
 */
export async function engageSimulated(
  trx: Db,
  delivery: Pick<DeliveryRow, 'id' | 'message_id' | 'recipient_id' | 'campaign_run_id'>,
  at: number,
): Promise<void> {
  const row = newEngagement(delivery.message_id, delivery.id);
  await upsertEngagements(trx, [
    { ...row, opens: 1, opened_at: at, recorded: `{"0":${at}}`, recorded_count: 1 },
  ]);
  if (delivery.campaign_run_id === null) return;
  await recordFirstEngagements(trx, [{ delivery, openedAt: at, clickedAt: null }]);
}
