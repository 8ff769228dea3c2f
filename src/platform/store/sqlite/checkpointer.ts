// Copies pages of the log to the database file (checkpoint), mostly on a separate thread. SQLite
// would do so in a commit and block the event loop: 4,000 pages take 30 ms of a core plus the disk.
// The log restarts only when all pages are copied, so the writer copies the last few pages between
// two commits.
import type Database from 'better-sqlite3';
import { WorkerThread } from '../../runtime/workers/worker-thread.ts';
import type { CheckpointOrder, CheckpointState } from './checkpoint-worker.ts';

const lookEachCommits = 16;
/** Fewest pages of the log still to be copied for which the thread gets an order (8 MB). */
const worthPages = 1_000;
/** Number of pages after which the log should restart from the beginning (32 MB). */
const wantedPages = 4_000;
/**
 * Number of pages at which SQLite checkpoints in the commit, because the thread failed or is too
 * slow (128 MB).
 */
export const insideCommitPages = 16_000;

type CheckpointThread = WorkerThread<CheckpointOrder, CheckpointState>;

export class Checkpointer {
  readonly #file: string;
  readonly #look: Database.Statement<[], CheckpointState>;
  readonly #finish: Database.Statement<[], CheckpointState>;
  #worker: CheckpointThread | null = null;
  #isBusy = false;
  #commits = 0;
  #isTailWanted = false;

  constructor(file: string, database: Database.Database) {
    this.#file = file;
    this.#look = database.prepare('pragma wal_checkpoint(NOOP)');
    this.#finish = database.prepare('pragma wal_checkpoint(PASSIVE)');
  }

  /**
   * Continues the checkpoint. Call it after each commit, outside of any transaction. Never throws.
   */
  committed(): void {
    try {
      this.#advance();
    } catch {
      // A failure is ignored here: the commit that needs the space will fail, as with checkpoints
      // of SQLite.
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
    this.#worker.order('checkpoint');
  }

  /** Orders the thread to empty the log, which removes old versions of changed and deleted rows. */
  empty(): void {
    this.#isBusy = true;
    this.#worker ??= this.#start();
    this.#worker.order('empty');
  }

  /** Ends the thread before the connections of the store are closed. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = null;
    if (!worker) return;
    worker.hold();
    worker.order('close');
    await worker.ended;
  }

  #start(): CheckpointThread {
    const worker: CheckpointThread = new WorkerThread({
      script: new URL('./checkpoint-worker.ts', import.meta.url),
      name: 'checkpoint',
      heapMb: 16,
      youngMb: 2,
      data: { file: this.#file },
      onReport: ({ log }) => {
        this.#isBusy = false;
        this.#isTailWanted = log >= wantedPages;
      },
      // A failed thread loses no data, because the pages stay in the log. The next order starts a
      // new thread.
      onEnd: () => {
        this.#worker = null;
        this.#isBusy = false;
      },
    });
    worker.rest();
    return worker;
  }
}
