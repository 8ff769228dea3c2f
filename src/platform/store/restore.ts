// Backups of the embedded store as files. A backup is written whole or not at all. It is checked
// before a restore, which keeps the replaced store. The commands are commands/backup.ts and
// restore.ts.
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { ConflictError, NoStoreError, UnreachableError, ValidationError } from '../errors.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { putSecret, secretFile } from '../runtime/secrets.ts';
import { foreignSchema } from './migrate.ts';
import { backupSqlite, isStoreFileThere, lockDaemon } from './open.ts';

/** Suffixes of SQLite's files next to a database: its write-ahead log, and the index of the log. */
const companions = ['-wal', '-shm'];

function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function removeWithCompanions(file: string): void {
  for (const suffix of ['', ...companions]) rmSync(`${file}${suffix}`, { force: true });
}

/**
 * Name of a table that only backups have: it holds the secret of the source installation, if
 * requested.
 */
const secretTable = 'backup_secret';

/** Options of a backup. */
export interface BackupOptions {
  overwrite: boolean;
  /** Secret of the installation, if the backup is to include it. */
  secret?: Buffer | undefined;
  onProgress: (done: number, total: number) => void;
}

/** Makes the copy one plain file: in WAL mode each access would create two more files. */
function finishCopy(partial: string, secret: Buffer | undefined): void {
  const copy = new Database(partial, { fileMustExist: true });
  try {
    copy.pragma('journal_mode = DELETE');
    if (!secret) return;
    copy.exec(`create table ${secretTable} (key blob not null)`);
    copy.prepare(`insert into ${secretTable} values (?)`).run(secret);
  } finally {
    copy.close();
  }
}

/**
 * Copies the live store at `file` to `target`, durably, without stopping daemon or commands.
 * @returns the size in bytes.
 * @throws NoStoreError if the store does not exist; ConflictError if `target` exists and `overwrite` is not
 * set.
 */
export async function saveBackup(
  file: string,
  target: string,
  { overwrite, secret, onProgress }: BackupOptions,
): Promise<number> {
  if (!isStoreFileThere(file)) throw new NoStoreError(`There is no store at ${file}`);
  if (existsSync(target) && !overwrite) {
    throw new ConflictError('backup', `${target} exists already: --overwrite replaces it`);
  }
  const partial = `${target}.partial`;
  try {
    await backupSqlite(file, partial, onProgress);
    finishCopy(partial, secret);
    onProgress(1, 1);
    syncPath(partial);
    renameSync(partial, target);
    syncPath(dirname(target));
  } finally {
    removeWithCompanions(partial);
  }
  return statSync(target).size;
}

/** Contents of a checked backup. */
interface BackupContents {
  /** Last migration of the backup. */
  migration: string;
  /** Secret of the source installation, if the backup includes it. */
  secret: Buffer | null;
}

/**
 * Checks that the backup can be restored; changes nothing.
 * @throws ValidationError if the file is damaged or not a backup.
 */
export function verifyBackup(file: string): BackupContents {
  return checkBackup(file, file, { readonly: true });
}

/**
 * Checks a file and returns its contents.
 * @throws ValidationError if the file is not a store of ours, or is damaged.
 */
function checkBackup(
  copy: string,
  shownAs: string,
  { readonly }: { readonly: boolean },
): BackupContents {
  const refuse = (problem: string) => new ValidationError(`${shownAs} ${problem}`);
  let database: Database.Database | undefined;
  try {
    database = new Database(copy, { fileMustExist: true, readonly });
    // Folds the log into one plain file.
    if (!readonly) database.pragma('journal_mode = DELETE');
    const found = database.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok') throw refuse(`is damaged: ${found}`);
    const isOurs = database.prepare("select 1 from sqlite_master where name = 'migrations'").get();
    if (!isOurs) throw refuse('is a database, but not a store of svc');
    const names = database
      .prepare('select name from migrations order by name')
      .pluck()
      .all() as string[];
    const foreign = foreignSchema(names);
    if (foreign) throw refuse(foreign);
    return { migration: names.at(-1) ?? '', secret: readSecretOf(database) };
  } catch (error) {
    if (error instanceof ValidationError) throw error;
    throw refuse(`cannot be read as a database: ${(error as Error).message}`);
  } finally {
    database?.close();
  }
}

function readSecretOf(database: Database.Database): Buffer | null {
  const has = database.prepare('select 1 from sqlite_master where name = ?').get(secretTable);
  if (!has) return null;
  return database.prepare(`select key from ${secretTable}`).pluck().get() as Buffer;
}

/** SQL that changes a restored store, if it has the table. */
export interface RestoredChange {
  table: string;
  sql: string;
}

/**
 * Removes the secret from the copy, as an installation keeps it in a separate file, never in the store, and applies
 * the changes.
 */
function adaptCopy(copy: string, changes: readonly RestoredChange[]): void {
  const database = new Database(copy, { fileMustExist: true });
  try {
    database.pragma('secure_delete = ON');
    database.exec(`drop table if exists ${secretTable}`);
    const has = database.prepare('select 1 from sqlite_master where name = ?').pluck();
    for (const { table, sql } of changes) if (has.get(table)) database.exec(sql);
  } finally {
    database.close();
  }
}

/** Writes the log of the store into `file`. Ignores a damaged store, as it is being replaced. */
function foldLog(file: string): void {
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { fileMustExist: true, timeout: 2_000 });
    // Fails while another process has the store open.
    database.pragma('journal_mode = DELETE');
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    if (!/^SQLITE_(BUSY|LOCKED)/.test(code)) return;
    throw new ConflictError(
      'store',
      `Another command uses ${file} now: try again when it has ended`,
    );
  } finally {
    database?.close();
  }
}

/** Moves the restored copy to `file`. At every instant `file` names a whole store. */
function replaceStore(file: string, copy: string, keptAs: string): void {
  for (const suffix of companions) {
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${keptAs}${suffix}`);
  }
  if (existsSync(file)) linkSync(file, keptAs);
  renameSync(copy, file);
  syncPath(dirname(file));
}

function lockStore(file: string): { release(): void } {
  try {
    return lockDaemon({ kind: 'sqlite', file });
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    throw new ConflictError('store', error.message);
  }
}

/** Gives the files the owner of `like`, so that a restore as root does not lock out the daemon. */
function keepOwner(like: string, files: readonly string[]): void {
  const { uid, gid } = statSync(like);
  for (const file of files) {
    if (!existsSync(file)) continue;
    const found = statSync(file);
    if (found.uid !== uid || found.gid !== gid) chownSync(file, uid, gid);
  }
}

/** Result of a restore. */
interface Restored {
  /** File of the previous store; null if it did not exist. */
  keptAs: string | null;
  /** State of the secret: `restored` from the backup, existing one `kept`, or `missing`. */
  secret: 'restored' | 'kept' | 'missing';
}

/** Destination of a restore. */
export interface RestoreTarget {
  file: string;
  dataDir: string;
  clock: Clock;
  random: Random;
  /** Changes of the restored store before it is in place. */
  changes: readonly RestoredChange[];
}

/**
 * Replaces the store at `file` by a backup. Keeps the old store under another name, and its owner and mode.
 * @throws ValidationError if the file is damaged or not a backup, before any change; ConflictError while a
 * daemon or another command uses the store.
 */
export function restoreBackup(
  backup: string,
  { file, dataDir, clock, random, changes }: RestoreTarget,
): Restored {
  if (!existsSync(backup)) throw new ValidationError(`${backup}: there is no such file`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = lockStore(file);
  const copy = `${file}.restoring`;
  try {
    removeWithCompanions(copy);
    copyFileSync(backup, copy, constants.COPYFILE_FICLONE);
    if (existsSync(`${backup}-wal`)) copyFileSync(`${backup}-wal`, `${copy}-wal`);
    const hadStore = existsSync(file);
    const owner = hadStore ? file : dirname(file);
    chmodSync(copy, 0o600);
    const { secret } = checkBackup(copy, backup, { readonly: false });
    adaptCopy(copy, changes);
    if (hadStore) chmodSync(copy, statSync(file).mode & 0o777);
    keepOwner(owner, [copy, `${file}.daemon`]);
    syncPath(copy);
    if (hadStore) foldLog(file);
    const at = new Date(clock.now()).toISOString().replaceAll(':', '');
    const keptAs = `${file}.before-restore-${at}`;
    const key = secretFile(dataDir);
    const isPut =
      secret !== null && putSecret(dataDir, secret, `${key}.before-restore-${at}`, random);
    if (isPut) keepOwner(owner, [key]);
    replaceStore(file, copy, keptAs);
    const found = existsSync(key) ? 'kept' : 'missing';
    return { keptAs: hadStore ? keptAs : null, secret: isPut ? 'restored' : found };
  } finally {
    removeWithCompanions(copy);
    lock.release();
  }
}
