// Follows the log of an organization as it grows: each event once, from a given start
// (log-reader.ts). Pauses between reads of a long past.
import type { App } from '../../core/app.ts';
import { type Clock, sleep } from '../../platform/runtime/clock.ts';
import { type LogEntry, readEvents } from './log.ts';
import { countWithin, type LogPlace } from './log-queries.ts';
import { type Fresh, type Reader, type Start, startReader, takeFresh } from './log-reader.ts';

const entriesAtOnce = 100;
const bytesAtOnce = 4_194_304;
/** Least time between two reads: at most ten reads a second. */
const readEachMs = 100;
/**
 * Pause after a long read, as a multiple of the duration of the read, unless a reader sets a
 * factor.
 */
const usualRestFactor = 10;
/** Number of past rows that a reader reads before it pauses. */
const rowsBeforeRest = 5_000;
/** Longest pause in the past. Pauses double from `readEachMs` while no event matches. */
const longestRestMs = 5_000;
/** Longest time between two reads, in case the notification of a commit was lost. */
const idleLookMs = 30_000;

export interface Following extends Start {
  /** Least time between two reads, in ms (default: 100). */
  eachMs?: number | undefined;
  /** Pause after a long read, as a multiple of the duration of the read (default: 10). */
  restFactor?: number | undefined;
}

/** Reads the events at these places, a few at a time; deleted events are left out. */
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
 * Returns a function that pauses a reader of past events each time it has read `rowsBeforeRest`
 * rows. The pauses double while no event matches.
 */
function createRests(clock: Clock, restFactor: number, signal: AbortSignal) {
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
 * Yields each event of an organization once, until `signal` aborts. Reads after each commit.
 * Resolves once the start is known: no event is missed from then on.
 */
export async function followLog(
  app: App,
  organizationId: string,
  following: Following,
  signal: AbortSignal,
): Promise<AsyncGenerator<LogEntry>> {
  const reader = await startReader(app, organizationId, following);
  return followEntries(reader, following, signal);
}

/** Follows the log as `followLog` does, but yields lists of new events without their data. */
export async function followPlaces(
  app: App,
  organizationId: string,
  following: Following,
  signal: AbortSignal,
): Promise<AsyncGenerator<LogPlace[]>> {
  return freshPlaces(await startReader(app, organizationId, following), following, signal);
}

async function* followEntries(
  reader: Reader,
  pace: Following,
  signal: AbortSignal,
): AsyncGenerator<LogEntry> {
  for await (const places of freshPlaces(reader, pace, signal)) yield* entriesAt(reader, places);
}

async function* freshPlaces(
  reader: Reader,
  { eachMs = readEachMs, restFactor = usualRestFactor }: Following,
  signal: AbortSignal,
): AsyncGenerator<LogPlace[]> {
  const { clock, store } = reader.app;
  const rest = createRests(clock, restFactor, signal);
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
      await sleep(clock, Math.max(eachMs, restFactor * took), signal);
    }
  } finally {
    unsubscribe();
    signal.removeEventListener('abort', wake);
  }
}
