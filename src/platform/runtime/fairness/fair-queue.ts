// Jobs queued for a worker, in turns of their holders: the daemon itself, and organizations. Turns
// go by the time that the jobs of a holder took. Each organization has a fair share of the queue;
// the daemon may take all of it.
import { FairShare } from './fair-share.ts';

/** The holder of jobs that the daemon has for itself. */
export const ownHolder = '';

export interface QueuedJob {
  holder: string;
  /** Bytes that the job holds while it is queued. */
  readonly bytes: number;
  /** Small jobs of a holder are taken together. */
  readonly isSmall: boolean;
}

export interface FairQueueOptions {
  mostJobs: number;
  mostBytes: number;
  /** Bytes that each organization may have queued while any are free. */
  firstBytes: number;
}

/** Most small jobs that are taken together. */
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

  /** Puts jobs back that a worker could not end, before the remaining jobs of their holder. */
  giveBack(jobs: readonly Job[]): void {
    for (const job of jobs.toReversed()) {
      this.#listOf(job.holder).unshift(job);
      this.#count(job);
    }
  }

  /** Takes the next jobs of a single holder for a worker; an empty list if no job is queued. */
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

  /** Takes a job out of the queue; false if it is not queued. */
  remove(job: Job): boolean {
    const waiting = this.#waiting.get(job.holder) ?? [];
    const at = waiting.indexOf(job);
    if (at < 0) return false;
    waiting.splice(at, 1);
    if (waiting.length === 0) this.#waiting.delete(job.holder);
    this.#discount(job);
    return true;
  }

  /** Takes the first job, with the small jobs behind it if it is small. */
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
