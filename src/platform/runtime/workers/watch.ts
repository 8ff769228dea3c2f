// The deadline of a job in a worker. It counts CPU time of the worker's thread, so that a job on a
// busy machine gets the time that it needs. A job that waits ends at a multiple of the deadline by
// the wall clock. On systems without times of threads (all but Linux) only the wall clock counts.
//
//   time                       | then
//   ---------------------------+--------------------------------------------------------------------------
//   a quarter of the deadline  | the CPU time so far is read; this costs nothing for a job that ends before
//   the deadline               | progress: the watch begins anew. Else the CPU time is read again:
//                              | three quarters of the deadline are used: overdue, else one more look
//   ten times the deadline     | overdue
import { readFileSync, readlinkSync } from 'node:fs';
import type { Clock } from '../clock.ts';

const wallFactor = 10;
/** Least time between two checks, as a fraction of the deadline. */
const shortestLook = 1 / 20;
/** Linux counts CPU time in hundredths of a second. */
const tickMs = 10;

/** Returns the name of the calling thread below /proc; null on systems without /proc. */
export function threadName(): string | null {
  try {
    return readlinkSync('/proc/thread-self');
  } catch {
    return null;
  }
}

/** Returns the CPU time of a thread in ms, accurate to 10 ms; null if it is unknown. */
function cpuMsOf(thread: string): number | null {
  try {
    const stat = readFileSync(`/proc/${thread}/stat`, 'latin1');
    // The program's name in parentheses may contain spaces, so the text after it is split; utime
    // and stime are fields 14 and 15 (proc(5)).
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
  } catch {
    return null;
  }
}

export interface Watched {
  clock: Clock;
  /** Name of the worker's thread (`threadName`). */
  thread: string | null;
  /** Time limit of a job, in ms. */
  deadlineMs: number;
  /** Returns the index of the current job in the group. */
  place(): number;
  onOverdue(): void;
}

/**
 * Calls `onOverdue` once a job takes too long, and then stops. Returns a function that stops it
 * earlier.
 */
export function watchWorker({ clock, thread, deadlineMs, place, onOverdue }: Watched): () => void {
  let cancel = () => {};
  const after = (ms: number, work: () => void) => {
    cancel = clock.after(ms, work);
  };
  const timeOf = () => (thread === null ? null : cpuMsOf(thread)) ?? clock.elapsed();

  const begin = () => {
    const seen = place();
    const begunAt = clock.elapsed();
    const allowedMs = (deadlineMs * 3) / 4;
    after(deadlineMs / 4, () => {
      const before = timeOf();
      const look = () => {
        if (place() !== seen) return begin();
        const leftMs = allowedMs - (timeOf() - before);
        const leftOfWallMs = wallFactor * deadlineMs - (clock.elapsed() - begunAt);
        if (leftMs <= 0 || leftOfWallMs <= 0) onOverdue();
        else after(Math.min(leftOfWallMs, Math.max(leftMs, deadlineMs * shortestLook)), look);
      };
      after(allowedMs, look);
    });
  };
  begin();
  return () => cancel();
}
