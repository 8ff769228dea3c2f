// Reads the log as it grows. A transaction can commit after a transaction with later ids. Therefore
// the latest part of the log (the overlap) is read again, and events that were already published
// are dropped.
//
// On PostgreSQL events are published in the order of their transactions, and only once no earlier
// transaction runs. So a reader that reconnects with the id of the last event misses and repeats
// nothing. A transaction longer than the overlap does not delay events of other transactions, but
// may be published out of order. On SQLite transactions are serial, and ids follow the same order.
//
//   the clock          | the reader
//   -------------------+---------------------------------------------------------------------------
//   is right           | reads from the overlap before the last read to the latest possible id
//   was set            | also reads the part of the log at the earlier time, until no transaction
//                      | can commit events there any more
//   reaches ids that a | drops these events: they were in the log before. On SQLite events of a few
//   wrong clock made   | seconds around the new time may arrive again
import type { App } from '../../core/app.ts';
import { findClockState } from '../../core/clock/queries.ts';
import { clockJumpsOf } from '../../platform/runtime/clock-jumps.ts';
import { sliceTurns } from '../../platform/runtime/fairness/loop-turns.ts';
import { firstIdAt, mostAheadMs, timeOfId } from '../../platform/runtime/ids.ts';
import {
  fitsFilter,
  idAfterAll,
  type LogHead,
  type LogPlace,
  selectLogPlaces,
  selectOldestRunning,
} from './log-queries.ts';

/**
 * Longest time from the creation of an event's id to the commit. It allows for daemons with
 * different clocks.
 */
const overlapMs = { postgres: 5_000, sqlite: 1_000 } as const;
const placesAtOnce = 2_000;
/**
 * Range of a read beyond the latest possible id, in ms. Events there come from a clock that ran
 * ahead: the reader skips them for good. Longer than the pause between two reads, so that the clock
 * cannot reach ids that no read has covered.
 */
const foreseenMs = 600_000;
/** Longest time until a daemon detects a jump of the clock. */
const unnoticedMs = 60_000;

export interface Start {
  /** Event after which reading continues: the last published event. */
  after?: string | undefined;
  /** Start of the reading, ms since 1970. Without it and without `after`, reading starts now. */
  since?: number | undefined;
  types?: readonly string[] | undefined;
  subject?: string | undefined;
  /** Restricts the events by resource: returns the given ids that the reader may see. */
  reach?: Reach | undefined;
}

export type Reach = (subjects: readonly string[]) => Promise<ReadonlySet<string>>;

type Position = Pick<LogPlace, 'id' | 'xid'>;

/** Part of the log that is still read although the clock makes no ids there now. */
interface Left {
  floor: string;
  /** End of the part; undefined for the end of the log. */
  end: string | undefined;
  /** Time since which the clock makes no ids there, in ms of the monotonic clock. */
  since: number;
}

/** Position of a reader in the log, and the filter of the events. */
export interface Reader {
  app: App;
  organizationId: string;
  overlapMs: number;
  /** Id below which all events have been published, or are in a part of `left`. */
  floor: string;
  left: Left[];
  /** Published or skipped events from `floor` on, each with the monotonic time of the read. */
  told: Map<string, number>;
  /** Time of the last read, in ms of the monotonic clock. */
  readAt: number;
  /** Time of the latest ids that the clock could make at the last read. */
  latest: number;
  /** Number of jumps of the clock up to the last read. */
  jumps: number;
  /** Transaction number that counts as zero in `xid`: transaction numbers wrap around. */
  base: number;
  /** Last event that a reconnecting reader received: events up to it are not published again. */
  from: Position | null;
  isWanted: (head: LogHead) => boolean;
  reach: Reach | undefined;
}

/** Compares positions in the log by transaction, then by id. */
function inOrder(a: Position, b: Position): number {
  return a.xid - b.xid || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function numbered(xid: number, base: number): number {
  return (xid - base) | 0;
}

interface Read {
  /** Matching events, in the order of their transactions. */
  places: LogPlace[];
  /** Id up to which the log was read; null for a read to the end. */
  readTo: string | null;
  /** Number of rows read. */
  rows: number;
}

/** Returns the events of a page that match the filter and that the reader may see. */
async function wantedOf({ isWanted, reach }: Reader, page: LogPlace[]): Promise<LogPlace[]> {
  const wanted = page.filter(isWanted);
  if (!reach || wanted.length === 0) return wanted;
  const reached = await reach([...new Set(wanted.map(({ subject }) => subject))]);
  return wanted.filter(({ subject }) => reached.has(subject));
}

/**
 * Reads matching events from `floor` to `end`. Stops earlier after a page that ends more than two
 * overlaps after `floor`: events of the first overlap can then be published.
 */
async function read(reader: Reader, floor: string, end?: string): Promise<Read> {
  const { app, organizationId, base } = reader;
  const places: LogPlace[] = [];
  let rows = 0;
  let after = floor;
  for (;;) {
    await sliceTurns('follow events', organizationId);
    const range = { after, before: end };
    const found = await selectLogPlaces(app.store.db, organizationId, range, placesAtOnce);
    const page = found.slice(0, placesAtOnce);
    for (const place of await wantedOf(reader, page)) {
      places.push({ ...place, xid: numbered(place.xid, base) });
    }
    rows += page.length;
    const last = page.at(-1);
    const isWhole = page.length < placesAtOnce || !last;
    const isEnough = last && timeOfId(last.id) - timeOfId(floor) > 2 * reader.overlapMs;
    if (isWhole || isEnough) {
      return { places: places.sort(inOrder), readTo: isWhole ? null : last.id, rows };
    }
    after = last.id;
  }
}

export interface Fresh {
  fresh: LogPlace[];
  /** Whether the read reached the end of the log. */
  isWhole: boolean;
  /** Whether events were found that must wait, as an earlier transaction may still commit. */
  isOpen: boolean;
  rows: number;
}

/** Returns the time of the latest ids that the clock can make now. */
function latestOf({ app, overlapMs: overlap }: Pick<Reader, 'app' | 'overlapMs'>): number {
  return app.clock.now() + mostAheadMs + overlap;
}

/**
 * Adapts `floor` to the clock. After a jump, reading continues at the new time, and `left` gets the
 * part of the log at the earlier time. Returns whether the clock jumped.
 */
function followClock(reader: Reader): boolean {
  const { app, overlapMs: overlap, readAt, latest } = reader;
  const { clock } = app;
  const jumps = clockJumpsOf(app);
  jumps.look();
  const passedMs = clock.elapsed() - readAt;
  const lastRead = firstIdAt('event', clock.now() - passedMs - overlap);
  if (jumps.count === reader.jumps) {
    reader.floor = min(reader.floor, lastRead);
    return false;
  }
  reader.jumps = jumps.count;
  const end = firstIdAt('event', latest + passedMs);
  reader.left.push({ floor: reader.floor, end, since: clock.elapsed() });
  reader.floor = lastRead;
  return true;
}

/** Returns the events to publish now, in order, and moves the reader past them. */
export async function takeFresh(reader: Reader): Promise<Fresh> {
  const { app, told, base, overlapMs: overlap } = reader;
  const { clock, store } = app;
  const hasJumped = followClock(reader);
  const { left, from } = reader;
  const now = clock.now();
  const elapsed = clock.elapsed();
  const latest = latestOf(reader);
  const oldest = await selectOldestRunning(store.db);
  const running = oldest === null ? null : numbered(oldest, base);
  let isOpen = false;
  /** Returns the events of a read that can be published now, and marks them as published. */
  const publish = ({ places, readTo }: Read, settledBefore: string): LogPlace[] => {
    const isOver = ({ xid }: LogPlace) => running === null || xid < running;
    const isReady = (one: LogPlace) => one.id < settledBefore || (readTo === null && isOver(one));
    const count = 1 + places.findLastIndex(isReady);
    if (count < places.length) isOpen = true;
    const fresh = places
      .slice(0, count)
      .filter((place) => !told.has(place.id) && (from === null || inOrder(place, from) > 0));
    for (const { id } of fresh) told.set(id, elapsed);
    return fresh;
  };
  const overlapOf = (readTo: string) => firstIdAt('event', timeOfId(readTo) - overlap);

  const main = await read(reader, reader.floor, firstIdAt('event', latest + foreseenMs));
  let isWhole = main.readTo === null;
  let { rows } = main;
  const fresh: LogPlace[] = [];
  for (const part of isWhole ? [...left] : []) {
    const found = await read(reader, part.floor, part.end);
    const { readTo } = found;
    rows += found.rows;
    const isOver = elapsed - part.since > overlap;
    fresh.push(...publish(found, readTo ? overlapOf(readTo) : isOver ? idAfterAll : ''));
    if (readTo) {
      part.floor = max(part.floor, overlapOf(readTo));
      isWhole = false;
    } else if (isOver) left.splice(left.indexOf(part), 1);
  }
  const edge = firstIdAt('event', hasJumped ? now + overlap : latest);
  const isLeft = (id: string) => left.some(({ floor, end = idAfterAll }) => id > floor && id < end);
  for (const { id } of main.places) if (id > edge && !isLeft(id)) told.set(id, elapsed);
  main.places = main.places.filter(({ id }) => id < edge);
  const settledBefore = main.readTo ? overlapOf(main.readTo) : firstIdAt('event', now - overlap);
  fresh.push(...publish(main, settledBefore));
  // A transaction begun before a jump may end after a later transaction, so places are sorted.
  if (running !== null) fresh.sort(inOrder);

  reader.floor = max(reader.floor, settledBefore);
  if (left.length === 0) {
    for (const [id, at] of told) {
      if (id < reader.floor && at < reader.readAt - overlap) told.delete(id);
    }
  }
  Object.assign(reader, { readAt: elapsed, latest });
  return { fresh, isWhole, isOpen, rows };
}

/** Starts a reader at `after`, at `since` or now. The reader misses no later event. */
export async function startReader(app: App, organizationId: string, start: Start): Promise<Reader> {
  const { after, since, types, subject, reach } = start;
  const { clock, store } = app;
  const jumps = clockJumpsOf(app);
  jumps.look();
  const overlap = overlapMs[store.kind];
  const base = (await selectOldestRunning(store.db)) ?? 0;
  const filter = { types, subject, since };
  const reader: Reader = {
    app,
    organizationId,
    overlapMs: overlap,
    base,
    from: null,
    reach,
    isWanted: (head) => fitsFilter(head, filter),
    floor: firstIdAt(
      'event',
      after === undefined && since !== undefined ? since : clock.now() - overlap,
    ),
    left: [],
    told: new Map(),
    readAt: clock.elapsed(),
    latest: latestOf({ app, overlapMs: overlap }),
    jumps: jumps.count,
  };
  const edge = firstIdAt('event', reader.latest);
  if (after !== undefined) await continueAfter(reader, after, edge);
  // A clock that ran ahead may have made events later than `since`, so they are read too.
  else if (since !== undefined) leave(reader, edge);
  else {
    // Without a start the reader skips all past events.
    const { places } = await read(
      reader,
      reader.floor,
      firstIdAt('event', reader.latest + foreseenMs),
    );
    for (const { id } of places) reader.told.set(id, clock.elapsed());
  }
  return reader;
}

/** Adds the part of the log from `floor` on to the parts that the reader reads. */
function leave(reader: Reader, floor: string): void {
  reader.left.push({ floor, end: undefined, since: reader.readAt });
}

/**
 * Continues a reader after the last published event. If a clock that ran ahead made the id of that
 * event or of later events, the reader also reads from the time at which the clock was set back.
 */
async function continueAfter(reader: Reader, after: string, edge: string): Promise<void> {
  const { app, overlapMs: overlap } = reader;
  const { clock, store } = app;
  const state = await findClockState(store.db);
  const backAt = (state?.jump_ms ?? 0) < 0 ? (state?.jumped_at ?? null) : null;
  const isOfAhead = after > edge;
  const at = timeOfId(after);
  const lower = firstIdAt('event', at - overlap);
  reader.floor = isOfAhead
    ? firstIdAt('event', (backAt ?? clock.now()) - unnoticedMs - overlap)
    : lower;
  if (isOfAhead) leave(reader, lower);
  else if (backAt !== null && backAt > at) leave(reader, edge);
  if (store.kind === 'postgres') reader.from = await placeOf(reader, after);
  else {
    const { places } = await read(reader, lower, `${after}~`);
    for (const { id } of places) reader.told.set(id, clock.elapsed());
  }
}

/**
 * Returns transaction and id of an event. Null for an event that was deleted with its message: then
 * the events of the overlap before that id are published again, and the reader misses no event.
 */
async function placeOf(
  { app, organizationId, base }: Reader,
  id: string,
): Promise<Position | null> {
  const range = { after: id.slice(0, -1) };
  const near = await selectLogPlaces(app.store.db, organizationId, range, 1);
  const place = near.find((one) => one.id === id);
  return place ? { id, xid: numbered(place.xid, base) } : null;
}

function min(one: string, other: string): string {
  return one < other ? one : other;
}

function max(one: string, other: string): string {
  return one > other ? one : other;
}
