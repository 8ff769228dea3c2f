// Checkpoints (log → database file) of the writing connection, mostly on a thread of their own: done
// inside a commit, as SQLite does it, one of 4,000 pages takes 30 ms of a core and waits for the disk
// besides, and the event loop stands still for it. The log can begin anew only when nothing is left
// in it, so that the writer itself moves the few pages that came meanwhile, between two commits.
import { Worker } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import type { CheckpointState } from './checkpoint-worker.ts';

const lookEachCommits = 16;
/** Pages in the log that are worth an order to the thread (8 MB). */
const worthPages = 1_000;
/** Pages after which the log is to begin anew (32 MB). */
const wantedPages = 4_000;
/** Where the thread does not keep up or is gone, SQLite checkpoints inside the commit (128 MB). */
export const insideCommitPages = 16_000;

const workerLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };

export class Checkpointer {
  readonly #file: string;
  readonly #look: Database.Statement<[], CheckpointState>;
  readonly #finish: Database.Statement<[], CheckpointState>;
  #worker: Worker | null = null;
  #isBusy = false;
  #commits = 0;
  #isTailWanted = false;

  constructor(file: string, database: Database.Database) {
    this.#file = file;
    this.#look = database.prepare('pragma wal_checkpoint(NOOP)');
    this.#finish = database.prepare('pragma wal_checkpoint(PASSIVE)');
  }

  /** To be called after each commit, outside of any transaction. Never throws. */
  committed(): void {
    try {
      this.#advance();
    } catch {
      // As with SQLite's own checkpoints: trouble shows in the commit that needs the room.
    }
  }

  #advance(): void {
    if (this.#isTailWanted) {
      this.#isTailWanted = false;
      this.#finish.get();
      return;
    }
    this.#commits += 1;
    if (this.#isBusy || this.#commits < lookEachCommits) return;
    this.#commits = 0;
    const { log, checkpointed } = this.#look.get() ?? { log: 0, checkpointed: 0 };
    if (log - checkpointed < worthPages) return;
    this.#isBusy = true;
    this.#worker ??= this.#start();
    this.#worker.postMessage('checkpoint');
  }

  /** Has the log emptied, so that nothing is left in it of rows that were changed or deleted. */
  empty(): void {
    this.#isBusy = true;
    this.#worker ??= this.#start();
    this.#worker.postMessage('empty');
  }

  /** Ends the thread, before the connections of the store are closed. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    if (!worker) return;
    await new Promise<void>((resolve) => {
      worker.ref();
      worker.once('exit', () => resolve());
      worker.postMessage('close');
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL('./checkpoint-worker.ts', import.meta.url), {
      execArgv: [],
      workerData: { file: this.#file },
      resourceLimits: workerLimits,
    });
    worker.unref();
    worker.on('message', ({ log }: CheckpointState) => {
      this.#isBusy = false;
      this.#isTailWanted = log >= wantedPages;
    });
    // Its fault is no one's loss: the pages stay in the log. The next order starts another.
    worker.on('error', () => {});
    worker.on('exit', () => {
      this.#worker = null;
      this.#isBusy = false;
    });
    return worker;
  }
}
