// Scheduled messages when their time comes (specification 8.1, 8.2): each message draws a token
// from the bucket of the organization, and a unit for each email from the quota of that day.
// Refused messages wait. Delayed mail of a mailbox drew both when it was accepted: it passes
// the same checks, but needs no token and no quota.
//
// | state     | event                                        | next                                     |
// |-----------|----------------------------------------------|------------------------------------------|
// | scheduled | a claim finds that the time has come         | reserved for `askingMs`, then asked      |
// | asked     | a pause, a held domain, or a stopped run     | waits in the lane of that stop (stops.ts) |
// | asked     | the campaign run was cancelled               | ends: cancelled                          |
// | asked     | no token                                     | waits for the next unreserved token      |
// | asked     | a check that is asked again (send-checks.ts) | ends: cancelled, with the reason         |
// | asked     | no room in the daily quota                   | waits in a separate lane for room        |
// | asked     | a token and room: one transaction with both  | queued like unscheduled mail             |
//
// Tokens are drawn outside of any transaction, as daemons share their buckets through the store. A
// crash between the draw and the transaction costs a token, never a message.

import { drawTokens } from '../../../access/admission/draw-tokens.ts';
import { limitsOf } from '../../../access/admission/plans.ts';
import { findSpent, openAllowances } from '../../../access/admission/quota.ts';
import { campaignsRight, mailboxRight, messagesRight } from '../../../access/keys/send-checks.ts';
import { findOrganizations } from '../../../access/organizations/queries.ts';
import type { App } from '../../../core/app.ts';
import { countInWindows } from '../../../identity/warming/count.ts';
import { findBlockedOf, sendKey } from '../../../people/blocks/suppression.ts';
import { perApp } from '../../../platform/runtime/per-app.ts';
import type { Db } from '../../../platform/store/db.ts';
import { firstTurn } from '../../deliveries/claim-queries.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import {
  askScheduledNow,
  lockScheduled,
  type PutOff,
  putOffScheduled,
} from '../../deliveries/scheduled-queries.ts';
import { findMessageRows, lockMessages, type MessageRow } from '../../messages/queries.ts';
import { endUnsent } from '../claiming/end-unsent.ts';
import { readPauses, readRunStops, stopOfQuota } from '../claiming/stops.ts';
import { changeQueue } from '../desk/queue-walk.ts';
import { countDropped } from '../settling/outcome-counts.ts';
import { Departures } from './departures.ts';
import { type DueSend, openDueChecks } from './send-checks.ts';

/**
 * Time for which other daemons skip a reserved message. After a crash the message waits this long.
 */
const askingMs = 10_000;

/**
 * Runs inside the claim that found these deliveries due. Postpones deliveries that a pause, a run
 * or the quota stops and reserves the rest for this daemon. Returns the reserved deliveries, for
 * `sendScheduled`.
 */
export async function takeScheduled(
  app: App,
  trx: Db,
  due: readonly DeliveryRow[],
  now: number,
): Promise<DeliveryRow[]> {
  if (due.length === 0) return [];
  const pauses = await readPauses(trx);
  const runs = await readRunStops(trx, due);
  const spent = await findSpent(
    app,
    trx,
    due.map((row) => row.organization_id),
  );
  const held = due.filter((row) => spent.has(row.organization_id));
  const delayed = await app.hooks.mailboxesOfMail(trx, messagesOf(held));
  const quotaWait = (row: DeliveryRow) =>
    delayed.has(row.message_id) ? null : waitForQuota(row, spent.get(row.organization_id));
  const taken: DeliveryRow[] = [];
  for (const row of due) {
    const wait = pauses.on(row, now) ?? runs.on(row, now) ?? quotaWait(row);
    await putOffScheduled(
      trx,
      wait ?? { id: row.id, lane: null, dueAt: now + askingMs, waitReason: row.wait_reason },
    );
    if (!wait) taken.push(row);
  }
  return taken;
}

function messagesOf(rows: readonly DeliveryRow[]): string[] {
  return [...new Set(rows.map((row) => row.message_id))];
}

function waitForQuota(
  { id, organization_id }: Pick<DeliveryRow, 'id' | 'organization_id'>,
  clearsAt: number | undefined,
): PutOff | null {
  if (clearsAt === undefined) return null;
  return { id, lane: stopOfQuota(organization_id), dueAt: clearsAt, waitReason: 'daily-quota' };
}

/** Result of drawing a token for a message. */
interface Asked {
  messageId: string;
  organizationId: string;
  /** Milliseconds until there may be a token; 0 if a token was drawn. */
  waitMs: number;
  /** Mailbox of delayed mail; undefined for scheduled mail. */
  mailboxId?: string;
}

/**
 * Draws tokens for reserved deliveries, then queues, cancels or postpones each message.
 * @throws CapacityError; the deliveries are then tried again.
 */
export async function sendScheduled(app: App, taken: readonly DeliveryRow[]): Promise<void> {
  const owners = new Map(taken.map((row) => [row.message_id, row.organization_id]));
  const mailboxes = await app.hooks.mailboxesOfMail(app.store.db, [...owners.keys()]);
  const delayed = [...mailboxes].map(
    ([messageId, mailboxId]): Asked => ({
      messageId,
      organizationId: owners.get(messageId) ?? '',
      waitMs: 0,
      mailboxId,
    }),
  );
  const drawing = [...owners].filter(([messageId]) => !mailboxes.has(messageId));
  const byOrganization = Map.groupBy(drawing, ([, organizationId]) => organizationId);
  const drawn = await Promise.all(
    [...byOrganization].map(([organizationId, entries]) =>
      ask(
        app,
        organizationId,
        entries.map(([messageId]) => messageId),
      ),
    ),
  );
  const asked = [...delayed, ...drawn.flat()];
  const now = app.clock.now();
  const bookings = await app.store.write((trx) => decide(app, trx, asked, now), 'soon');
  bookings.keep();
}

/** Draws tokens for messages in the order of time: earlier messages get tokens first. */
async function ask(
  app: App,
  organizationId: string,
  messageIds: readonly string[],
): Promise<Asked[]> {
  const drawer = { organizationId, keyId: null };
  const { drawn, waitMs } = await drawTokens(app, drawer, messageIds.length);
  return messageIds.map((messageId, index) => ({
    messageId,
    organizationId,
    waitMs: index < drawn ? 0 : waitMs,
  }));
}

/** A due message with the scheduled deliveries. */
interface DueMessage {
  message: MessageRow;
  rows: readonly DeliveryRow[];
  send: DueSend;
}

/**
 * Locks the due messages until the transaction ends. Leaves out messages that left the schedule
 * meanwhile.
 */
async function lockDue(trx: Db, asked: readonly Asked[]): Promise<Map<string, DueMessage>> {
  const mailboxOf = new Map(asked.map(({ messageId, mailboxId }) => [messageId, mailboxId]));
  const found = await lockScheduled(trx, [...mailboxOf.keys()]);
  const rowsOf = Map.groupBy(found, (row) => row.message_id);
  const ids = [...rowsOf.keys()];
  await lockMessages(trx, ids);
  const messages = await findMessageRows(trx, ids);
  return new Map(
    messages.map((message) => {
      const rows = rowsOf.get(message.id) ?? [];
      const send = toCheck(message, rows, mailboxOf.get(message.id));
      return [message.id, { message, rows, send }];
    }),
  );
}

/** Returns the group of a message: all deliveries have the same group, or none. */
function groupOf([first]: readonly DeliveryRow[]): string | null {
  return first?.unsubscribe_group_id ?? null;
}

function toCheck(
  message: MessageRow,
  rows: readonly DeliveryRow[],
  mailboxId: string | undefined,
): DueSend {
  const ownRight = message.campaign_run_id === null ? messagesRight : campaignsRight;
  return {
    organizationId: message.organization_id,
    keyId: message.scheduling_key_id,
    isTest: message.is_test === 1,
    caller: null,
    right: mailboxId === undefined ? ownRight : mailboxRight(mailboxId),
    from: { email: message.from_email },
    addresses: rows.map(({ email }) => email),
    unsubscribeGroupId: groupOf(rows),
    sender: null,
  };
}

async function decide(app: App, trx: Db, asked: readonly Asked[], now: number): Promise<Bookings> {
  const organizationIds = new Set(asked.map(({ organizationId }) => organizationId));
  // Runs first, because concurrent transactions wait for this lock if a quota is in force.
  const allowances = await openAllowances(app, trx, organizationIds);
  const pauses = await readPauses(trx);
  const due = await lockDue(trx, asked);
  const sends = [...due.values()].map(({ send }) => send);
  const runs = await readRunStops(
    trx,
    [...due.values()].flatMap(({ rows }) => rows),
  );
  const refusalOf = await openDueChecks(app, trx, allowances, sends);
  const blocked = await findBlockedOf(trx, sends);
  const bookings = await openBookings(app, trx, organizationIds, now);
  const departures = new Departures(app, trx, now, await firstTurn(trx));
  const counted: MessageRow[] = [];
  const cancelled: DeliveryRow[] = [];
  for (const { messageId, organizationId, waitMs, mailboxId } of asked) {
    const { message, rows = [], send } = due.get(messageId) ?? {};
    // Skips messages that were cancelled, deleted, or sent by another daemon meanwhile.
    if (!message || !send) continue;
    const refusal = refusalOf(send);
    const [first] = rows;
    if (first && runs.isCancelled(first)) {
      cancelled.push(...(await endUnsent(app, trx, rows)));
    } else if (first && (pauses.on(first, now) ?? runs.on(first, now))) {
      await putOff(trx, rows, (row) => pauses.on(row, now) ?? runs.on(row, now));
    } else if (waitMs > 0) {
      const dueAt = bookings.next(organizationId, waitMs);
      await putOff(trx, rows, ({ id }) => ({ id, lane: null, dueAt, waitReason: 'rate' }));
    } else if (refusal) {
      await departures.cancel(message, rows, refusal);
    } else if (mailboxId === undefined && allowances.take(organizationId, message.delivery_count)) {
      const clearsAt = allowances.clearsAt(organizationId);
      await putOff(trx, rows, (row) => waitForQuota(row, clearsAt));
    } else {
      if (mailboxId === undefined) counted.push(message);
      await departures.send(
        message,
        rows,
        blocked.get(sendKey(organizationId, groupOf(rows))) ?? new Map(),
      );
    }
  }
  await departures.record();
  allowances.count(
    trx,
    counted.map(({ organization_id, delivery_count }) => ({
      organizationId: organization_id,
      emails: delivery_count,
    })),
  );
  await countDropped(app, trx, [...departures.ended, ...cancelled]);
  await countInWindows(app, trx, counted);
  return bookings;
}

/** Postpones all scheduled deliveries of a message. */
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

/**
 * Reserves the time of the next try for each message without a token. Each message gets a separate
 * time, as each needs a token.
 */
interface Bookings {
  next(organizationId: string, waitMs: number): number;
  /** Keeps the reservations after the commit, so that the next transaction reserves later times. */
  keep(): void;
}

/**
 * The last reserved time by organization. After a restart, two messages may get the same time; then
 * the later message tries again.
 */
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

/** Makes scheduled mail that waits for the quota due now, because the plan has changed. */
export async function askForQuota(app: App, organizationId: string): Promise<void> {
  const filter = { lane: stopOfQuota(organizationId) };
  await changeQueue(app, { half: 'due', filter }, async (trx, rows) => {
    for (const { id } of rows) await askScheduledNow(trx, id, app.clock.now());
    return rows.length;
  });
}
