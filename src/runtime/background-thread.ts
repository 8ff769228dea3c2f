// Threads whose work may wait: the operating system gives them what the event loop leaves.
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { basename } from 'node:path';

/** Nice value of such threads: a normal thread gets about ten times as much of a contended core. */
const politeness = 10;

/** Lowers the priority of the calling thread. Does nothing where the system is not Linux. */
export function yieldToOtherThreads(): void {
  try {
    // Linux sets the priority of a single thread by its own number.
    setPriority(Number(basename(readlinkSync('/proc/thread-self'))), politeness);
  } catch {
    // Its work is as right, only less polite.
  }
}
