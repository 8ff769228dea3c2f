// Measures work for tests of a bound: CPU time of this thread, on which the load of the machine has no
// influence.
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Milliseconds that this thread's core was at work since `earlier`. */
export function workedMs(earlier: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(earlier);
  return (user + system) / 1_000;
}

/** The start of a span for `workedMs`. */
export function startWork(): NodeJS.CpuUsage {
  return process.threadCpuUsage();
}

const lookEachMs = 1;
/** Turns shorter than this are not looked at. */
const shortMs = 5;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** A turn of the event loop: its place on the clock, and the work of the core in it. */
interface Turn {
  from: number;
  to: number;
  workedMs: number;
}

/** Records the collections of garbage until the returned function is called, which gives them. */
function recordCollections(): () => Promise<PerformanceEntry[]> {
  const entries: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => entries.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  return async () => {
    // Entries are told in a later turn.
    await new Promise((resolve) => setTimeout(resolve, lookEachMs));
    entries.push(...observer.takeRecords());
    observer.disconnect();
    return entries;
  };
}

/** Returns the work of a turn without its collections of garbage. */
function ownWorkOf(turn: Turn, collections: readonly PerformanceEntry[]): number {
  const collected = collections.map(({ startTime, duration }) =>
    Math.max(0, Math.min(turn.to, startTime + duration) - Math.max(turn.from, startTime)),
  );
  return turn.workedMs - collected.reduce((all, ms) => all + ms, 0);
}

/**
 * Returns the longest time that this thread's core worked, until `work` ended, without a turn of its timers.
 * Collections of garbage do not count: V8 shares them with threads that a busy machine gives no core, and then one
 * of 7 ms takes 50.
 */
export async function longestStallMs(work: Promise<unknown>): Promise<number> {
  collectGarbage();
  const collections = recordCollections();
  const turns: Turn[] = [];
  let longest = 0;
  let from = performance.now();
  let last = startWork();
  const look = () => {
    const worked = workedMs(last);
    const to = performance.now();
    if (worked > shortMs) turns.push({ from, to, workedMs: worked });
    else longest = Math.max(longest, worked);
    from = to;
    last = startWork();
  };
  const timer = setInterval(look, lookEachMs);
  await work.catch(() => {});
  clearInterval(timer);
  // A stall may last until the work ends, before the timer has another turn.
  look();
  const collected = await collections();
  return turns.reduce((most, turn) => Math.max(most, ownWorkOf(turn, collected)), longest);
}
