// Backups as files of SQLite, from both engines. A backup is written whole or not at all. It is checked before a
// restore, which keeps the replaced store, or fills an empty database (copying/). The commands are
// commands/backup.ts and restore.ts.
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
import { ConflictError, NoStoreError, ValidationError } from '../errors.ts';
import type { Clock } from '../runtime/clock.ts';
import { putSecret } from '../runtime/key-ring.ts';
import type { Random } from '../runtime/random.ts';
import { differences, type TableDigest } from './copying/digest.ts';
import type { CopyOptions } from './copying/from-postgres.ts';
import { digestsOfFile } from './copying/tables.ts';
import { lockStore, storeInUse } from './lock-store.ts';
import { foreignSchema } from './migrate.ts';
import { backupSqlite, isStoreFileThere, openStore } from './open.ts';
import type { DatabaseSettings } from './postgres/settings.ts';

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

export function removeWithCompanions(file: string): void {
  for (const suffix of ['', ...companions]) rmSync(`${file}${suffix}`, { force: true });
}

/**
 * Name of a table that only backups have: it holds the secret of the source installation, if
 * requested.
 */
const secretTable = 'backup_secret';
/** Name of a table that only backups have: it holds the digests of the others. */
const digestTable = 'backup_digests';

/** The store that a backup copies. */
export type BackupSource =
  | { kind: 'sqlite'; file: string }
  | ({ kind: 'postgres'; database: DatabaseSettings } & Pick<CopyOptions, 'clock' | 'rests'>);

/** Options of a backup. */
export interface BackupOptions {
  overwrite: boolean;
  /** Secret of the installation, if the backup is to include it. */
  secret?: Buffer | undefined;
  /** Keeps the digests of all tables in the backup, which reads them all. */
  digests?: boolean;
  /** Checks the copy before it takes the place of `target`. */
  verify?: boolean;
  onProgress: (done: number, total: number) => void;
}

/** Makes the copy one plain file: in WAL mode each access would create two more files. */
function finishCopy(
  partial: string,
  { secret, digests }: { secret: Buffer | undefined; digests: readonly TableDigest[] | null },
): void {
  const copy = new Database(partial, { fileMustExist: true });
  try {
    copy.pragma('journal_mode = DELETE');
    if (digests) {
      copy.exec(`create table ${digestTable} (name text not null, rows integer, digest text)`);
      const insert = copy.prepare(`insert into ${digestTable} values (?, ?, ?)`);
      for (const { table, rows, digest } of digests) insert.run(table, rows, digest);
    }
    if (!secret) return;
    copy.exec(`create table ${secretTable} (key blob not null)`);
    copy.prepare(`insert into ${secretTable} values (?)`).run(secret);
  } finally {
    copy.close();
  }
}

/** Copies a store into the file `partial`. Returns the digests of its tables if they are known or asked for. */
async function copyInto(
  partial: string,
  source: BackupSource,
  { digests, onProgress }: Pick<BackupOptions, 'digests' | 'onProgress'>,
): Promise<TableDigest[] | null> {
  if (source.kind === 'postgres') {
    const { database, clock, rests } = source;
    // Migrates the store, as every command does.
    const store = await openStore(database, dirname(partial), clock, { mustExist: true });
    await store.close();
    const { copyPostgres } = await import('./copying/from-postgres.ts');
    return copyPostgres(database, partial, { clock, rests, onProgress });
  }
  await backupSqlite(source.file, partial, onProgress);
  return digests ? digestsOfFile(partial) : null;
}

/**
 * Copies the live store to `target`, durably, without stopping daemon or commands.
 * @returns the size in bytes.
 * @throws NoStoreError if the store does not exist; ConflictError if `target` exists and `overwrite` is not
 * set; ValidationError if the copy does not pass the asked-for check.
 */
export async function saveBackup(
  source: BackupSource,
  target: string,
  { overwrite, secret, digests = false, verify = false, onProgress }: BackupOptions,
): Promise<number> {
  if (source.kind === 'sqlite' && !isStoreFileThere(source.file)) {
    throw new NoStoreError(`There is no store at ${source.file}`);
  }
  if (existsSync(target) && !overwrite) {
    throw new ConflictError('backup', `${target} exists already: --overwrite replaces it`);
  }
  const partial = `${target}.partial`;
  try {
    const found = await copyInto(partial, source, { digests, onProgress });
    finishCopy(partial, { secret, digests: digests ? found : null });
    onProgress(1, 1);
    syncPath(partial);
    if (verify) verifyBackup(partial);
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

/** Result of the verification of a backup. */
interface VerifiedBackup {
  migration: string;
  hasSecret: boolean;
  /** Null for a backup without digests: of an earlier version. */
  tables: TableDigest[] | null;
}

/**
 * Checks that the backup can be restored, and that its tables have the digests of the day when it was made; changes
 * nothing.
 * @throws ValidationError if the file is damaged or not a backup.
 */
export function verifyBackup(file: string): VerifiedBackup {
  if (!existsSync(file)) throw new ValidationError(`${file}: there is no such file`);
  const { migration, secret } = checkBackup(file, file, { readonly: true });
  const noted = readDigestsOf(file);
  const tables =
    noted &&
    digestsOfFile(
      file,
      noted.map(({ table }) => table),
    );
  const wrong = noted && tables ? differences(tables, noted) : [];
  if (wrong.length > 0) {
    throw new ValidationError(`${file} was changed after it was made (${wrong.join('; ')})`);
  }
  return { migration, hasSecret: secret !== null, tables };
}

function readDigestsOf(file: string): TableDigest[] | null {
  const database = new Database(file, { readonly: true });
  try {
    const has = database.prepare('select 1 from sqlite_master where name = ?').get(digestTable);
    if (!has) return null;
    return database
      .prepare(`select name as "table", rows, digest from ${digestTable}`)
      .all() as TableDigest[];
  } finally {
    database.close();
  }
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
    database.exec(`drop table if exists ${secretTable}; drop table if exists ${digestTable}`);
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
    throw storeInUse(file);
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
export interface Restored {
  /** File of the previous store; null if it did not exist. */
  keptAs: string | null;
  /** State of the secret: `restored` from the backup, existing one `kept`, or `missing`. */
  secret: 'restored' | 'kept' | 'missing';
}

/** Destination of a restore. */
export interface RestoreTarget {
  file: string;
  /** File of the root keys; null if they come from the configuration. */
  secretFile: string | null;
  clock: Clock;
  random: Random;
  /** Changes of the restored store before it is in place. */
  changes: readonly RestoredChange[];
}

/**
 * Makes a checked copy of a backup, with the changes, as a plain file for this account alone.
 * @returns the secret that the backup contains
 * @throws ValidationError if the file is damaged or not a backup
 */
export function unpackBackup(
  backup: string,
  copy: string,
  changes: readonly RestoredChange[],
): Buffer | null {
  if (!existsSync(backup)) throw new ValidationError(`${backup}: there is no such file`);
  removeWithCompanions(copy);
  copyFileSync(backup, copy, constants.COPYFILE_FICLONE);
  if (existsSync(`${backup}-wal`)) copyFileSync(`${backup}-wal`, `${copy}-wal`);
  chmodSync(copy, 0o600);
  const { secret } = checkBackup(copy, backup, { readonly: false });
  adaptCopy(copy, changes);
  return secret;
}

/**
 * Replaces the store at `file` by a backup. Keeps the old store under another name, and its owner and mode.
 * @throws ValidationError if the file is damaged or not a backup, before any change; ConflictError while a
 * daemon or another command uses the store.
 */
export function restoreBackup(
  backup: string,
  { file, secretFile: key, clock, random, changes }: RestoreTarget,
): Restored {
  if (!existsSync(backup)) throw new ValidationError(`${backup}: there is no such file`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = lockStore(file);
  const copy = `${file}.restoring`;
  try {
    const hadStore = existsSync(file);
    const owner = hadStore ? file : dirname(file);
    const secret = unpackBackup(backup, copy, changes);
    if (hadStore) chmodSync(copy, statSync(file).mode & 0o777);
    keepOwner(owner, [copy, `${file}.daemon`]);
    syncPath(copy);
    if (hadStore) foldLog(file);
    const at = new Date(clock.now()).toISOString().replaceAll(':', '');
    const keptAs = `${file}.before-restore-${at}`;
    const isPut =
      secret !== null &&
      key !== null &&
      putSecret(key, secret, `${key}.before-restore-${at}`, random);
    if (isPut) keepOwner(owner, [key]);
    replaceStore(file, copy, keptAs);
    const found = key === null || existsSync(key) ? 'kept' : 'missing';
    return { keptAs: hadStore ? keptAs : null, secret: isPut ? 'restored' : found };
  } finally {
    removeWithCompanions(copy);
    lock.release();
  }
}
