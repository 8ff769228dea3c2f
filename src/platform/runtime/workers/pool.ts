// The pool of workers: jobs that grow with input from outside run in a thread instead of the event
// loop, each with a deadline. Organizations have a share of the queue, and take turns by the time
// of their jobs. Cheap to import: the worker starts with the first job.
//
//   job      | event                              | then
//   ---------+------------------------------------+------------------------------------------------
//   (none)   | no room, its organization paused,  | refused by the error of `refuse`
//            | or the pool closed                 |
//   (none)   | room in the queue                  | queued
//   queued   | the turn of its holder             | with the worker (thread.ts)
//   queued   | its organization is paused, close  | refused by the error of `refuse`
//   queued   | its signal aborts                  | rejected with the reason of the signal
//   worker   | its outcome                        | resolved
//   worker   | deadline, crash                    | rejected with LostJob; a strike for its holder
//   worker   | another job of its group was lost  | queued again, first of its holder
import { FairQueue, ownHolder } from '../fairness/fair-queue.ts';
import { Strikes } from './strikes.ts';
import { JobThread, type PendingJob, type ThreadOptions, type ThreadTurn } from './thread.ts';

/** Reasons to refuse a job that no worker has begun. */
export type Refusal = 'full' | 'paused' | 'closed';

export interface PoolOptions<Payload> extends ThreadOptions<Payload> {
  mostJobs: number;
  mostBytes: number;
  /** Bytes that each organization may queue in any case, while the queue has space. */
  firstBytes: number;
  /** Returns the error for a refused job. */
  refuse(why: Refusal): Error;
}

/** Fields of a job that the caller sets. */
export interface JobRequest<Payload, Part = never> {
  /** Id of an organization; `ownHolder` for work of the daemon itself. */
  holder: string;
  /** Bytes that a queued job occupies. */
  bytes: number;
  /** Whether small jobs of the holder may be sent together with this job. */
  isSmall: boolean;
  /** Returns the message to the worker. `sent`: names of data that this worker already received. */
  payload(sent: Set<string>): Payload;
  /** An abort removes the job from the queue. A job that a worker has begun continues. */
  signal?: AbortSignal | undefined;
  /**
   * Called with a part of the outcome before the rest. If the job is lost later, the caller still
   * has this part.
   */
  onPart?(part: Part): void;
}

const hasLeft = ({ signal }: { signal?: AbortSignal | undefined }) => signal?.aborted === true;

export class WorkerPool<Payload, Outcome, Part = never> {
  readonly #options: PoolOptions<Payload>;
  readonly #strikes: Strikes;
  readonly #queue: FairQueue<PendingJob<Payload, Outcome, Part>>;
  readonly #thread: JobThread<Payload, Outcome, Part>;
  #isClosed = false;

  constructor(options: PoolOptions<Payload>) {
    this.#options = options;
    this.#strikes = new Strikes(options.clock);
    this.#queue = new FairQueue(options);
    this.#thread = new JobThread(options, (turn) => this.#endTurn(turn));
  }

  /**
   * Queues a job for the worker, and resolves with the outcome.
   * @throws LostJob, the error of `refuse`, or the reason of an aborted signal
   */
  run(request: JobRequest<Payload, Part>): Promise<Outcome> {
    const why = this.#refusalOf(request);
    if (why) return Promise.reject(this.#options.refuse(why));
    const { signal } = request;
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      const job = { ...request, resolve, reject };
      this.#queue.add(job);
      const leave = () => {
        if (this.#queue.remove(job)) reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      // Runs after all requests of this turn of the event loop, so that they are sent as a group.
      queueMicrotask(() => this.#pump());
    });
  }

  /** Ends the worker and refuses unfinished jobs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (let jobs = this.#queue.take(); jobs.length > 0; jobs = this.#queue.take()) {
      this.#refuse(jobs, 'closed');
    }
    this.#refuse(await this.#thread.close(), 'closed');
  }

  #refusalOf({ holder, bytes }: JobRequest<Payload, Part>): Refusal | null {
    if (this.#isClosed) return 'closed';
    if (this.#strikes.isPaused(holder)) return 'paused';
    if (!this.#queue.hasRoom(holder, bytes)) this.#pump();
    return this.#queue.hasRoom(holder, bytes) ? null : 'full';
  }

  #refuse(jobs: readonly PendingJob<Payload, Outcome, Part>[], why: Refusal): void {
    for (const job of jobs) job.reject(this.#options.refuse(why));
  }

  #pump(): void {
    while (this.#thread.isFree) {
      const jobs = this.#queue.take();
      const [first] = jobs;
      if (!first) return;
      if (this.#strikes.isPaused(first.holder)) this.#refuse(jobs, 'paused');
      else this.#thread.take(jobs);
    }
  }

  #endTurn({ holder, spentMs, hasLostJob, givenBack }: ThreadTurn<Payload, Outcome, Part>): void {
    this.#queue.recordTurn(holder, spentMs);
    if (hasLostJob && holder !== ownHolder) this.#strikes.add(holder);
    const [left, open] = [givenBack.filter(hasLeft), givenBack.filter((job) => !hasLeft(job))];
    for (const { signal, reject } of left) reject(signal?.reason);
    this.#queue.giveBack(open);
    this.#pump();
  }
}
