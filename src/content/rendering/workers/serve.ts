// The worker side of thread.ts: does one job after another, in a thread that may be terminated at any moment.
import { parentPort, workerData } from 'node:worker_threads';

/** A message to the parent: the worker can take jobs, or the outcomes of its jobs in their order. */
export type JobReply<Outcome> = { kind: 'ready' } | { kind: 'done'; outcomes: readonly Outcome[] };

/** Answers the jobs of the parent. `work` must not throw. */
export function serveJobs<Payload, Outcome>(work: (payload: Payload) => Outcome): void {
  /** Index of the current job, shared with the parent thread. */
  const place = workerData as Int32Array;
  const post = (reply: JobReply<Outcome>) => parentPort?.postMessage(reply);
  parentPort?.on('message', (payloads: readonly Payload[]) => {
    const outcomes = payloads.map((payload, index) => {
      Atomics.store(place, 0, index);
      return work(payload);
    });
    post({ kind: 'done', outcomes });
  });
  post({ kind: 'ready' });
}
