// Measures work for tests of a bound: CPU time of this thread, which depends little on the load of
// the machine, at the pace of a reference machine.
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { GCProfiler, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Returns the milliseconds of work of this thread's core since `earlier`, as `longestStallMs`
 * measures.
 */
export function coreMs(earlier: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(earlier);
  return (user + system) / 1_000;
}

/** Work that measures the pace of a core: lines of text, like most of the measured work. */
const sampleText = 'a:\nOn Tuesday, Ada wrote:\n> said\n'.repeat(2_000);
/**
 * Milliseconds of `workOnSample` on the reference machine, for which the bounds of tests are
 * stated.
 */
const sampleMs = 0.6;
const samples = 25;

function workOnSample(): number {
  const lines = sampleText.split('\n').map((line) => ({ line, trimmed: line.trim() }));
  const said = lines.filter(({ trimmed }) => /^(?:on|am)\b.*\b(?:wrote|schrieb):$/iu.test(trimmed));
  const quoted = lines.filter(({ trimmed }) => trimmed.startsWith('>'));
  return said.length + quoted.map(({ line }) => line.slice(2)).join('\n').length;
}

/**
 * Returns how many times longer this core now takes for a sample than the reference machine, and at
 * least 1. Uses the median of many short samples, so that samples interrupted by a process do not
 * count.
 */
function slowness(): number {
  const taken = Array.from({ length: samples }, () => {
    const from = performance.now();
    workOnSample();
    return performance.now() - from;
  }).sort((a, b) => a - b);
  return Math.max(1, (taken[(samples - 1) / 2] ?? 0) / sampleMs);
}

/** Work below this is returned unchanged: no test has such a low bound. */
const pacedFromMs = 20;

/** The start of a span of work. */
export interface WorkStart {
  usage: NodeJS.CpuUsage;
  collections: GCProfiler;
}

/** Returns the start of a span for `workedMs`. */
export function startWork(): WorkStart {
  const collections = new GCProfiler();
  collections.start();
  return { usage: process.threadCpuUsage(), collections };
}

/**
 * Returns the milliseconds of work of this thread's core since `start`, divided by its slowness: a
 * virtual machine on a busy host runs at a quarter of its pace. Collections of the whole heap do
 * not count: it is that of all tests of the process, and takes up to 70 ms. To be called once for
 * each start.
 */
export function workedMs({ usage, collections }: WorkStart): number {
  const ms = coreMs(usage);
  const whole = collections.stop().statistics.filter(({ gcType }) => gcType !== 'Scavenge');
  const collectedMs = whole.reduce((sum, { cost }) => sum + cost, 0) / 1_000;
  const worked = Math.max(0, ms - collectedMs);
  return worked < pacedFromMs ? worked : worked / slowness();
}

const lookEachMs = 1;
/** Turns shorter than this are ignored. */
const shortMs = 5;
/** Turns longer than this are measured at the pace of the reference machine. */
const longMs = 75;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Returns the bytes of the heap without garbage. */
export function liveBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** A turn of the event loop: its place on the clock, and the work of the core in it. */
interface Turn {
  from: number;
  to: number;
  workedMs: number;
  /** Slowness of the core after the turn. */
  pace: number;
  /** The work under way, as named by `recordTurns`. */
  name: string;
}

/** Records collections of garbage. Returns a function that stops recording and returns them. */
function recordCollections(): () => Promise<PerformanceEntry[]> {
  const entries: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => entries.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  return async () => {
    // Waits, because entries are reported in a later turn.
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
  return (turn.workedMs - collected.reduce((all, ms) => all + ms, 0)) / turn.pace;
}

/** Records the turns of the event loop while named works run in sequence. */
export interface TurnRecord {
  /** Runs a work under its name; its error is ignored. */
  during(name: string, work: () => Promise<unknown>): Promise<void>;
  /**
   * Ends the record. Returns the longest turn of each work in ms, without collections of garbage.
   */
  end(): Promise<Map<string, number>>;
}

/**
 * Records by a timer how long this thread's core works without a turn of the timer. Collections of
 * garbage do not count: V8 runs parts of them on threads that a busy machine gives no core, and
 * then a collection of 7 ms takes 50.
 */
export function recordTurns(): TurnRecord {
  collectGarbage();
  const collections = recordCollections();
  const longest = new Map<string, number>();
  const turns: Turn[] = [];
  let name = '';
  let from = performance.now();
  let last = process.threadCpuUsage();
  const look = () => {
    const worked = coreMs(last);
    const to = performance.now();
    const pace = worked > longMs ? slowness() : 1;
    if (worked > shortMs) turns.push({ from, to, workedMs: worked, pace, name });
    else longest.set(name, Math.max(longest.get(name) ?? 0, worked));
    from = performance.now();
    last = process.threadCpuUsage();
  };
  const timer = setInterval(look, lookEachMs);
  return {
    async during(next, work) {
      look();
      name = next;
      await work().catch(() => {});
      // A turn may last until the work ends, before the timer has another turn.
      look();
      name = '';
    },
    async end() {
      clearInterval(timer);
      longest.delete('');
      const collected = await collections();
      for (const turn of turns.filter(({ name }) => name !== '')) {
        longest.set(turn.name, Math.max(longest.get(turn.name) ?? 0, ownWorkOf(turn, collected)));
      }
      return longest;
    },
  };
}

/**
 * Returns the longest turn of the event loop until `work` ended, in ms as `recordTurns` measures.
 */
export async function longestStallMs(work: Promise<unknown>): Promise<number> {
  const record = recordTurns();
  await record.during('work', () => work);
  const longest = await record.end();
  return Math.max(...longest.values());
}
