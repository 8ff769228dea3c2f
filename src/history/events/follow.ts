// Follows the log of an organization as it grows: each event once, from a given place. A
// transaction can commit after another one that has later ids. So the latest part of the log (the
// overlap) is read again, and events that were already published are dropped.
//
// On PostgreSQL events are published in the order of their transactions, and only once no earlier
// transaction runs. So a reader that reconnects with the id of its last event misses and repeats
// nothing. A transaction longer than the overlap does not delay other events; its own may be
// published out of order. On SQLite transactions are serial, and ids are in their order.
import type { App } from '../../core/app.ts';
import { sleep } from '../../platform/runtime/clock.ts';
import { firstIdAt, timeOfId } from '../../platform/runtime/ids.ts';
import { sliceTurns } from '../../platform/runtime/turns.ts';
import { type LogEntry, readEvents } from './log.ts';
import {
  countWithin,
  fitsFilter,
  type LogHead,
  type LogPlace,
  selectLogPlaces,
  selectOldestRunning,
} from './log-queries.ts';

/**
 * Longest time between the making of an event's id and its commit, with room for different clocks
 * of daemons.
 */
const overlapMs = { postgres: 5_000, sqlite: 1_000 } as const;
const placesAtOnce = 2_000;
const entriesAtOnce = 100;
const bytesAtOnce = 4_194_304;
/** Least time between two reads: at most ten reads a second. */
const readEachMs = 100;
/** Rest after a long read, as a multiple of its duration, unless a reader asks for another. */
const usualRestFactor = 10;
/** Number of past rows that a walk reads before it rests. */
const rowsBeforeRest = 5_000;
/** Longest rest of a walk. Rests double from `readEachMs` while no event matches. */
const longestRestMs = 5_000;
/** Longest time between two reads, in case the notification of a commit was lost. */
const idleLookMs = 30_000;

export interface Following {
  /** Continues after this event, the last one published. */
  after?: string | undefined;
  /** Start of the reading, ms since 1970. Without it and without `after`, reading starts now. */
  since?: number | undefined;
  type?: string | undefined;
  subject?: string | undefined;
  /** Restricts the events to some resources: returns those of these ids. */
  reach?: Reach | undefined;
  /** Least time between two reads, in ms (default: 100). */
  eachMs?: number | undefined;
  /** Rest after a long read, as a multiple of its duration (default: 10). */
  restFactor?: number | undefined;
}

export type Reach = (subjects: readonly string[]) => Promise<ReadonlySet<string>>;

type Position = Pick<LogPlace, 'id' | 'xid'>;

/** State of a reader. Events before `floor`, and later ones in `told`, have been published. */
interface Reader {
  app: App;
  organizationId: string;
  overlapMs: number;
  floor: string;
  told: Set<string>;
  /** Number from which transaction numbers are counted, as they wrap around. */
  base: number;
  /** Last event that a reconnecting reader received: events up to it are not published again. */
  from: Position | null;
  eachMs: number;
  restFactor: number;
  isWanted: (head: LogHead) => boolean;
  reach: Reach | undefined;
}

/** Compares places by transaction, then by id. */
function inOrder(a: Position, b: Position): number {
  return a.xid - b.xid || (a.id < b.id ? -1 : Number(a.id > b.id));
}

function numbered(xid: number, base: number): number {
  return (xid - base) | 0;
}

interface Read {
  /** Places of matching events. */
  places: LogPlace[];
  /** Oldest transaction that may still run; null if none can. */
  running: number | null;
  /** Whether the read reached the end of the log. */
  isWhole: boolean;
  readTo: number;
  /** Number of rows read. */
  rows: number;
}

/** Returns the places whose events the reader wants and may see. */
async function wantedOf({ isWanted, reach }: Reader, page: LogPlace[]): Promise<LogPlace[]> {
  const wanted = page.filter(isWanted);
  if (!reach || wanted.length === 0) return wanted;
  const reached = await reach([...new Set(wanted.map(({ subject }) => subject))]);
  return wanted.filter(({ subject }) => reached.has(subject));
}

/** Reads on from the floor, until the end or until an event can be published. */
async function read(reader: Reader): Promise<Read> {
  const { app, organizationId, floor, base } = reader;
  const now = app.clock.now();
  const oldest = await selectOldestRunning(app.store.db);
  const running = oldest === null ? null : numbered(oldest, base);
  const places: LogPlace[] = [];
  let rows = 0;
  let after = floor;
  for (;;) {
    await sliceTurns('follow events', organizationId);
    const found = await selectLogPlaces(app.store.db, organizationId, after, placesAtOnce);
    const page = found.slice(0, placesAtOnce);
    for (const place of await wantedOf(reader, page)) {
      places.push({ ...place, xid: numbered(place.xid, base) });
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
  /** Whether the read reached the end of the log. */
  isWhole: boolean;
  /** Whether an event waits for the end of a transaction. */
  isOpen: boolean;
  rows: number;
}

/** Returns the events to publish now, in order, and moves the reader past them. */
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
  following: Following,
): Promise<Reader> {
  const { after, since, type, subject, reach } = following;
  const { eachMs = readEachMs, restFactor = usualRestFactor } = following;
  const overlap = overlapMs[app.store.kind];
  const start = after === undefined ? (since ?? app.clock.now()) : timeOfId(after);
  const base = (await selectOldestRunning(app.store.db)) ?? 0;
  const isBehind = after === undefined && since !== undefined;
  const floor = firstIdAt('event', isBehind ? start : start - overlap);
  const told = new Set<string>();
  const filter = { types: type === undefined ? undefined : [type], subject, since };
  const isWanted = (head: LogHead) => fitsFilter(head, filter);
  const place = { overlapMs: overlap, floor, told, base, from: null };
  const reader = { app, organizationId, ...place, eachMs, restFactor, isWanted, reach };
  if (after !== undefined) return { ...reader, from: await placeOf(reader, after) };
  // Without a start the reader skips all past events.
  if (since === undefined) {
    const { places } = await read(reader);
    for (const { id } of places) told.add(id);
  }
  return reader;
}

/**
 * Returns the place of the last published event. On PostgreSQL an event that was deleted with its
 * message has no place: the overlap before it is then published again, so that no event is missed.
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

/** Reads the events at these places, a few at a time; deleted ones are left out. */
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

/**
 * Creates the rests of a walk through past events: one after `rowsBeforeRest` rows, each longer
 * while no event matches.
 */
function createRests({ app: { clock }, restFactor }: Reader, signal: AbortSignal) {
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
 * Follows the events of an organization, each once, until `signal` aborts; commits wake it.
 * Resolves once it has begun: no later event is missed from then on.
 */
export async function followLog(
  app: App,
  organizationId: string,
  following: Following,
  signal: AbortSignal,
): Promise<AsyncGenerator<LogEntry>> {
  const reader = await startReader(app, organizationId, following);
  return tellEntries(reader, signal);
}

/** Follows the log as `followLog` does, and gives the new places of each read without their data. */
export async function followPlaces(
  app: App,
  organizationId: string,
  following: Following,
  signal: AbortSignal,
): Promise<AsyncGenerator<LogPlace[]>> {
  return tell(await startReader(app, organizationId, following), signal);
}

async function* tellEntries(reader: Reader, signal: AbortSignal): AsyncGenerator<LogEntry> {
  for await (const places of tell(reader, signal)) yield* entriesAt(reader, places);
}

async function* tell(reader: Reader, signal: AbortSignal): AsyncGenerator<LogPlace[]> {
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
      if (fresh.fresh.length > 0) yield fresh.fresh;
      if (!fresh.isWhole) {
        await rest(fresh, took);
        continue;
      }
      if (!fresh.isOpen) await sleep(clock, idleLookMs, changed.signal);
      await sleep(clock, Math.max(reader.eachMs, reader.restFactor * took), signal);
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', wake);
  }
}
