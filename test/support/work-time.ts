// Measures work for tests of a bound: CPU time of this thread, on which the load of the machine has no
// influence.
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

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Returns the longest time that this thread's core worked, until `work` ended, without a turn of its timers. */
export async function longestStallMs(work: Promise<unknown>): Promise<number> {
  // Garbage of earlier tests of this process does not belong to the work.
  collectGarbage();
  let longest = 0;
  let last = startWork();
  const look = () => {
    longest = Math.max(longest, workedMs(last));
    last = startWork();
  };
  const timer = setInterval(look, lookEachMs);
  await work.catch(() => {});
  clearInterval(timer);
  // A stall may last until the work ends, before the timer has another turn.
  look();
  return longest;
}
