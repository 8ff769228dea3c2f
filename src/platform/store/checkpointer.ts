// Checkpoints (log → database file) of the writing connection, mostly on a separate thread. SQLite would
// checkpoint inside a commit: 4,000 pages take 30 ms of a core plus the disk, and block the event loop.
// The log restarts only once it is empty, so the writer moves the last few pages between two commits.
import { Worker } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { workerArguments } from '../runtime/worker-arguments.ts';
import type { CheckpointState } from './checkpoint-worker.ts';

const lookEachCommits = 16;
/** Number of pages in the log that are worth an order to the thread (8 MB). */
const worthPages = 1_000;
/** Number of pages after which the log should restart from its beginning (32 MB). */
const wantedPages = 4_000;
/**
 * Number of pages at which SQLite checkpoints inside the commit, if the thread has failed or is too
 * slow (128 MB).
 */
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

  /** Advances the checkpoint. Call it after each commit, outside of any transaction. Never throws. */
  committed(): void {
    try {
      this.#advance();
    } catch {
      // A failure shows later, in the commit that needs the space, as with SQLite's own checkpoints.
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

  /** Orders the thread to empty the log, which removes old versions of changed and deleted rows. */
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
      execArgv: [...workerArguments],
      workerData: { file: this.#file },
      resourceLimits: workerLimits,
    });
    worker.unref();
    worker.on('message', ({ log }: CheckpointState) => {
      this.#isBusy = false;
      this.#isTailWanted = log >= wantedPages;
    });
    // A failed thread loses no data: the pages stay in the log. The next order starts another thread.
    worker.on('error', () => {});
    worker.on('exit', () => {
      this.#worker = null;
      this.#isBusy = false;
    });
    return worker;
  }
}
