// The embedded engine: a writing connection with group commit, a reading connection (WAL: reads
// never wait for writes). better-sqlite3 is synchronous, so each statement may begin a later turn
// of the event loop (turns.ts); the fsync of a commit blocks none (log-sync.ts). Commits of other
// processes are noticed through `PRAGMA data_version` (15 µs a poll). This polls in real time even
// if a test's clock is virtual, as other processes do not share that clock.
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { CapacityError, UnreachableError } from '../../errors.ts';
import { systemClock } from '../../runtime/clock.ts';
import { resumeStep, type Step, sliceTurns, stepOfTurn } from '../../runtime/fairness/turns.ts';
import { AsideReads, asideMs } from '../aside.ts';
import { type Db, type Durability, isStoreTrouble, type Store } from '../db.ts';
import { kyselyOn, noStreaming } from '../dialect.ts';
import { atMostEach, reportEachMs } from '../rows/at-most-each.ts';
import { setOverwriting } from '../rows/overwriting.ts';
import type { CheckpointState } from './checkpoint-worker.ts';
import { Checkpointer, insideCommitPages } from './checkpointer.ts';
import { LogSync, type SyncFile } from './log-sync.ts';
import { openSqliteAside } from './sqlite-aside.ts';

const preparedStatements = 500;
const mostWritesPerCommit = 128;
const writerCacheKb = 8_000;
const readerCacheKb = 4_000;
const changePollMs = 50;
/**
 * Duration of a commit after which the next group waits for more writes. A single write takes less.
 */
const muchMs = 1;
const gatherMs = 3;
/** Idle time within a millisecond of the event loop that shows that no further write is coming. */
const idleMs = 0.3;
/**
 * Longest wait for another process that holds the write lock: commands keep transactions to
 * milliseconds.
 */
const busyTimeoutMs = 2_000;
const busyPauseMs = 5;

/** A Kysely connection over better-sqlite3 that keeps prepared statements. */
function connectionOver(
  database: Database.Database,
  slice: () => Promise<void> | undefined = sliceTurns,
): DatabaseConnection {
  // Not an LRU cache: tracking the last use took 2 % of the event loop at full load.
  const statements = new Map<string, Database.Statement>();
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      // Without a wait, no turn of the microtasks: 4 % of a send.
      const later = slice();
      if (later !== undefined) await later;
      let statement = statements.get(query.sql);
      if (!statement) {
        statement = database.prepare(query.sql);
        if (statements.size >= preparedStatements) statements.clear();
        statements.set(query.sql, statement);
      }
      if (statement.reader) return { rows: statement.all(query.parameters) as R[] };
      const { changes } = statement.run(query.parameters);
      return { rows: [], numAffectedRows: BigInt(changes) };
    },
    streamQuery: noStreaming,
  };
}

/** Wraps `connectionOver` for single reads: converts trouble of the store to CapacityError. */
function readingConnectionOver(database: Database.Database): DatabaseConnection {
  const connection = connectionOver(database);
  return {
    ...connection,
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      try {
        return await connection.executeQuery<R>(query);
      } catch (error) {
        throw storeError(error, 'be read');
      }
    },
  };
}

function open(file: string, readonly: boolean): Database.Database {
  const database = new Database(file, { readonly, timeout: busyTimeoutMs });
  if (!readonly) {
    // page_size must come before the first table.
    database.pragma('page_size = 8192');
    database.pragma('journal_mode = WAL');
    // SQLite syncs checkpoints and new logs, log-sync.ts syncs commits. Together that equals FULL.
    database.pragma('synchronous = NORMAL');
    database.pragma('foreign_keys = ON');
    // Overwrites deleted rows whose page is written anyway (docs/operations.md, "Deletion").
    database.pragma('secure_delete = FAST');
    database.pragma(`wal_autocheckpoint = ${insideCommitPages}`);
  }
  database.pragma(`cache_size = -${readonly ? readerCacheKb : writerCacheKb}`);
  database.pragma('temp_store = MEMORY');
  return database;
}

interface PendingWrite {
  durability: Durability;
  /** The step that asked for the write. */
  step: Step;
  work: (trx: Db) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

function storeError(error: unknown, wish: 'write' | 'be read' = 'write'): unknown {
  if (!isStoreTrouble(error)) return error;
  const { code, message } = error as { code: string; message: string };
  const text = `The store cannot ${wish} now (${code}: ${message})`;
  return new CapacityError(text, 1, { cause: error });
}

function isBusy(error: unknown): boolean {
  return /^SQLITE_BUSY/.test(String((error as { code?: unknown } | null)?.code));
}

/**
 * Waits up to `gatherMs` while the event loop is busy, so that more writes join the transaction.
 * Uses no timer of `Clock`: such a timer does not keep the process alive, so a command could exit
 * before the writes of the command are stored.
 */
async function gather(): Promise<void> {
  for (let leftMs = gatherMs; leftMs > 0; leftMs--) {
    const { idle } = performance.eventLoopUtilization();
    await pause(1);
    if (performance.eventLoopUtilization().idle - idle > idleMs) return;
  }
}

/**
 * Write queue of a connection: all writes that wait when a turn of it begins share a commit.
 */
class GroupCommit {
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
  /** The step of the write under way. */
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
   * Begins a transaction; waits for another process to end its write. SQLite's own wait
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

  /** Resolves when all queued writes have been made. */
  async idle(): Promise<void> {
    while (this.#running) await nextTurn();
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, mostWritesPerCommit);
      const begunAt = performance.now();
      await this.#commit(group);
      // Between groups the event loop serves sockets, and more writes join. Under load this pause
      // makes groups fewer and larger: commits write whole pages, and a message costs 36 KB of them
      // instead of 44.
      const wasMuch = performance.now() - begunAt >= muchMs;
      await (wasMuch ? gather() : nextTurn());
    }
    this.#running = false;
  }

  /**
   * After a failed sync nothing is written until a checkpoint has moved the whole log into the
   * database file, and that file is on disk.
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
   * Resolves durable writes after the sync. Resolves the remaining writes at once and syncs later.
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
      // A full disk or a damaged file ends the whole transaction: no write of the group is kept.
      if (isStoreTrouble(error) || !this.#database.inTransaction) throw error;
      this.#database.exec('rollback to one');
      this.#release.run();
      return () => write.reject(storeError(error));
    }
  }
}

/**
 * Opens the writing and the reading connection.
 * @throws UnreachableError
 */
function openBoth(file: string): { writer: Database.Database; reader: Database.Database } {
  try {
    const writer = open(file, false);
    const reader = open(file, true);
    writer.pragma('busy_timeout = 0');
    return { writer, reader };
  } catch (error) {
    const reason = (error as Error).message;
    throw new UnreachableError(`The store ${file} cannot be opened: ${reason}`, { cause: error });
  }
}

interface SqliteOptions {
  /** Replaces the sync; tests hold it or make it fail. */
  sync?: SyncFile;
  /** Deadline of reads aside (aside.ts). */
  mostReadMs?: number | undefined;
}

/**
 * Opens (and creates) the SQLite store.
 * @throws UnreachableError when the file cannot be opened or is not a database.
 */
export function openSqlite(
  file: string,
  { sync, mostReadMs = asideMs }: SqliteOptions = {},
): Store {
  const { writer, reader } = openBoth(file);
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const notify = atMostEach(systemClock, reportEachMs, tell);
  const log = new LogSync(`${file}-wal`, sync);
  const checkpoints = new Checkpointer(file, writer);
  const commits = new GroupCommit(writer, log, () => {
    checkpoints.committed();
    notify();
  });
  setOverwriting(commits.trx, (mode) => writer.pragma(`secure_delete = ${mode}`));
  const others = watchOthers(writer, notify);
  const aside = new AsideReads(
    () => openSqliteAside(file, busyTimeoutMs, mostReadMs, (error) => storeError(error, 'be read')),
    mostReadMs,
  );
  const write = <T>(work: (trx: Db) => Promise<T>, durability: Durability = 'now') =>
    new Promise<T>((resolve, reject) => {
      const step = stepOfTurn();
      commits.add({ durability, step, work, resolve: resolve as (value: unknown) => void, reject });
    });
  return {
    kind: 'sqlite',
    db: kyselyOn('sqlite', readingConnectionOver(reader)),
    write,
    aside: (organizationId, read) => aside.run(organizationId, read),
    emptyLog: () => checkpoints.empty(),
    onChange(listener) {
      listeners.add(listener);
      others.start();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) others.stop();
      };
    },
    isWritable: () =>
      write(async () => touch(writer)).then(
        () => true,
        () => false,
      ),
    async close() {
      others.stop();
      listeners.clear();
      await aside.close();
      await commits.idle();
      await log.close();
      await checkpoints.close();
      reader.close();
      writer.close();
    },
  };
}

/**
 * Reads the version. Returns null on failure, which the next read or write reports to the caller.
 */
function dataVersion(database: Database.Database): number | null {
  try {
    return database.pragma('data_version', { simple: true }) as number;
  } catch (error) {
    if (isStoreTrouble(error)) return null;
    throw error;
  }
}

/**
 * Returns a watcher that calls `notify` after commits by other processes, from `start` to `stop`.
 */
function watchOthers(database: Database.Database, notify: () => void) {
  let cancel: (() => void) | null = null;
  let seenVersion = dataVersion(database);
  const poll = () => {
    const version = dataVersion(database) ?? seenVersion;
    if (version !== seenVersion) notify();
    seenVersion = version;
    cancel = systemClock.after(changePollMs, poll);
  };
  return {
    start() {
      cancel ??= systemClock.after(changePollMs, poll);
    },
    stop() {
      cancel?.();
      cancel = null;
    },
  };
}

/** Makes a write without an effect on any row that is read. */
function touch(database: Database.Database): void {
  database.exec('update probe set counter = counter + 1');
}
