// The worker's side of thread.ts: does jobs in sequence, in a thread that may be terminated at any
// time.
import { parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../clock.ts';
import { threadName } from './watch.ts';

/**
 * A message to the parent. `ready`: the worker accepts jobs (`thread`: the name of the thread for
 * watch.ts). `part`: a part of an outcome. `done`: outcomes of the first jobs, in order; the
 * remaining jobs were not begun.
 */
export type JobReply<Outcome, Part> =
  | { kind: 'ready'; thread: string | null }
  | { kind: 'part'; index: number; part: Part }
  | { kind: 'done'; outcomes: readonly Outcome[] };

/** Bytes of outcomes after which a group of jobs ends: the parent takes about 1 ms to read 1 MB. */
const mostTogether = 1_000_000;
/** Time in ms after which a group of jobs ends, so that the next organization has a turn. */
const longestGroupMs = 50;

/** Does a job. `keep` sends a part of the outcome early, in case the deadline ends the job. */
type Work<Payload, Outcome, Part> = (
  payload: Payload,
  keep: (part: Part) => void,
) => Outcome | Promise<Outcome>;

/**
 * Runs the jobs that the parent sends, and posts the outcomes. `sizeOf` gives the bytes of an
 * outcome. An error of `work` ends the worker.
 */
export function serveJobs<Payload, Outcome, Part = never>(
  work: Work<Payload, Outcome, Part>,
  sizeOf: (outcome: Outcome) => number = () => 0,
): void {
  /** Index of the current job, shared with the parent thread. */
  const place = workerData as Int32Array;
  const post = (reply: JobReply<Outcome, Part>) => parentPort?.postMessage(reply);
  const workOn = async (payloads: readonly Payload[]) => {
    const outcomes: Outcome[] = [];
    let size = 0;
    const endAt = systemClock.elapsed() + longestGroupMs;
    for (const [index, payload] of payloads.entries()) {
      Atomics.store(place, 0, index);
      const outcome = await work(payload, (part) => post({ kind: 'part', index, part }));
      outcomes.push(outcome);
      size += sizeOf(outcome);
      if (size > mostTogether || systemClock.elapsed() > endAt) break;
    }
    post({ kind: 'done', outcomes });
  };
  parentPort?.on('message', (payloads: readonly Payload[]) => void workOn(payloads));
  post({ kind: 'ready', thread: threadName() });
}
