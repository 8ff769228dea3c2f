// Jobs queued for a worker. The holders of jobs (organizations, and the daemon itself) take turns:
// the next job is of the holder with the least time so far. Each organization has a fair share of
// the queue; the daemon may use the whole queue.
import { FairShare } from './fair-share.ts';

/** Holder of jobs of the daemon itself. */
export const ownHolder = '';

export interface QueuedJob {
  holder: string;
  /** Bytes that a queued job occupies. */
  readonly bytes: number;
  /** Whether the job is small: a worker gets consecutive small jobs of a holder together. */
  readonly isSmall: boolean;
}

export interface FairQueueOptions {
  mostJobs: number;
  mostBytes: number;
  /**
   * Bytes that each organization may have in the queue whatever the share is, while the queue has
   * space.
   */
  firstBytes: number;
}

/** Most small jobs that a worker gets together. */
const mostTogether = 32;

export class FairQueue<Job extends QueuedJob> {
  readonly #options: FairQueueOptions;
  readonly #jobShare: FairShare;
  readonly #byteShare: FairShare;
  /** Queued jobs by holder. */
  readonly #waiting = new Map<string, Job[]>();
  #jobs = 0;
  #bytes = 0;

  constructor(options: FairQueueOptions) {
    this.#options = options;
    this.#jobShare = new FairShare(options.mostJobs);
    this.#byteShare = new FairShare(options.mostBytes, options.firstBytes);
  }

  hasRoom(holder: string, bytes: number): boolean {
    const { mostJobs, mostBytes } = this.#options;
    if (this.#jobs >= mostJobs || this.#bytes + bytes > mostBytes) return false;
    if (holder === ownHolder) return true;
    return this.#jobShare.mayHold(holder) && this.#byteShare.mayHold(holder, bytes);
  }

  add(job: Job): void {
    this.#listOf(job.holder).push(job);
    this.#count(job);
  }

  /** Requeues jobs that a worker did not finish, before the remaining jobs of their holder. */
  giveBack(jobs: readonly Job[]): void {
    for (const job of jobs.toReversed()) {
      this.#listOf(job.holder).unshift(job);
      this.#count(job);
    }
  }

  /**
   * Removes and returns the next jobs of a single holder, for a worker. Empty without queued jobs.
   */
  take(): Job[] {
    const holder = this.#jobShare.findNext(this.#waiting.keys());
    if (holder === undefined) return [];
    const waiting = this.#listOf(holder);
    const jobs = this.#takeTogether(waiting);
    if (waiting.length === 0) this.#waiting.delete(holder);
    for (const job of jobs) this.#discount(job);
    return jobs;
  }

  /** Records the time that jobs of a holder took. */
  recordTurn(holder: string, ms: number): void {
    this.#jobShare.recordTurn(holder, ms);
  }

  /** Removes a job from the queue; false if it is not queued. */
  remove(job: Job): boolean {
    const waiting = this.#waiting.get(job.holder) ?? [];
    const at = waiting.indexOf(job);
    if (at < 0) return false;
    waiting.splice(at, 1);
    if (waiting.length === 0) this.#waiting.delete(job.holder);
    this.#discount(job);
    return true;
  }

  /**
   * Removes and returns the first job; if it is small, together with the small jobs that follow.
   */
  #takeTogether(waiting: Job[]): Job[] {
    const large = waiting.findIndex((job) => !job.isSmall);
    const together = large < 0 ? waiting.length : large;
    return waiting.splice(0, Math.max(1, Math.min(together, mostTogether)));
  }

  #listOf(holder: string): Job[] {
    const waiting = this.#waiting.get(holder) ?? [];
    this.#waiting.set(holder, waiting);
    return waiting;
  }

  #count({ holder, bytes }: Job): void {
    this.#jobs += 1;
    this.#bytes += bytes;
    this.#jobShare.hold(holder);
    this.#byteShare.hold(holder, bytes);
  }

  #discount({ holder, bytes }: Job): void {
    this.#jobs -= 1;
    this.#bytes -= bytes;
    this.#jobShare.letGo(holder);
    this.#byteShare.letGo(holder, bytes);
  }
}
