// Scheduled messages when their time comes (specification 8.1, 8.2): each draws one on the bucket of
// its organization and its emails on the quota of that day, as one message; what is refused waits.
//
// | state     | by                                           | then                                   |
// |-----------|----------------------------------------------|----------------------------------------|
// | scheduled | its time, found by a claim                   | booked for `askingMs`, and asked        |
// | asked     | a pause, or a held domain                    | waits in the lane of that (stops.ts)   |
// | asked     | no token                                     | waits for the next that is not booked   |
// | asked     | a check that is asked again (send-checks.ts) | ends: cancelled, with the reason        |
// | asked     | no room in the daily quota                   | waits in a lane of its own until it has |
// | asked     | a token and room: one transaction with both  | queued, as any other                    |
//
// The draw is outside of any transaction, as daemons share their buckets through the store: a crash
// between the two costs a token, never a message.

import { admissionOf } from '../admission/admission.ts';
import { limitsOf } from '../admission/plans.ts';
import { findSpent, openAllowances } from '../admission/quota.ts';
import type { App } from '../app.ts';
import { findBlockedOf, sendKey } from '../blocks/suppression.ts';
import { firstTurn } from '../deliveries/claim-queries.ts';
import type { DeliveryRow } from '../deliveries/queries.ts';
import {
  askScheduledNow,
  lockScheduled,
  type PutOff,
  putOffScheduled,
} from '../deliveries/scheduled-queries.ts';
import { findMessageRows, lockMessages, type MessageRow } from '../messages/queries.ts';
import { findOrganizations } from '../organizations/queries.ts';
import { perApp } from '../runtime/per-app.ts';
import type { Db } from '../store/db.ts';
import { countInWindows } from '../warming/count.ts';
import { Departures } from './departures.ts';
import { changeQueue } from './desk/queue-walk.ts';
import { countDropped } from './outcome-counts.ts';
import { type DueSend, openDueChecks } from './send-checks.ts';
import { readPauses, stopOfQuota } from './stops.ts';

/** So long another daemon leaves alone what this one asks for; after a crash it delays by as much. */
const askingMs = 10_000;

/**
 * Inside the claim that found them due: puts off those that certainly cannot go, and books the
 * others for this daemon. Returns the others; `sendScheduled` asks for them.
 */
export async function takeScheduled(
  app: App,
  trx: Db,
  due: readonly DeliveryRow[],
  now: number,
): Promise<DeliveryRow[]> {
  if (due.length === 0) return [];
  const pauses = await readPauses(trx);
  const spent = await findSpent(
    app,
    trx,
    due.map((row) => row.organization_id),
  );
  const taken: DeliveryRow[] = [];
  for (const row of due) {
    const wait = pauses.on(row, now) ?? waitForQuota(row, spent.get(row.organization_id));
    await putOffScheduled(
      trx,
      wait ?? { id: row.id, lane: null, dueAt: now + askingMs, waitReason: row.wait_reason },
    );
    if (!wait) taken.push(row);
  }
  return taken;
}

function waitForQuota(
  { id, organization_id }: Pick<DeliveryRow, 'id' | 'organization_id'>,
  clearsAt: number | undefined,
): PutOff | null {
  if (clearsAt === undefined) return null;
  return { id, lane: stopOfQuota(organization_id), dueAt: clearsAt, waitReason: 'daily-quota' };
}

/** What one message that was asked for may do. */
interface Asked {
  messageId: string;
  organizationId: string;
  /** Milliseconds until there may be a token; 0: it was drawn. */
  waitMs: number;
}

/** Draws for what was taken, and lets it go or wait on. @throws CapacityError: it is asked again. */
export async function sendScheduled(app: App, taken: readonly DeliveryRow[]): Promise<void> {
  const owners = new Map(taken.map((row) => [row.message_id, row.organization_id]));
  const byOrganization = Map.groupBy([...owners], ([, organizationId]) => organizationId);
  const asked = await Promise.all(
    [...byOrganization].map(([organizationId, entries]) =>
      ask(
        app,
        organizationId,
        entries.map(([messageId]) => messageId),
      ),
    ),
  );
  const now = app.clock.now();
  const bookings = await app.store.write((trx) => decide(app, trx, asked.flat(), now), 'soon');
  bookings.keep();
}

/** In few draws, as each may be a transaction; who comes first of the messages goes first. */
async function ask(
  app: App,
  organizationId: string,
  messageIds: readonly string[],
): Promise<Asked[]> {
  const admission = admissionOf(app);
  const drawer = { organizationId, keyId: null };
  let drawn = 0;
  let waitMs = 0;
  while (waitMs === 0 && drawn < messageIds.length) {
    // What the bucket seems to hold; after the first draw that is known, and never beyond its size.
    const seen = drawn === 0 ? 1 : (admission.stateOf(drawer)?.remaining ?? 1);
    const wanted = Math.max(1, Math.min(seen, messageIds.length - drawn));
    const isDrawn = wanted > 1 && (await admission.tryDraw(drawer, wanted)) === 0;
    if (!isDrawn) waitMs = await admission.tryDraw(drawer, 1);
    if (waitMs === 0) drawn += isDrawn ? wanted : 1;
  }
  return messageIds.map((messageId, index) => ({
    messageId,
    organizationId,
    waitMs: index < drawn ? 0 : waitMs,
  }));
}

/** A message whose time has come, with what is scheduled of it. */
interface DueMessage {
  message: MessageRow;
  rows: readonly DeliveryRow[];
  send: DueSend;
}

/** Kept from others until the transaction ends; without what has left the schedule meanwhile. */
async function lockDue(trx: Db, messageIds: readonly string[]): Promise<Map<string, DueMessage>> {
  const found = await lockScheduled(trx, messageIds);
  const rowsOf = Map.groupBy(found, (row) => row.message_id);
  const ids = [...rowsOf.keys()];
  await lockMessages(trx, ids);
  const messages = await findMessageRows(trx, ids);
  return new Map(
    messages.map((message) => {
      const rows = rowsOf.get(message.id) ?? [];
      return [message.id, { message, rows, send: toCheck(message, rows) }];
    }),
  );
}

/** All deliveries of a message are of one group, or of none. */
function groupOf([first]: readonly DeliveryRow[]): string | null {
  return first?.unsubscribe_group_id ?? null;
}

function toCheck(message: MessageRow, rows: readonly DeliveryRow[]): DueSend {
  return {
    organizationId: message.organization_id,
    keyId: message.scheduling_key_id,
    isTest: message.is_test === 1,
    constraints: null,
    from: { email: message.from_email },
    addresses: rows.map(({ email }) => email),
    unsubscribeGroupId: groupOf(rows),
    sender: null,
  };
}

async function decide(app: App, trx: Db, asked: readonly Asked[], now: number): Promise<Bookings> {
  const organizationIds = new Set(asked.map(({ organizationId }) => organizationId));
  // First of all: where a quota holds, this is what other transactions wait for.
  const allowances = await openAllowances(app, trx, organizationIds);
  const pauses = await readPauses(trx);
  const due = await lockDue(
    trx,
    asked.map(({ messageId }) => messageId),
  );
  const sends = [...due.values()].map(({ send }) => send);
  const refusalOf = await openDueChecks(app, trx, allowances, sends);
  const blocked = await findBlockedOf(trx, sends);
  const bookings = await openBookings(app, trx, organizationIds, now);
  const departures = new Departures(app, trx, now, await firstTurn(trx));
  const counted: MessageRow[] = [];
  for (const { messageId, organizationId, waitMs } of asked) {
    const { message, rows = [], send } = due.get(messageId) ?? {};
    // Cancelled, deleted, or sent by another daemon meanwhile.
    if (!message || !send) continue;
    const refusal = refusalOf(send);
    const [first] = rows;
    if (first && pauses.on(first, now)) {
      await putOff(trx, rows, (row) => pauses.on(row, now));
    } else if (waitMs > 0) {
      const dueAt = bookings.next(organizationId, waitMs);
      await putOff(trx, rows, ({ id }) => ({ id, lane: null, dueAt, waitReason: 'rate' }));
    } else if (refusal) {
      await departures.cancel(message, rows, refusal);
    } else if (allowances.take(organizationId, message.delivery_count)) {
      const clearsAt = allowances.clearsAt(organizationId);
      await putOff(trx, rows, (row) => waitForQuota(row, clearsAt));
    } else {
      counted.push(message);
      await departures.send(
        message,
        rows,
        blocked.get(sendKey(organizationId, groupOf(rows))) ?? new Map(),
      );
    }
  }
  await departures.tell();
  // Last: the counters are what other transactions wait for.
  await allowances.count(
    trx,
    counted.map(({ organization_id, delivery_count }) => ({
      organizationId: organization_id,
      emails: delivery_count,
    })),
  );
  await countDropped(app, trx, departures.ended);
  await countInWindows(app, trx, counted);
  return bookings;
}

/** Puts off all that is scheduled of a message. */
async function putOff(
  trx: Db,
  rows: readonly DeliveryRow[],
  waitOf: (row: DeliveryRow) => PutOff | null,
): Promise<void> {
  for (const row of rows) {
    const wait = waitOf(row);
    if (wait) await putOffScheduled(trx, wait);
  }
}

/** The times at which those that found no token ask again: each the time of a token of its own. */
interface Bookings {
  next(organizationId: string, waitMs: number): number;
  /** What was booked is committed: the next transaction books behind it. */
  keep(): void;
}

/** The last time booked, by organization; what a restart forgets is booked twice, and asks twice. */
const bookedOf = perApp((_app: App) => ({ last: new Map<string, number>() }));

async function openBookings(
  app: App,
  trx: Db,
  organizationIds: Iterable<string>,
  now: number,
): Promise<Bookings> {
  const booked = bookedOf(app);
  const last = new Map(booked.last);
  for (const [id, at] of last) if (at <= now) last.delete(id);
  const organizations = await findOrganizations(trx, [...organizationIds]);
  const intervals = new Map(
    organizations.map(({ id, plan }) => {
      const { ratePerSecond } = limitsOf(app.config, plan);
      return [id, ratePerSecond === null ? 0 : 1_000 / ratePerSecond];
    }),
  );
  return {
    next(organizationId, waitMs) {
      const interval = intervals.get(organizationId) ?? 0;
      const at = Math.max((last.get(organizationId) ?? 0) + interval, now + waitMs);
      last.set(organizationId, at);
      return Math.ceil(at);
    },
    keep() {
      booked.last = last;
    },
  };
}

/** The plan was changed: what waits for the quota of the old one is asked again at once. */
export async function askForQuota(app: App, organizationId: string): Promise<void> {
  const filter = { lane: stopOfQuota(organizationId) };
  await changeQueue(app, { half: 'due', filter }, async (trx, rows) => {
    for (const { id } of rows) await askScheduledNow(trx, id, app.clock.now());
    return rows.length;
  });
}
