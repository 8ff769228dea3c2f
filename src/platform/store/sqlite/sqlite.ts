// The embedded engine: a writing connection with group commit (group-commit.ts), a reading
// connection (WAL: reads never wait for writes). better-sqlite3 is synchronous, so each statement
// may begin a later turn of the event loop (loop-turns.ts); the fsync of a commit runs on a
// separate thread (log-sync.ts). `PRAGMA data_version` shows commits of other processes (15 µs a
// poll). It is polled in real time even with a virtual clock, which other processes do not share.
import type Database from 'better-sqlite3';
import { systemClock } from '../../runtime/clock.ts';
import { stepOfTurn } from '../../runtime/fairness/loop-turns.ts';
import { AsideReads, asideMs } from '../aside.ts';
import { type Db, type Durability, isStoreTrouble, type Store } from '../db.ts';
import { kyselyOn } from '../dialect.ts';
import { atMostEach, reportEachMs } from '../rows/at-most-each.ts';
import { setOverwriting } from '../rows/overwriting.ts';
import { Checkpointer } from './checkpointer.ts';
import { busyTimeoutMs, openBoth, readingConnectionOver, storeError } from './connections.ts';
import { GroupCommit } from './group-commit.ts';
import { LogSync, type SyncFile } from './log-sync.ts';
import { openSqliteAside } from './sqlite-aside.ts';

const changePollMs = 50;

interface SqliteOptions {
  /** Replaces the sync. Tests delay it or make it fail. */
  sync?: SyncFile;
  /** Deadline in ms of reads outside of the event loop (aside.ts). */
  mostReadMs?: number | undefined;
}

/**
 * Opens (and creates) the SQLite store.
 * @throws UnreachableError if the file cannot be opened or is not a database.
 */
export function openSqlite(
  file: string,
  { sync, mostReadMs = asideMs }: SqliteOptions = {},
): Store {
  const { writer, reader } = openBoth(file);
  const listeners = new Set<() => void>();
  const callListeners = () => {
    for (const listener of listeners) listener();
  };
  const notify = atMostEach(systemClock, reportEachMs, callListeners);
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
 * Returns `data_version`, which grows with commits of other connections; null after a failure,
 * which the next read or write will report.
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

/** Changes a row that nobody reads, to find out whether the store can be written. */
function touch(database: Database.Database): void {
  database.exec('update probe set counter = counter + 1');
}
