// The worker of a pool and its current jobs. Small jobs are sent together, because a message and
// its answer cost as much as a small job. Both threads share memory with the index of the current
// job, so that a job that blocks or ends the worker is known and the remaining jobs are not lost.
//
//   worker   | jobs given  | `ready`       | `done`      | deadline, crash      | close
//   none     | starting    |               |             |                      | none
//   starting | (queued)    | busy or idle  |             | none, jobs lost      | none, jobs refused
//   idle     | busy        |               |             | none                 | none
//   busy     | (queued)    |               | idle        | none, one lost, the  | none, jobs refused
//            |             |               |             | others given back    |
import type { Clock } from '../clock.ts';
import type { QueuedJob } from '../fairness/fair-queue.ts';
import type { JobReply } from './serve.ts';
import { watchWorker } from './watch.ts';
import { WorkerThread } from './worker-thread.ts';

/** Time limit for a worker to start; loading libraries takes 0.2 s on an idle machine. */
const startDeadlineMs = 30_000;

type JobWorker<Payload, Outcome, Part> = WorkerThread<readonly Payload[], JobReply<Outcome, Part>>;

/**
 * Error of a job that took too long, ended the worker, or found no worker because none could start.
 */
export class LostJob extends Error {
  readonly isTimeout: boolean;
  /** False if the worker did not start. */
  readonly isBegun: boolean;

  constructor(isTimeout: boolean, isBegun: boolean) {
    super(`a job ${isTimeout ? 'took too long' : 'ended its worker'}`);
    this.isTimeout = isTimeout;
    this.isBegun = isBegun;
  }
}

/** A job that is queued or with a worker. */
export interface PendingJob<Payload, Outcome, Part> extends QueuedJob {
  payload(sent: Set<string>): Payload;
  signal?: AbortSignal | undefined;
  onPart?(part: Part): void;
  resolve(outcome: Outcome): void;
  reject(error: Error): void;
}

export interface ThreadOptions<Payload> {
  clock: Clock;
  script: URL;
  /** Time limit for a job in a worker, in ms of CPU time (watch.ts). */
  deadlineMs: number;
  /** Heap limit of the worker: a job that needs more ends the worker, not the daemon. */
  heapMb: number;
  /** Returns the buffer in a message that is transferred to the worker instead of copied. */
  transfer?(payload: Payload): ArrayBuffer;
}

/** Report at the end of a turn, in which a thread had jobs of a single holder. */
export interface ThreadTurn<Payload, Outcome, Part> {
  holder: string;
  /** Time in ms from the message to the worker until the outcomes; 0 if no message was sent. */
  spentMs: number;
  hasLostJob: boolean;
  /** Jobs that the worker did not begin. */
  givenBack: readonly PendingJob<Payload, Outcome, Part>[];
}

type OnFree<Payload, Outcome, Part> = (turn: ThreadTurn<Payload, Outcome, Part>) => void;

const newPlace = () => new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** A thread with its current jobs. */
export class JobThread<Payload, Outcome, Part> {
  readonly #options: ThreadOptions<Payload>;
  readonly #onFree: OnFree<Payload, Outcome, Part>;
  #worker: JobWorker<Payload, Outcome, Part> | null = null;
  #isReady = false;
  /** Name of the worker's thread below /proc; null if it is unknown. */
  #thread: string | null = null;
  /** Time at which the worker received the jobs; null before. */
  #sentAt: number | null = null;
  #jobs: readonly PendingJob<Payload, Outcome, Part>[] = [];
  #sent = new Set<string>();
  #place = newPlace();
  #cancelDeadline: () => void = () => {};

  /** Calls `onFree` at the end of each turn: the thread then accepts jobs again. */
  constructor(options: ThreadOptions<Payload>, onFree: OnFree<Payload, Outcome, Part>) {
    this.#options = options;
    this.#onFree = onFree;
  }

  get isFree(): boolean {
    return this.#jobs.length === 0;
  }

  /** Sends jobs of a single holder to the worker, which is started if none runs. */
  take(jobs: readonly PendingJob<Payload, Outcome, Part>[]): void {
    this.#jobs = jobs;
    if (!this.#worker) this.#start();
    else if (this.#isReady) this.#send();
  }

  /** Ends the worker. Returns the jobs that it had not finished. */
  async close(): Promise<readonly PendingJob<Payload, Outcome, Part>[]> {
    const worker = this.#worker;
    const jobs = this.#free();
    this.#worker = null;
    await worker?.end();
    return jobs;
  }

  #start(): void {
    const { script, heapMb, clock } = this.#options;
    this.#place = newPlace();
    this.#sent = new Set();
    const worker: JobWorker<Payload, Outcome, Part> = new WorkerThread({
      script,
      name: 'jobs',
      heapMb,
      data: this.#place,
      onReport: (reply) => {
        if (worker === this.#worker) this.#receive(reply);
      },
      onEnd: () => this.#drop(worker, false),
    });
    this.#worker = worker;
    this.#isReady = false;
    this.#cancelDeadline = clock.after(startDeadlineMs, () => this.#drop(worker, true));
  }

  #send(): void {
    const worker = this.#worker;
    if (!worker || this.isFree) return;
    Atomics.store(this.#place, 0, 0);
    this.#watch(worker);
    // Only a busy worker keeps the process of a command alive.
    worker.hold();
    const payloads = this.#jobs.map((job) => job.payload(this.#sent));
    const { transfer } = this.#options;
    worker.order(payloads, transfer ? payloads.map(transfer) : []);
    this.#sentAt = this.#options.clock.elapsed();
  }

  /**
   * Watches the progress of the worker. For a group it uses half the deadline, because the watch
   * notices the next job late: a job of a group has from half to all of the deadline.
   */
  #watch(worker: JobWorker<Payload, Outcome, Part>): void {
    const { clock, deadlineMs } = this.#options;
    const place = this.#place;
    this.#cancelDeadline = watchWorker({
      clock,
      thread: this.#thread,
      deadlineMs: this.#jobs.length === 1 ? deadlineMs : deadlineMs / 2,
      place: () => Atomics.load(place, 0),
      onOverdue: () => this.#drop(worker, true),
    });
  }

  #receive(reply: JobReply<Outcome, Part>): void {
    if (reply.kind === 'ready') {
      this.#cancelDeadline();
      this.#isReady = true;
      this.#thread = reply.thread;
      if (this.isFree) this.#worker?.rest();
      else this.#send();
    } else if (reply.kind === 'part') {
      this.#jobs[reply.index]?.onPart?.(reply.part);
    } else {
      const spentMs = this.#spentMs();
      const jobs = this.#free();
      for (const [index, outcome] of reply.outcomes.entries()) jobs[index]?.resolve(outcome);
      const givenBack = jobs.slice(reply.outcomes.length);
      this.#endTurn(jobs, { spentMs, hasLostJob: false, givenBack });
    }
  }

  #spentMs(): number {
    return this.#sentAt === null ? 0 : this.#options.clock.elapsed() - this.#sentAt;
  }

  #free(): readonly PendingJob<Payload, Outcome, Part>[] {
    const jobs = this.#jobs;
    this.#jobs = [];
    this.#sentAt = null;
    this.#cancelDeadline();
    this.#worker?.rest();
    return jobs;
  }

  /**
   * Ends the worker. Rejects the current job, or all jobs if the worker had not started; the
   * remaining jobs are queued again. The next jobs start a new worker.
   */
  #drop(worker: JobWorker<Payload, Outcome, Part>, isTimeout: boolean): void {
    if (worker !== this.#worker) return;
    this.#worker = null;
    void worker.end();
    const isBegun = this.#sentAt !== null;
    const spentMs = this.#spentMs();
    const jobs = this.#free();
    const at = Atomics.load(this.#place, 0);
    const lost = isBegun ? jobs.slice(at, at + 1) : jobs;
    for (const job of lost) job.reject(new LostJob(isTimeout, isBegun));
    const givenBack = jobs.filter((job) => !lost.includes(job));
    this.#endTurn(jobs, { spentMs, hasLostJob: isBegun && lost.length > 0, givenBack });
  }

  #endTurn(
    [first]: readonly PendingJob<Payload, Outcome, Part>[],
    turn: Omit<ThreadTurn<Payload, Outcome, Part>, 'holder'>,
  ): void {
    if (first) this.#onFree({ holder: first.holder, ...turn });
  }
}
