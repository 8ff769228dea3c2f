// Opens the store that `database.url` names, migrates it for a daemon, and prevents a second daemon
// on the same SQLite file. This file also inspects a store without changing it, and makes the
// online backup of SQLite, for example before a migration.
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';
import Database from 'better-sqlite3';
import { codeOf, messageOf, NoStoreError, UnreachableError } from '../errors.ts';
import { type Clock, systemClock } from '../runtime/clock.ts';
import { type Random, systemRandom } from '../runtime/random.ts';
import { withLastWrites } from './changes/last-writes.ts';
import type { Store } from './db.ts';
import {
  checkSchema,
  hasMigrations,
  type MigrationStatus,
  migrate,
  migrationStatus,
  migrations,
} from './migrate.ts';
import type { Migration } from './migration.ts';
import type { PostgresOptions } from './postgres/postgres.ts';
import type { DatabaseSettings } from './postgres/settings.ts';
import { companions, removeWithCompanions } from './sqlite/database-files.ts';
import { lockFile } from './sqlite/file-lock.ts';
import { openSqlite } from './sqlite/sqlite.ts';

/** Location of the store: a file, or a server. */
type StoreLocation = { kind: 'sqlite'; file: string } | { kind: 'postgres'; url: string };

/** Parses `database.url`. A relative path of a SQLite file is relative to `dataDir`. */
export function storeLocation(databaseUrl: string, dataDir: string): StoreLocation {
  if (!databaseUrl.startsWith('sqlite:')) return { kind: 'postgres', url: databaseUrl };
  const path = databaseUrl.slice('sqlite:'.length);
  return { kind: 'sqlite', file: isAbsolute(path) ? path : join(dataDir, path) };
}

/**
 * Describes the location for messages: the file, or server and database without user and password.
 */
export function describeLocation(location: StoreLocation): string {
  if (location.kind === 'sqlite') return location.file;
  const { protocol, host, pathname } = new URL(location.url);
  return `${protocol}//${host}${pathname}`;
}

function noStore(location: StoreLocation): NoStoreError {
  return new NoStoreError(`There is no store at ${describeLocation(location)}`);
}

/**
 * Tells whether the file exists.
 * @throws UnreachableError if the file system refuses the answer
 */
export function isStoreFileThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    const denied = ['EACCES', 'EPERM'].includes(codeOf(error));
    const advice = denied ? ': run the command as the account of the daemon' : '';
    throw new UnreachableError(`The store ${file} cannot be read (${messageOf(error)})${advice}`, {
      cause: error,
    });
  }
}

/**
 * Tells whether the store exists; creates nothing.
 * @throws UnreachableError if the store cannot be read
 */
export async function isStoreThere(database: DatabaseSettings, dataDir: string): Promise<boolean> {
  return (await statusOrNone(database, dataDir)).length > 0;
}

/** Tells whether the store exists but lacks migrations of this version. @throws UnreachableError */
export async function isStoreEarlier(
  database: DatabaseSettings,
  dataDir: string,
): Promise<boolean> {
  return (await statusOrNone(database, dataDir)).some(({ appliedAt }) => appliedAt === null);
}

function statusOrNone(database: DatabaseSettings, dataDir: string): Promise<MigrationStatus[]> {
  return readMigrationStatus(database, dataDir).catch((error: unknown) => {
    if (error instanceof NoStoreError) return [];
    throw error;
  });
}

/** Opens a store on a server. Loads the PostgreSQL driver only here. */
async function openServer(database: DatabaseSettings, options?: PostgresOptions): Promise<Store> {
  const { openPostgres } = await import('./postgres/postgres.ts');
  return openPostgres(database, options);
}

interface OpenOptions {
  /** Source of the jitter between retries on PostgreSQL. */
  random?: Random;
  /** Whether to refuse a missing store instead of creating it. */
  mustExist?: boolean;
  /**
   * Handling of an earlier schema: a daemon migrates it, commands refuse it (a running daemon may
   * need it), and a few commands read it.
   */
  earlier?: 'migrate' | 'refuse' | 'read';
  /** Deadline in ms of reads outside of the event loop (aside.ts). */
  mostReadMs?: number | undefined;
  /** Migrations of this version; tests of upgrades pass their own. */
  known?: readonly Migration[];
}

/**
 * Opens the store, and migrates it unless `earlier` says otherwise; on SQLite an upgrade leaves
 * `<file>.before-migration-<time>` behind. `clock` dates migrations.
 * @throws UnreachableError if the store cannot be opened or belongs to a different version, or a
 * daemon uses a file to migrate; OlderStoreError for a refused schema; NoStoreError if the store is
 * missing and `mustExist` is set.
 */
export async function openStore(
  database: DatabaseSettings,
  dataDir: string,
  clock: Clock,
  {
    random = systemRandom(),
    mustExist = false,
    earlier = 'migrate',
    mostReadMs,
    known = migrations,
  }: OpenOptions = {},
): Promise<Store> {
  const location = storeLocation(database.url, dataDir);
  if (mustExist && location.kind === 'sqlite' && !isStoreFileThere(location.file))
    throw noStore(location);
  if (location.kind === 'sqlite') {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    makePrivate(location.file);
  }
  const store = withLastWrites(
    location.kind === 'sqlite'
      ? openSqlite(location.file, { mostReadMs })
      : await openServer(database, { random, mostReadMs }),
  );
  try {
    if (mustExist && !(await hasMigrations(store.db))) throw noStore(location);
    const beforeChange = async () => {
      if (location.kind === 'postgres') return;
      if (isDaemonRunning(location) === true) throw new OtherDaemonError(location.file);
      await backupSqlite(location.file, snapshotName(location.file, clock));
    };
    if (earlier === 'migrate') {
      await withPatience(store, { location, database }, (patient) =>
        migrate(patient, clock, beforeChange, known),
      );
    } else await checkSchema(store.db, known, { allowsEarlier: earlier === 'read' });
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/**
 * Checks that the store exists, with the schema of this version.
 * @throws the errors of `openStore`
 */
export async function requireStore(database: DatabaseSettings, dataDir: string): Promise<void> {
  const options = { mustExist: true, earlier: 'refuse' } as const;
  const store = await openStore(database, dataDir, systemClock, options);
  await store.close();
}

/**
 * Runs migrations on the store. If `database.statementTimeoutSeconds` is set, runs them on
 * connections without this time-out.
 */
async function withPatience(
  store: Store,
  { location, database }: { location: StoreLocation; database: DatabaseSettings },
  work: (patient: Store) => Promise<unknown>,
): Promise<void> {
  const isLimited = (database.statementTimeoutSeconds ?? null) !== null;
  if (location.kind === 'sqlite' || !isLimited) {
    await work(store);
    return;
  }
  const patient = await openServer({ ...database, statementTimeoutSeconds: null });
  try {
    await work(patient);
  } finally {
    await patient.close();
  }
}

/**
 * Creates a missing file, readable only for this account; corrects the mode of an existing file.
 * SQLite creates the log and the shared-memory index with the same mode.
 */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600));
  } catch {
    // SQLite reports the fault on opening the file.
    return;
  }
  for (const suffix of ['', ...companions]) {
    if (existsSync(`${file}${suffix}`)) chmodSync(`${file}${suffix}`, 0o600);
  }
}

function snapshotName(file: string, clock: Clock): string {
  return `${file}.before-migration-${new Date(clock.now()).toISOString().replaceAll(':', '')}`;
}

/**
 * Copies a live SQLite store with the online backup API, as of now, without blocking readers or
 * writers. Meanwhile the log of the store grows.
 */
export async function backupSqlite(
  file: string,
  target: string,
  onProgress?: (done: number, total: number) => void,
): Promise<void> {
  const source = new Database(file, { readonly: true, fileMustExist: true });
  try {
    // The target is created with a private mode first. Otherwise everybody could read the copy, log
    // and index until the copy ends.
    removeWithCompanions(target);
    closeSync(openSync(target, 'wx', 0o600));
    // Without an open read, each commit of another process would restart the copy.
    source.exec('begin; select count(*) from sqlite_master');
    await source.backup(target, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress?.(totalPages - remainingPages, totalPages);
        return 2_000;
      },
    });
  } finally {
    source.close();
  }
}

function lockFileOf(file: string): string {
  return `${file}.daemon`;
}

function pidFileOf(file: string): string {
  return `${lockFileOf(file)}.pid`;
}

/**
 * Returns the pid that the last daemon of a SQLite store recorded; null after a regular stop. The
 * pid of a killed daemon remains.
 */
export function daemonPid(file: string): number | null {
  const pidFile = pidFileOf(file);
  return existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : null;
}

/** Error if another daemon has the lock of a SQLite store. */
export class OtherDaemonError extends UnreachableError {
  constructor(file: string) {
    const pid = daemonPid(file);
    const named = pid === null ? '' : ` (pid ${pid})`;
    super(
      `Another svc daemon${named} already runs on ${file}: stop it first, or use another dataDir`,
    );
  }
}

/**
 * Longest wait of a daemon for the lock, in ms: a command that looks for a daemon locks briefly.
 */
const glanceMs = 200;

/**
 * Takes the lock of a daemon on a SQLite store until `release` or the end of the process; does
 * nothing for PostgreSQL. It is a lock of the operating system on `<file>.daemon`, so a crash
 * leaves no stale lock.
 * @throws OtherDaemonError naming the process that has it; UnreachableError if the lock cannot be
 * written
 */
export function lockDaemon(location: StoreLocation): { release(): void } {
  if (location.kind === 'postgres') return { release: () => {} };
  const pidFile = pidFileOf(location.file);
  const lock = lockFile(lockFileOf(location.file), glanceMs);
  if (!lock) throw new OtherDaemonError(location.file);
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  return {
    release() {
      rmSync(pidFile, { force: true });
      lock.release();
    },
  };
}

/**
 * Tells whether a daemon runs on this store; null if unknown. On a server a daemon may run on any
 * machine, and the lock file may be unreadable for this account.
 */
export function isDaemonRunning(location: StoreLocation): boolean | null {
  if (location.kind === 'postgres') return null;
  const file = lockFileOf(location.file);
  if (!existsSync(file)) return false;
  let lock: Database.Database | undefined;
  try {
    lock = new Database(file, { readonly: true, timeout: 0 });
    lock.prepare('select count(*) from sqlite_master').get();
    return false;
  } catch (error) {
    return codeOf(error) === 'SQLITE_BUSY' ? true : null;
  } finally {
    lock?.close();
  }
}

/**
 * Returns every migration that this version knows or the store has, with the time when it was
 * applied, or null.
 * @throws UnreachableError if the store cannot be opened or is of a different version; NoStoreError
 * if it does not exist.
 */
export async function readMigrationStatus(
  database: DatabaseSettings,
  dataDir: string,
): Promise<MigrationStatus[]> {
  const location = storeLocation(database.url, dataDir);
  if (location.kind === 'sqlite' && !isStoreFileThere(location.file)) throw noStore(location);
  const store = location.kind === 'sqlite' ? openSqlite(location.file) : await openServer(database);
  try {
    if (!(await hasMigrations(store.db))) throw noStore(location);
    await checkSchema(store.db, migrations, { allowsEarlier: true });
    return await migrationStatus(store.db);
  } finally {
    await store.close();
  }
}
