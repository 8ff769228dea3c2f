// Scheduled messages when their time comes (specification 8.1, 8.2): each draws one on the bucket of
// its organization and its emails on the quota of that day, as one message; what is refused waits.
//
// | state     | by                                           | then                                   |
// |-----------|----------------------------------------------|----------------------------------------|
// | scheduled | its time, found by a claim                   | booked for `askingMs`, and asked        |
// | asked     | a pause, or a held domain                    | waits in the lane of that (stops.ts)   |
// | asked     | no room in the daily quota                   | waits in a lane of its own until it has |
// | asked     | no token                                     | waits for the next that is not booked   |
// | asked     | a token and room: one transaction with both  | queued, as any other                    |
//
// The draw is outside of any transaction, as daemons share their buckets through the store: a crash
// between the two costs a token, never a message.

import { admissionOf } from '../admission/admission.ts';
import { limitsOf } from '../admission/plans.ts';
import { findSpent, openAllowances } from '../admission/quota.ts';
import type { App } from '../app.ts';
import { type ActiveBlocks, findBlockedOf, suppressedBy } from '../blocks/suppression.ts';
import { type DeliveryRow, firstTurn } from '../deliveries/queries.ts';
import {
  askScheduledNow,
  endUnclaimed,
  enqueueScheduled,
  lockScheduled,
  type PutOff,
  putOffScheduled,
  type UnclaimedEnd,
} from '../deliveries/queue-queries.ts';
import { ForbiddenError } from '../errors.ts';
import { type MessageEvent, recordTimeline } from '../events/record.ts';
import { findMessageRows, lockMessages, type MessageRow } from '../messages/queries.ts';
import { restateMessage } from '../messages/restate.ts';
import { foldAddress } from '../net/address.ts';
import { findOrganizations } from '../organizations/queries.ts';
import { perApp } from '../runtime/per-app.ts';
import { type ResolvedSender, resolveSenders } from '../senders/resolve.ts';
import type { Db } from '../store/db.ts';
import { unsentEvent } from './delivery-event.ts';
import { changeQueue } from './desk/queue-walk.ts';
import { countDropped } from './outcome-counts.ts';
import { expiryOf } from './retry.ts';
import { type Pauses, readPauses, stopOfQuota } from './stops.ts';
import { turnsOf } from './turns.ts';

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

/** What the transaction of a batch knows of its messages. */
interface Batch {
  rows: ReadonlyMap<string, DeliveryRow[]>;
  messages: ReadonlyMap<string, MessageRow>;
  senders: ReadonlyMap<string, ResolvedSender | ForbiddenError>;
  blocked: ReadonlyMap<string, ActiveBlocks>;
  pauses: Pauses;
}

async function readBatch(trx: Db, messageIds: readonly string[]): Promise<Batch> {
  const pauses = await readPauses(trx);
  const found = await lockScheduled(trx, messageIds);
  const rows = Map.groupBy(found, (row) => row.message_id);
  const ids = [...rows.keys()];
  await lockMessages(trx, ids);
  const messages = await findMessageRows(trx, ids);
  const questions = messages.map(({ organization_id, from_email }) => ({
    organizationId: organization_id,
    from: { email: from_email },
  }));
  const senders = await resolveSenders(trx, questions);
  const blocked = await findBlockedOf(
    trx,
    found.map(({ organization_id, email }) => ({
      organizationId: organization_id,
      addresses: [email],
    })),
  );
  return {
    rows,
    messages: new Map(messages.map((row) => [row.id, row])),
    senders: new Map(
      messages.flatMap(({ id }, index) => {
        const sender = senders[index];
        return sender ? [[id, sender] as const] : [];
      }),
    ),
    blocked,
    pauses,
  };
}

async function decide(app: App, trx: Db, asked: readonly Asked[], now: number): Promise<Bookings> {
  const organizationIds = new Set(asked.map(({ organizationId }) => organizationId));
  // First of all: where a quota holds, this is what other transactions wait for.
  const allowances = await openAllowances(app, trx, organizationIds);
  const batch = await readBatch(
    trx,
    asked.map(({ messageId }) => messageId),
  );
  const bookings = await openBookings(app, trx, organizationIds, now);
  const departures = new Departures(app, trx, now, await firstTurn(trx));
  const counted: { organizationId: string; emails: number }[] = [];
  for (const { messageId, organizationId, waitMs } of asked) {
    // Cancelled, deleted, or sent by another daemon meanwhile.
    const rows = batch.rows.get(messageId);
    const message = batch.messages.get(messageId);
    const sender = batch.senders.get(messageId);
    if (!rows || !message || !sender) continue;
    const [first] = rows;
    const isStopped = first !== undefined && batch.pauses.on(first, now) !== null;
    if (isStopped) {
      for (const row of rows) {
        const wait = batch.pauses.on(row, now);
        if (wait) await putOffScheduled(trx, wait);
      }
    } else if (waitMs > 0) {
      const dueAt = bookings.next(organizationId, waitMs);
      for (const { id } of rows) {
        await putOffScheduled(trx, { id, lane: null, dueAt, waitReason: 'rate' });
      }
    } else if (sender instanceof ForbiddenError) {
      await departures.refuse(message, rows, sender);
    } else if (allowances.take(organizationId, message.delivery_count)) {
      for (const row of rows) {
        const wait = waitForQuota(row, allowances.clearsAt(organizationId));
        if (wait) await putOffScheduled(trx, wait);
      }
    } else {
      counted.push({ organizationId, emails: message.delivery_count });
      await departures.send(message, rows, batch.blocked.get(organizationId) ?? new Map());
    }
  }
  await departures.tell();
  // Last: the counters are what other transactions wait for.
  await allowances.count(trx, counted);
  await countDropped(app, trx, departures.ended);
  return bookings;
}

/** The messages of a batch that leave the schedule. */
class Departures {
  readonly #app: App;
  readonly #trx: Db;
  readonly #now: number;
  readonly #firstTurn: number | null;
  readonly #events: MessageEvent[] = [];
  /** Failed without an attempt. */
  readonly ended: DeliveryRow[] = [];

  constructor(app: App, trx: Db, now: number, first: number | null) {
    this.#app = app;
    this.#trx = trx;
    this.#now = now;
    this.#firstTurn = first;
  }

  /** It is in the queue from now on; who was blocked since it was accepted gets none of it. */
  async send(
    message: MessageRow,
    rows: readonly DeliveryRow[],
    blocks: ActiveBlocks,
  ): Promise<void> {
    const expiresAt = expiryOf(this.#app.config.delivery.retry, this.#now);
    const ends = new Map<DeliveryRow, UnclaimedEnd>();
    for (const row of rows) {
      const block = blocks.get(foldAddress(row.email));
      if (block) {
        ends.set(row, { ...suppressedBy(block, row.email, this.#now), updated_at: this.#now });
        continue;
      }
      const { organization_id, sender_domain } = row;
      const turn = turnsOf(this.#app).next(organization_id, sender_domain, this.#firstTurn);
      await enqueueScheduled(this.#trx, { id: row.id, turn, now: this.#now, expiresAt });
    }
    await this.#end(message, ends, ends.size < rows.length);
  }

  /** Its sender may not send any more. */
  async refuse(
    message: MessageRow,
    rows: readonly DeliveryRow[],
    { message: text }: ForbiddenError,
  ): Promise<void> {
    const end: UnclaimedEnd = {
      status: 'failed',
      failed_at: this.#now,
      terminal_at: this.#now,
      error_code: 'policy',
      error_message: text,
      updated_at: this.#now,
    };
    await this.#end(message, new Map(rows.map((row) => [row, end])), false);
  }

  async #end(
    { id, organization_id }: MessageRow,
    ends: ReadonlyMap<DeliveryRow, UnclaimedEnd>,
    isQueued: boolean,
  ): Promise<void> {
    for (const [row, end] of ends) {
      await endUnclaimed(this.#trx, row.id, end);
      this.ended.push(row);
    }
    const status = await restateMessage(this.#trx, id, this.#now);
    if (isQueued) {
      this.#events.push({
        organizationId: organization_id,
        messageId: id,
        recipientId: null,
        eventType: 'queued',
        status,
        timestamp: this.#now,
        metadata: null,
      });
    }
    for (const [row, end] of ends) {
      this.#events.push(unsentEvent(row, end, status, this.#now));
    }
  }

  async tell(): Promise<void> {
    if (this.#events.length > 0) await recordTimeline(this.#app, this.#trx, this.#events);
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
