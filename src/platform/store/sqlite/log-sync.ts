// Syncs SQLite's write-ahead log without blocking the event loop. With `synchronous = FULL`, SQLite
// would fsync in each commit, which blocked the loop for 60 to 85 µs per message at full load. Here
// the fsync runs on a libuv thread, and the response waits for it. A sync covers all earlier
// commits.
import { close, fdatasync, open } from 'node:fs';
import { promisify } from 'node:util';
import { CapacityError } from '../../errors.ts';
import { systemClock } from '../../runtime/clock.ts';

const openFile = promisify(open);
const closeFile = promisify(close);
export type SyncFile = (handle: number) => Promise<void>;
const syncFile: SyncFile = promisify(fdatasync);
const soonMs = 250;

/** Syncs the log at `file`. Tests replace `sync` by a function that fails or waits. */
export class LogSync {
  readonly #file: string;
  readonly #sync: SyncFile;
  #handle: Promise<number> | null = null;
  /** The next sync, which has not begun. It covers every commit until it begins. */
  #next: Promise<void> | null = null;
  #running: Promise<void> = Promise.resolve();
  #cancelSoon: (() => void) | null = null;
  #isDoubtful: boolean = false;

  /**
   * Whether a sync failed since the log was last known to be on disk. The system may drop the pages
   * and report success the next time, so a later sync proves nothing: only `proven` resets this.
   */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  constructor(file: string, sync = syncFile) {
    this.#file = file;
    this.#sync = sync;
  }

  /**
   * Resolves when every commit before the call survives a power failure.
   * @throws CapacityError if the sync fails; whether the commits survive is then unknown.
   */
  now(): Promise<void> {
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  /** Clears `isDoubtful`: a checkpoint has put the content of the log into the database file. */
  proven(): void {
    this.#isDoubtful = false;
  }

  /** Syncs the log within a quarter of a second, unless an earlier call does so first. */
  soon(): void {
    this.#cancelSoon ??= systemClock.after(soonMs, () => {
      this.#cancelSoon = null;
      // The callers were already answered, so the next write reports the failure.
      this.now().catch(() => {});
    });
  }

  /** Waits for the running sync. SQLite makes the last sync itself when it closes. */
  async close(): Promise<void> {
    this.#cancelSoon?.();
    await (this.#next ?? this.#running).catch(() => {});
    const handle = this.#handle;
    this.#handle = null;
    await handle?.then(closeFile);
  }

  async #after(earlier: Promise<void>): Promise<void> {
    await earlier.catch(() => {});
    this.#running = this.#run();
    this.#next = null;
    return this.#running;
  }

  async #run(): Promise<void> {
    this.#cancelSoon?.();
    this.#cancelSoon = null;
    try {
      // The handle may be closed: closing a file drops the process's POSIX locks on it, but SQLite
      // does not lock the log.
      this.#handle ??= openFile(this.#file, 'r');
      await this.#sync(await this.#handle);
    } catch (error) {
      // Closes the handle: after a failure it may report success although data is lost.
      this.#isDoubtful = true;
      const failed = this.#handle;
      this.#handle = null;
      await failed?.then(closeFile).catch(() => {});
      const { code, message } = error as { code?: string; message: string };
      const text = `The store cannot write now (${code ?? 'fsync'}: ${message})`;
      throw new CapacityError(text, 1, { cause: error });
    }
  }
}
