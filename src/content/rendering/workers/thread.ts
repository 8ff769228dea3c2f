// One worker of a pool and its current jobs. Small jobs go together: a message to a thread and its answer cost
// as much as a small job. The index of the current job is in memory shared by both threads. A job that blocks
// or ends the worker is thus known, and the others do not pay for it.
//
//   worker   | jobs given  | `ready`       | `done`      | deadline, crash      | close
//   none     | starting    |               |             |                      | none
//   starting | (queued)    | busy or idle  |             | none, jobs refused   | none, jobs refused
//   idle     | busy        |               |             | none                 | none
//   busy     | (queued)    |               | idle        | none, one refused,   | none, jobs refused
//            |             |               |             | the others given back|
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../platform/runtime/clock.ts';
import type { QueuedJob } from '../../../platform/runtime/fair-queue.ts';
import { workerArguments } from '../../../platform/runtime/worker-arguments.ts';
import { watchWorker } from '../../../platform/runtime/worker-watch.ts';
import type { JobReply } from './serve.ts';

/** Time after which a starting worker is given up. */
const startDeadlineMs = 30_000;

/** A job that is queued or with a worker. */
export interface PendingJob<Payload, Outcome> extends QueuedJob {
  /** Returns the message to the worker; `sent` remembers the parts that this worker has. */
  payload(sent: Set<string>): Payload;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

export interface ThreadOptions {
  clock: Clock;
  script: URL;
  /** Time limit for one job once a worker has it, of CPU time (worker-watch.ts). */
  deadlineMs: number;
  heapMb: number;
  /** Makes the errors of jobs: of one that took too long or ended its worker, and of those not begun. */
  errors: { timeout(): Error; crash(): Error; unavailable(): Error };
}

const newPlace = () => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** One thread and its current jobs. */
export class JobThread<Payload, Outcome> {
  readonly #options: ThreadOptions;
  readonly #onFree: (givenBack: readonly PendingJob<Payload, Outcome>[]) => void;
  #worker: Worker | null = null;
  #isReady = false;
  /** Name of the worker's thread. */
  #thread: string | null = null;
  /** True once the worker has the jobs. */
  #isSent = false;
  #jobs: readonly PendingJob<Payload, Outcome>[] = [];
  #sent = new Set<string>();
  #place = newPlace();
  #cancelDeadline: () => void = () => {};

  /** Calls `onFree` once the thread can take more jobs, with the jobs that another worker must take. */
  constructor(
    options: ThreadOptions,
    onFree: (givenBack: readonly PendingJob<Payload, Outcome>[]) => void,
  ) {
    this.#options = options;
    this.#onFree = onFree;
  }

  get isFree(): boolean {
    return this.#jobs.length === 0;
  }

  take(jobs: readonly PendingJob<Payload, Outcome>[]): void {
    this.#jobs = jobs;
    if (!this.#worker) this.#start();
    else if (this.#isReady) this.#send();
  }

  #start(): void {
    const { script, heapMb, clock } = this.#options;
    this.#place = newPlace();
    this.#sent = new Set();
    const worker = new Worker(script, {
      execArgv: [...workerArguments],
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
      workerData: this.#place,
    });
    this.#worker = worker;
    this.#isReady = false;
    this.#cancelDeadline = clock.after(startDeadlineMs, () => this.#drop(worker, true));
    worker.on('message', (reply: JobReply<Outcome>) => {
      if (worker === this.#worker) this.#receive(reply);
    });
    worker.on('error', () => this.#drop(worker, false));
    worker.on('exit', () => this.#drop(worker, false));
  }

  #send(): void {
    const worker = this.#worker;
    if (!worker || this.isFree) return;
    Atomics.store(this.#place, 0, 0);
    this.#watch(worker);
    // A worker that is idle does not keep the process of a command alive.
    worker.ref();
    worker.postMessage(this.#jobs.map((job) => job.payload(this.#sent)));
    this.#isSent = true;
  }

  /**
   * Watches the progress of the worker. A job in a group has at least half the time: groups are checked twice
   * as often.
   */
  #watch(worker: Worker): void {
    const { clock, deadlineMs } = this.#options;
    const place = this.#place;
    this.#cancelDeadline = watchWorker({
      ...{ clock, thread: this.#thread },
      deadlineMs: this.#jobs.length === 1 ? deadlineMs : deadlineMs / 2,
      place: () => Atomics.load(place, 0),
      onOverdue: () => this.#drop(worker, true),
    });
  }

  #receive(reply: JobReply<Outcome>): void {
    if (reply.kind === 'ready') {
      this.#cancelDeadline();
      this.#isReady = true;
      this.#thread = reply.thread;
      if (this.isFree) this.#worker?.unref();
      else this.#send();
      return;
    }
    const jobs = this.#free();
    for (const [index, outcome] of reply.outcomes.entries()) jobs[index]?.resolve(outcome);
    this.#onFree(jobs.slice(reply.outcomes.length));
  }

  #free(): readonly PendingJob<Payload, Outcome>[] {
    const jobs = this.#jobs;
    this.#jobs = [];
    this.#isSent = false;
    this.#cancelDeadline();
    this.#worker?.unref();
    return jobs;
  }

  /** Gives up the worker (the next jobs start another) and refuses its current job. */
  #drop(worker: Worker, isTimeout: boolean): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    void worker.terminate();
    const isSent = this.#isSent;
    const jobs = this.#free();
    const { errors } = this.#options;
    const at = Atomics.load(this.#place, 0);
    const refused = isSent ? jobs.slice(at, at + 1) : jobs;
    const why = () => (isTimeout ? errors.timeout() : errors.crash());
    for (const job of refused) job.reject(isSent ? why() : errors.unavailable());
    this.#onFree(jobs.filter((job) => !refused.includes(job)));
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    const jobs = this.#free();
    this.#worker = null;
    for (const job of jobs) job.reject(this.#options.errors.unavailable());
    await worker?.terminate();
  }
}
