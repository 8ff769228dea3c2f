// Follows the log of an organization as it grows: each event once, from where one left off. A transaction
// can be committed after another whose ids are later, so what was read last is read again (the overlap),
// and what was told is dropped.
//
// On PostgreSQL events are told in the order of their transactions, and only once no earlier one runs: so
// one event tells all that came before it, and a reader that comes back with its id misses and repeats
// nothing. A transaction of more than the overlap holds nobody up, and may then be told out of order. On
// SQLite transactions come one after the other, and ids are in their order.
import type { App } from '../app.ts';
import { sleep } from '../runtime/clock.ts';
import { firstIdAt, timeOfId } from '../runtime/ids.ts';
import { countWithin, type LogEntry, readEvents } from './log.ts';
import {
  fitsFilter,
  type LogHead,
  type LogPlace,
  selectLogPlaces,
  selectOldestRunning,
} from './queries.ts';

/** So long may lie between the id of an event and its commit; clocks of daemons differ by less. */
const overlapMs = { postgres: 5_000, sqlite: 1_000 } as const;
const placesAtOnce = 2_000;
const entriesAtOnce = 100;
const bytesAtOnce = 4_194_304;
/** At most ten reads a second, */
const readEachMs = 100;
/** and a reader that reads long rests longer: this often as long as it read. */
const restFactor = 10;
/** Rows of the past that a walk reads before it rests. */
const rowsBeforeRest = 5_000;
/** Longest of those rests, which double from `readEachMs` as long as no event fits. */
const longestRestMs = 5_000;
/** Commits wake it; this is for one whose word was lost. */
const idleLookMs = 30_000;

export interface Following {
  /** Goes on behind this event, the last that was told. */
  after?: string | undefined;
  /** Ms since 1970: begins there; without it and without `after`, now. */
  since?: number | undefined;
  type?: string | undefined;
  subject?: string | undefined;
}

type Position = Pick<LogPlace, 'id' | 'xid'>;

/** Where a reader stands: everything before `floor` was told, and of what follows those in `told`. */
interface Reader {
  app: App;
  organizationId: string;
  overlapMs: number;
  floor: string;
  told: Set<string>;
  /** Transactions are numbered from here: their numbers go round. */
  base: number;
  /** Of those who come back: what does not come after this place was told before. */
  from: Position | null;
  isWanted: (head: LogHead) => boolean;
}

/** Before the first of `b`: the transaction decides, then the id. */
function inOrder(a: Position, b: Position): number {
  return a.xid - b.xid || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function numbered(xid: number, base: number): number {
  return (xid - base) | 0;
}

interface Read {
  /** Those that are wanted. */
  places: LogPlace[];
  /** The first transaction that may still run; null where there is none. */
  running: number | null;
  /** Nothing lies behind them; else the time up to which all was read. */
  isWhole: boolean;
  readTo: number;
  /** Number of rows that were looked at. */
  rows: number;
}

/** Reads on from the floor, until the end or until there is something that can be told. */
async function read(reader: Reader): Promise<Read> {
  const { app, organizationId, floor, base, isWanted } = reader;
  const now = app.clock.now();
  const oldest = await selectOldestRunning(app.store.db);
  const running = oldest === null ? null : numbered(oldest, base);
  const places: LogPlace[] = [];
  let rows = 0;
  let after = floor;
  for (;;) {
    const found = await selectLogPlaces(app.store.db, organizationId, after, placesAtOnce);
    const page = found.slice(0, placesAtOnce);
    for (const place of page) {
      if (isWanted(place)) places.push({ ...place, xid: numbered(place.xid, base) });
    }
    rows += page.length;
    const last = page.at(-1);
    if (page.length < placesAtOnce || !last) {
      return { places, running, isWhole: true, readTo: now, rows };
    }
    after = last.id;
    const readTo = timeOfId(after);
    const isEnough = readTo - timeOfId(floor) > 2 * reader.overlapMs;
    if (isEnough) return { places, running, isWhole: false, readTo, rows };
  }
}

interface Fresh {
  fresh: LogPlace[];
  /** There was nothing behind what was read. */
  isWhole: boolean;
  /** Something waits for the end of a transaction. */
  isOpen: boolean;
  rows: number;
}

/** What is to be told now, in order; the reader has moved on behind them. */
async function takeFresh(reader: Reader): Promise<Fresh> {
  const { told, from } = reader;
  const { places, running, isWhole, readTo, rows } = await read(reader);
  const settledBefore = firstIdAt('event', readTo - reader.overlapMs);
  const sorted = places.sort(inOrder);
  const isSettled = ({ id, xid }: LogPlace) =>
    id < settledBefore || (isWhole && (running === null || xid < running));
  const count = 1 + sorted.findLastIndex(isSettled);
  const fresh = sorted
    .slice(0, count)
    .filter((place) => !told.has(place.id) && (from === null || inOrder(place, from) > 0));
  for (const { id } of fresh) told.add(id);
  if (settledBefore > reader.floor) reader.floor = settledBefore;
  for (const id of told) if (id < reader.floor) told.delete(id);
  return { fresh, isWhole, isOpen: count < sorted.length, rows };
}

async function startReader(
  app: App,
  organizationId: string,
  { after, since, type, subject }: Following,
): Promise<Reader> {
  const overlap = overlapMs[app.store.kind];
  const start = after === undefined ? (since ?? app.clock.now()) : timeOfId(after);
  const base = (await selectOldestRunning(app.store.db)) ?? 0;
  const isBehind = after === undefined && since !== undefined;
  const floor = firstIdAt('event', isBehind ? start : start - overlap);
  const told = new Set<string>();
  const filter = { types: type === undefined ? undefined : [type], subject, since };
  const isWanted = (head: LogHead) => fitsFilter(head, filter);
  const place = { overlapMs: overlap, floor, told, base, from: null };
  const reader = { app, organizationId, ...place, isWanted };
  if (after !== undefined) return { ...reader, from: await placeOf(reader, after) };
  // What has happened by now is none of a follower's.
  if (since === undefined) {
    const { places } = await read(reader);
    for (const { id } of places) told.add(id);
  }
  return reader;
}

/**
 * Where the last event that was told stands. On PostgreSQL one that is gone with its message stands
 * nowhere: what came in the overlap before it is told again, since none may be missed.
 */
async function placeOf(
  { app, organizationId, base }: Reader,
  id: string,
): Promise<Position | null> {
  if (app.store.kind === 'sqlite') return { id, xid: 0 };
  const near = await selectLogPlaces(app.store.db, organizationId, id.slice(0, -1), 1);
  const place = near.find((one) => one.id === id);
  return place ? { id, xid: numbered(place.xid, base) } : null;
}

/** The events at these places, a few at a time; those that are gone are left out. */
async function* entriesAt(
  { app, organizationId }: Reader,
  places: readonly LogPlace[],
): AsyncGenerator<LogEntry> {
  for (let at = 0; at < places.length; ) {
    const most = places.slice(at, at + entriesAtOnce);
    const some = most.slice(0, countWithin(most, bytesAtOnce)).map(({ id }) => id);
    at += some.length;
    const entries = await readEvents(app.store.db, organizationId, some);
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    for (const id of some) {
      const entry = byId.get(id);
      if (entry) yield entry;
    }
  }
}

/** Rests of a walk through the past: one after so many rows, each longer while no event fits. */
function createRests({ app: { clock } }: Reader, signal: AbortSignal) {
  let rows = 0;
  let restMs = readEachMs;
  return async ({ fresh, rows: more }: Fresh, tookMs: number): Promise<void> => {
    if (fresh.length > 0) restMs = readEachMs;
    rows += more;
    if (rows < rowsBeforeRest) return;
    rows = 0;
    await sleep(clock, Math.max(restMs, restFactor * tookMs), signal);
    restMs = Math.min(2 * restMs, longestRestMs);
  };
}

/**
 * Events of an organization as they happen, each once, until `signal` aborts; woken by commits. Once
 * this resolves, nothing that happens is missed.
 */
export async function followLog(
  app: App,
  organizationId: string,
  following: Following,
  signal: AbortSignal,
): Promise<AsyncGenerator<LogEntry>> {
  return tell(await startReader(app, organizationId, following), signal);
}

async function* tell(reader: Reader, signal: AbortSignal): AsyncGenerator<LogEntry> {
  const rest = createRests(reader, signal);
  const { clock, store } = reader.app;
  let changed = new AbortController();
  const wake = () => changed.abort();
  const unsubscribe = store.onChange(wake);
  signal.addEventListener('abort', wake);
  try {
    while (!signal.aborted) {
      changed = new AbortController();
      const began = clock.elapsed();
      const fresh = await takeFresh(reader);
      const took = clock.elapsed() - began;
      yield* entriesAt(reader, fresh.fresh);
      if (!fresh.isWhole) {
        await rest(fresh, took);
        continue;
      }
      if (!fresh.isOpen) await sleep(clock, idleLookMs, changed.signal);
      await sleep(clock, Math.max(readEachMs, restFactor * took), signal);
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', wake);
  }
}
