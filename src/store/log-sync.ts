// Durability of SQLite's write-ahead log without stopping the event loop: the fsync that
// `synchronous = FULL` makes inside of each commit is made on a thread of libuv's instead, and an
// answer waits for it. One sync serves every commit before it. With the fsync inside, the loop stood
// still for 60 to 85 µs of each message at full load.
import { close, fdatasync, open } from 'node:fs';
import { promisify } from 'node:util';
import { CapacityError } from '../errors.ts';
import { systemClock } from '../runtime/clock.ts';

const openFile = promisify(open);
const closeFile = promisify(close);
export type SyncFile = (handle: number) => Promise<void>;
const syncFile: SyncFile = promisify(fdatasync);
const soonMs = 250;

/** Syncs the log at `file`; `sync` is replaced by tests that make it fail or wait. */
export class LogSync {
  readonly #file: string;
  readonly #sync: SyncFile;
  #handle: Promise<number> | null = null;
  /** The sync that has not begun yet: whoever committed before it does may wait for it. */
  #next: Promise<void> | null = null;
  #running: Promise<void> = Promise.resolve();
  #cancelSoon: (() => void) | null = null;
  #isDoubtful: boolean = false;

  /**
   * Since a sync failed: the system may have dropped the pages and report success the next time, so that
   * what is in the log is not known to be on the disk until it is proven.
   */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  constructor(file: string, sync = syncFile) {
    this.#file = file;
    this.#sync = sync;
  }

  /**
   * Resolves when all that was committed before the call survives a power failure.
   * @throws CapacityError where the disk does not take it: whether it is kept is not known then.
   */
  now(): Promise<void> {
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  /** What was in the log is on the disk otherwise: in the database file. */
  proven(): void {
    this.#isDoubtful = false;
  }

  /** Has the log synced within a quarter of a second, if nothing else does. */
  soon(): void {
    this.#cancelSoon ??= systemClock.after(soonMs, () => {
      this.#cancelSoon = null;
      // Those that asked for it have been answered; who asks next is told of the trouble.
      this.now().catch(() => {});
    });
  }

  /** Waits for the sync under way. SQLite makes the last one itself, as it closes. */
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
      // POSIX locks go with any handle of a file; SQLite holds none on its log.
      this.#handle ??= openFile(this.#file, 'r');
      await this.#sync(await this.#handle);
    } catch (error) {
      // A handle that failed may report success the next time although data is lost: none is kept.
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
