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
import { type LogEntry, readEvents } from './log.ts';
import { type LogPlace, selectLogPlaces, selectOldestRunning } from './queries.ts';

/** So long may lie between the id of an event and its commit; clocks of daemons differ by less. */
const overlapMs = { postgres: 5_000, sqlite: 1_000 } as const;
const placesAtOnce = 2_000;
const entriesAtOnce = 100;
/** At most ten reads a second, */
const readEachMs = 100;
/** and a reader that reads long rests longer: this often as long as it read. */
const restFactor = 10;
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
  from: LogPlace | null;
}

/** Before the first of `b`: the transaction decides, then the id. */
function inOrder(a: LogPlace, b: LogPlace): number {
  return a.xid - b.xid || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function numbered(xid: number, base: number): number {
  return (xid - base) | 0;
}

interface Read {
  places: LogPlace[];
  /** The first transaction that may still run; null where there is none. */
  running: number | null;
  /** Nothing lies behind them; else the time up to which all was read. */
  isWhole: boolean;
  readTo: number;
}

/** Reads on from the floor, until the end or until there is something that can be told. */
async function read(reader: Reader): Promise<Read> {
  const { app, organizationId, floor, base } = reader;
  const now = app.clock.now();
  const oldest = await selectOldestRunning(app.store.db);
  const running = oldest === null ? null : numbered(oldest, base);
  const places: LogPlace[] = [];
  let after = floor;
  for (;;) {
    const found = await selectLogPlaces(app.store.db, organizationId, after, placesAtOnce);
    const page = found.slice(0, placesAtOnce);
    places.push(...page.map(({ id, xid }) => ({ id, xid: numbered(xid, base) })));
    const last = page.at(-1);
    if (page.length < placesAtOnce || !last) return { places, running, isWhole: true, readTo: now };
    after = last.id;
    const readTo = timeOfId(after);
    const isEnough = readTo - timeOfId(floor) > 2 * reader.overlapMs;
    if (isEnough) return { places, running, isWhole: false, readTo };
  }
}

interface Fresh {
  ids: string[];
  /** There was nothing behind what was read. */
  isWhole: boolean;
  /** Something waits for the end of a transaction. */
  isOpen: boolean;
}

/** Ids of what is to be told now, in order; the reader has moved on behind them. */
async function takeFresh(reader: Reader): Promise<Fresh> {
  const { told, from } = reader;
  const { places, running, isWhole, readTo } = await read(reader);
  const settledBefore = firstIdAt('event', readTo - reader.overlapMs);
  const sorted = places.sort(inOrder);
  const isSettled = ({ id, xid }: LogPlace) =>
    id < settledBefore || (isWhole && (running === null || xid < running));
  const count = 1 + sorted.findLastIndex(isSettled);
  const ids = sorted
    .slice(0, count)
    .filter((place) => !told.has(place.id) && (from === null || inOrder(place, from) > 0))
    .map(({ id }) => id);
  for (const id of ids) told.add(id);
  if (settledBefore > reader.floor) reader.floor = settledBefore;
  for (const id of told) if (id < reader.floor) told.delete(id);
  return { ids, isWhole, isOpen: count < sorted.length };
}

async function startReader(
  app: App,
  organizationId: string,
  { after, since }: Following,
): Promise<Reader> {
  const overlap = overlapMs[app.store.kind];
  const start = after === undefined ? (since ?? app.clock.now()) : timeOfId(after);
  const base = (await selectOldestRunning(app.store.db)) ?? 0;
  const isBehind = after === undefined && since !== undefined;
  const floor = firstIdAt('event', isBehind ? start : start - overlap);
  const told = new Set<string>();
  const reader = { app, organizationId, overlapMs: overlap, floor, told, base, from: null };
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
): Promise<LogPlace | null> {
  if (app.store.kind === 'sqlite') return { id, xid: 0 };
  const near = await selectLogPlaces(app.store.db, organizationId, id.slice(0, -1), 1);
  const place = near.find((one) => one.id === id);
  return place ? { id, xid: numbered(place.xid, base) } : null;
}

/** Those of the ids that are wanted, a few at a time. */
async function* entriesOf(
  { app, organizationId }: Reader,
  ids: readonly string[],
  { type, subject, since }: Following,
): AsyncGenerator<LogEntry> {
  for (let at = 0; at < ids.length; at += entriesAtOnce) {
    const some = ids.slice(at, at + entriesAtOnce);
    const entries = await readEvents(app.store.db, organizationId, some);
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    for (const id of some) {
      const entry = byId.get(id);
      if (!entry) continue;
      if (type !== undefined && entry.type !== type) continue;
      if (subject !== undefined && entry.subject !== subject) continue;
      if (since !== undefined && entry.timestamp < since) continue;
      yield entry;
    }
  }
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
  return tell(await startReader(app, organizationId, following), following, signal);
}

async function* tell(
  reader: Reader,
  following: Following,
  signal: AbortSignal,
): AsyncGenerator<LogEntry> {
  const { clock, store } = reader.app;
  let changed = new AbortController();
  const wake = () => changed.abort();
  const unsubscribe = store.onChange(wake);
  signal.addEventListener('abort', wake);
  try {
    while (!signal.aborted) {
      changed = new AbortController();
      const began = clock.elapsed();
      const { ids, isWhole, isOpen } = await takeFresh(reader);
      const took = clock.elapsed() - began;
      yield* entriesOf(reader, ids, following);
      if (!isWhole) continue;
      if (!isOpen) await sleep(clock, idleLookMs, changed.signal);
      await sleep(clock, Math.max(readEachMs, restFactor * took), signal);
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', wake);
  }
}
