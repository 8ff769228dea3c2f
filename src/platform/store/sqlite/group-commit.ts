// Group commit of SQLite: queued writes share a transaction and the sync of the log (log-sync.ts).
// A failed write is rolled back to a savepoint and leaves the group intact.
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { CapacityError } from '../../errors.ts';
import { resumeStep, type Step, stepOfTurn } from '../../runtime/fairness/loop-turns.ts';
import { type Db, type Durability, isStoreTrouble } from '../db.ts';
import { kyselyOn } from '../dialect.ts';
import type { CheckpointState } from './checkpoint-worker.ts';
import { busyTimeoutMs, connectionOver, storeError } from './connections.ts';
import type { LogSync } from './log-sync.ts';

const mostWritesPerCommit = 128;
/**
 * Duration of a commit, in ms, after which the next group waits for writes. A single write is
 * faster.
 */
const muchMs = 1;
const gatherMs = 3;
/** Idle time of the event loop in a millisecond that shows that no writes are coming. */
const idleMs = 0.3;
const busyPauseMs = 5;

interface PendingWrite {
  durability: Durability;
  /** Step that requested the write (loop-turns.ts). */
  step: Step;
  work: (trx: Db) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

function isBusy(error: unknown): boolean {
  return /^SQLITE_BUSY/.test(String((error as { code?: unknown } | null)?.code));
}

/**
 * Waits up to `gatherMs` while the event loop is busy, so that more writes join the transaction.
 * Uses no timer of `Clock`, which does not keep the process alive: a command could exit before its
 * writes are stored.
 */
async function gather(): Promise<void> {
  for (let leftMs = gatherMs; leftMs > 0; leftMs--) {
    const { idle } = performance.eventLoopUtilization();
    await pause(1);
    if (performance.eventLoopUtilization().idle - idle > idleMs) return;
  }
}

/** Write queue of a connection. Up to 128 queued writes share a transaction. */
export class GroupCommit {
  readonly #database: Database.Database;
  readonly trx: Db;
  readonly #afterCommit: () => void;
  readonly #begin: Database.Statement;
  readonly #end: Database.Statement;
  readonly #save: Database.Statement;
  readonly #release: Database.Statement;
  readonly #checkpoint: Database.Statement<[], CheckpointState & { busy: number }>;
  #queue: PendingWrite[] = [];
  #running = false;
  /** Step of the write that runs now. */
  #step: Step = stepOfTurn();
  readonly #log: LogSync;

  constructor(database: Database.Database, log: LogSync, afterCommit: () => void) {
    this.#database = database;
    const connection = connectionOver(database, () => resumeStep(this.#step, true));
    this.trx = kyselyOn('sqlite', connection);
    this.#log = log;
    this.#afterCommit = afterCommit;
    this.#begin = database.prepare('begin immediate');
    this.#end = database.prepare('commit');
    this.#save = database.prepare('savepoint one');
    this.#release = database.prepare('release one');
    this.#checkpoint = database.prepare('pragma wal_checkpoint(PASSIVE)');
  }

  add(write: PendingWrite): void {
    this.#queue.push(write);
    if (this.#running) return;
    this.#running = true;
    setImmediate(() => void this.#drain());
  }

  /**
   * Begins a transaction, after waiting for the write of another process. SQLite's own wait
   * (`busy_timeout`, off on this connection) would block the event loop.
   */
  async #beginWrite(): Promise<void> {
    const giveUpAt = performance.now() + busyTimeoutMs;
    for (;;) {
      try {
        this.#begin.run();
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() > giveUpAt) throw error;
      }
      await pause(busyPauseMs);
    }
  }

  /** Resolves when all queued writes are done. */
  async idle(): Promise<void> {
    while (this.#running) await nextTurn();
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, mostWritesPerCommit);
      const begunAt = performance.now();
      await this.#commit(group);
      // Between groups the event loop serves sockets, and more writes arrive. Under load this pause
      // makes fewer and larger groups: commits write whole pages, 36 KB instead of 44 for each
      // message.
      const wasMuch = performance.now() - begunAt >= muchMs;
      await (wasMuch ? gather() : nextTurn());
    }
    this.#running = false;
  }

  /**
   * After a failed sync, refuses writes until a checkpoint has copied the whole log into the
   * database file and to disk.
   * @throws CapacityError
   */
  #prove(): void {
    if (!this.#log.isDoubtful) return;
    const { busy, log, checkpointed } = this.#checkpoint.get() ?? {
      busy: 1,
      log: 1,
      checkpointed: 0,
    };
    if (busy !== 0 || log !== checkpointed) {
      const text = 'The store cannot write now: its log was not synced';
      throw new CapacityError(text, 1);
    }
    this.#log.proven();
  }

  async #commit(group: PendingWrite[]): Promise<void> {
    const answers: (() => void)[] = [];
    try {
      this.#prove();
      await this.#beginWrite();
      for (const write of group) answers.push(await this.#runOne(write, group.length > 1));
      this.#end.run();
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec('rollback');
      for (const write of group) write.reject(storeError(error));
      return;
    }
    this.#afterCommit();
    this.#answer(group, answers);
  }

  /**
   * Resolves durable writes after the sync. Resolves the remaining writes at once, and syncs later.
   */
  #answer(group: readonly PendingWrite[], answers: readonly (() => void)[]): void {
    const afterSync: number[] = [];
    for (const [index, { durability }] of group.entries()) {
      if (durability === 'now') afterSync.push(index);
      else answers[index]?.();
    }
    if (afterSync.length === 0) {
      this.#log.soon();
      return;
    }
    this.#log.now().then(
      () => {
        for (const index of afterSync) answers[index]?.();
      },
      (error: unknown) => {
        for (const index of afterSync) group[index]?.reject(error);
      },
    );
  }

  async #runOne(write: PendingWrite, shared: boolean): Promise<() => void> {
    this.#step = write.step;
    const later = resumeStep(write.step, true);
    if (later !== undefined) await later;
    if (!shared) {
      const value = await write.work(this.trx);
      return () => write.resolve(value);
    }
    this.#save.run();
    try {
      const value = await write.work(this.trx);
      this.#release.run();
      return () => write.resolve(value);
    } catch (error) {
      // A full disk or a damaged file ends the whole transaction, so no write of the group is kept.
      if (isStoreTrouble(error) || !this.#database.inTransaction) throw error;
      this.#database.exec('rollback to one');
      this.#release.run();
      return () => write.reject(storeError(error));
    }
  }
}
