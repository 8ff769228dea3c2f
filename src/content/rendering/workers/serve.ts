// The worker side of thread.ts: does one job after another, in a thread that may be terminated at any moment.
import { parentPort, workerData } from 'node:worker_threads';
import { threadName } from '../../../platform/runtime/worker-watch.ts';

/**
 * A message to the parent: the worker can take jobs (`thread`: its name for worker-watch.ts), or the outcomes of its first jobs in their order. Jobs
 * without an outcome were not begun.
 */
export type JobReply<Outcome> =
  | { kind: 'ready'; thread: string | null }
  | { kind: 'done'; outcomes: readonly Outcome[] };

/** Size of outcomes after which they are sent: reading 1 MB takes the parent about 1 ms. */
const mostTogether = 1_000_000;

/** Answers the jobs of the parent. `work` must not throw. */
export function serveJobs<Payload, Outcome>(
  work: (payload: Payload) => Outcome,
  sizeOf: (outcome: Outcome) => number = () => 0,
): void {
  /** Index of the current job, shared with the parent thread. */
  const place = workerData as Int32Array;
  const post = (reply: JobReply<Outcome>) => parentPort?.postMessage(reply);
  parentPort?.on('message', (payloads: readonly Payload[]) => {
    const outcomes: Outcome[] = [];
    let size = 0;
    for (const [index, payload] of payloads.entries()) {
      Atomics.store(place, 0, index);
      const outcome = work(payload);
      outcomes.push(outcome);
      size += sizeOf(outcome);
      if (size > mostTogether) break;
    }
    post({ kind: 'done', outcomes });
  });
  post({ kind: 'ready', thread: threadName() });
}
