// A worker and the jobs that wait for it, with a share of the room for each organization. Light to import: the
// worker starts with the first job.
import { FairQueue } from '../../../platform/runtime/fair-queue.ts';
import { JobThread, type PendingJob, type ThreadOptions } from './thread.ts';

export interface PoolOptions extends ThreadOptions {
  mostJobs: number;
  mostBytes: number;
  /** Jobs up to this size go to the worker together, at most so many. */
  smallBytes: number;
  mostTogether: number;
  /** Makes the error of a job beyond the room of the queue or its organization's share. */
  full(): Error;
}

/** The part of a job that its caller gives. */
export interface JobRequest<Payload> {
  organizationId: string;
  /** Bytes that the job holds while it waits. */
  bytes: number;
  /** Returns the message to the worker; `sent` remembers the parts that this worker has. */
  payload(sent: Set<string>): Payload;
}

export class WorkerPool<Payload, Outcome> {
  readonly #options: PoolOptions;
  readonly #queue: FairQueue<PendingJob<Payload, Outcome>>;
  readonly #thread: JobThread<Payload, Outcome>;
  #isClosed = false;

  constructor(options: PoolOptions) {
    const { mostJobs, mostBytes, smallBytes, mostTogether } = options;
    this.#options = options;
    this.#queue = new FairQueue({
      mostJobs,
      mostBytes,
      firstBytes: smallBytes,
      mostTogether,
      isSmall: ({ bytes }) => bytes <= smallBytes,
    });
    this.#thread = new JobThread(options, (givenBack) => {
      this.#queue.giveBack(givenBack);
      this.#pump();
    });
  }

  /**
   * Has the worker do a job.
   * @throws the errors of the options
   */
  run({ organizationId: holder, bytes, payload }: JobRequest<Payload>): Promise<Outcome> {
    if (this.#isClosed) return Promise.reject(this.#options.errors.unavailable());
    if (!this.#queue.hasRoom(holder, bytes)) this.#pump();
    if (!this.#queue.hasRoom(holder, bytes)) return Promise.reject(this.#options.full());
    return new Promise((resolve, reject) => {
      this.#queue.add({ holder, bytes, payload, resolve, reject });
      // Runs after all requests of this turn, so that they form a group.
      queueMicrotask(() => this.#pump());
    });
  }

  /** Ends the worker and refuses unfinished jobs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (let jobs = this.#queue.take(); jobs.length > 0; jobs = this.#queue.take()) {
      for (const job of jobs) job.reject(this.#options.errors.unavailable());
    }
    await this.#thread.close();
  }

  #pump(): void {
    const jobs = this.#thread.isFree ? this.#queue.take() : [];
    if (jobs.length > 0) this.#thread.take(jobs);
  }
}
