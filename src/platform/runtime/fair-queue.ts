// Jobs that wait for a worker, in turns of their holders: the daemon itself, and organizations. Of the room
// each organization has its fair share; the daemon may take all of it.
import { FairShare } from './fair-share.ts';

/** The holder of jobs that the daemon has for itself. */
export const ownHolder = '';

export interface QueuedJob {
  holder: string;
  /** Bytes that the job holds while it is queued. */
  readonly bytes: number;
  /** Small jobs of one holder are taken together. */
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
  /** Queued jobs by holder. The first holder in the map has the next turn. */
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

  /** Puts jobs back that a worker could not end, before the others of their holder. */
  giveBack(jobs: readonly Job[]): void {
    for (const job of jobs.toReversed()) {
      this.#listOf(job.holder).unshift(job);
      this.#count(job);
    }
  }

  /** Takes the next jobs for a worker; an empty list if none is queued. */
  take(): Job[] {
    const [next] = this.#waiting;
    if (!next) return [];
    const [holder, waiting] = next;
    const jobs = this.#takeTogether(waiting);
    this.#waiting.delete(holder);
    if (waiting.length > 0) this.#waiting.set(holder, waiting);
    for (const job of jobs) this.#discount(job);
    return jobs;
  }

  /** Takes the first that waits, with those behind it that go along. */
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
