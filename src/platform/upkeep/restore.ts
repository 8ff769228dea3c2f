// Replaces a store on SQLite by a backup, which is checked first. The replaced store is kept. The
// command is commands/restore.ts; restore-to-postgres.ts restores into an empty PostgreSQL
// database.
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { ValidationError } from '../errors.ts';
import type { Clock } from '../runtime/clock.ts';
import { copyNamedFile, isFileNamed } from '../runtime/held-files.ts';
import { putSecret } from '../runtime/key-ring.ts';
import type { Random } from '../runtime/random.ts';
import { companions, removeWithCompanions, syncPath } from '../store/sqlite/database-files.ts';
import { asUnwritable } from '../store/sqlite/file-errors.ts';
import { checkBackup, tablesOfBackups } from './backup.ts';
import { lockStore, storeInUse } from './lock-store.ts';

/** SQL that changes a restored store if the store has this table. */
export interface RestoredChange {
  table: string;
  sql: string;
}

/**
 * Removes the tables that only backups have, such as the secret, and applies the changes. Returns
 * the rows of `list`.
 */
function adaptCopy(
  copy: string,
  { changes, list }: Pick<RestoreTarget, 'changes' | 'list'>,
): unknown[] {
  const database = new Database(copy, { fileMustExist: true });
  try {
    database.pragma('secure_delete = ON');
    for (const table of tablesOfBackups) database.exec(`drop table if exists ${table}`);
    const has = database.prepare('select 1 from sqlite_master where name = ?').pluck();
    const listed = list && has.get(list.table) ? database.prepare(list.sql).all() : [];
    for (const { table, sql } of changes) if (has.get(table)) database.exec(sql);
    return listed;
  } finally {
    database.close();
  }
}

/**
 * Moves the log of the store into `file`. Ignores a damaged store, which is replaced anyway.
 * @throws ConflictError while another process has the store open
 */
function foldLog(file: string): void {
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { fileMustExist: true, timeout: 2_000 });
    // This fails while another process has the store open.
    database.pragma('journal_mode = DELETE');
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    if (!/^SQLITE_(BUSY|LOCKED)/.test(code)) return;
    throw storeInUse(file);
  } finally {
    database?.close();
  }
}

/**
 * Moves the restored copy to `file`, and keeps the old store as `keptAs`. A crash leaves a whole
 * store at `file`.
 */
function replaceStore(file: string, copy: string, keptAs: string): void {
  for (const suffix of companions) {
    if (existsSync(`${file}${suffix}`)) renameSync(`${file}${suffix}`, `${keptAs}${suffix}`);
  }
  if (existsSync(file)) linkSync(file, keptAs);
  renameSync(copy, file);
  syncPath(dirname(file));
}

/** Gives the files the owner of `like`, so that the daemon can read a store restored by root. */
function keepOwner(like: string, files: readonly string[]): void {
  const { uid, gid } = statSync(like);
  for (const file of files) {
    if (!existsSync(file)) continue;
    const found = statSync(file);
    if (found.uid !== uid || found.gid !== gid) chownSync(file, uid, gid);
  }
}

/** Result for the secret: `restored` from the backup, `kept` as it was, or `missing`. */
export type StateOfSecret = 'restored' | 'kept' | 'missing';

/** Result of a restore. */
export interface Restored {
  /** File of the previous store; null if there was no store. */
  keptAs: string | null;
  secret: StateOfSecret;
  listed: unknown[];
}

/** Destination of a restore. */
export interface RestoreTarget {
  file: string;
  /** File of the root keys; null if they come from the configuration. */
  secretFile: string | null;
  clock: Clock;
  random: Random;
  /** Changes to make in the restored store before it is used. */
  changes: readonly RestoredChange[];
  /** Query for rows of the backup, read before the changes. The result has them as `listed`. */
  list?: RestoredChange;
}

/**
 * Makes a checked copy of a backup with the changes, as a plain file that only this account can
 * read.
 * @returns the secret in the backup, and the listed rows
 * @throws ValidationError if the file is damaged or not a backup
 */
export function unpackBackup(
  backup: string,
  copy: string,
  target: Pick<RestoreTarget, 'changes' | 'list'>,
): { secret: Buffer | null; listed: unknown[] } {
  if (!isFileNamed(backup)) throw new ValidationError(`${backup}: there is no such file`);
  removeWithCompanions(copy);
  copyNamedFile(backup, copy);
  if (isFileNamed(`${backup}-wal`)) copyNamedFile(`${backup}-wal`, `${copy}-wal`);
  chmodSync(copy, 0o600);
  const { secret } = checkBackup(copy, backup, { readonly: false });
  return { secret, listed: adaptCopy(copy, target) };
}

/** Returns the suffix for the names of replaced files. */
export function keptSuffix(clock: Clock): string {
  return `.before-restore-${new Date(clock.now()).toISOString().replaceAll(':', '')}`;
}

/**
 * Writes the secret of a backup into the file of the root keys. Different present keys are kept in
 * a file with the suffix.
 */
export function restoreSecret(
  secret: Buffer | null,
  file: string | null,
  suffix: string,
  random: Random,
): StateOfSecret {
  if (file === null) return 'kept';
  if (secret !== null && putSecret(file, secret, `${file}${suffix}`, random)) return 'restored';
  return existsSync(file) ? 'kept' : 'missing';
}

/**
 * Replaces the store at `file` by a backup. The old store is kept under a new name, with owner and
 * mode.
 * @throws ValidationError if the file is damaged or not a backup, before any change; ConflictError
 * while a daemon or a second command uses the store.
 */
export function restoreBackup(
  backup: string,
  { file, secretFile: key, clock, random, ...target }: RestoreTarget,
): Restored {
  if (!isFileNamed(backup)) throw new ValidationError(`${backup}: there is no such file`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = lockStore(file);
  const copy = `${file}.restoring`;
  try {
    const hadStore = existsSync(file);
    const owner = hadStore ? file : dirname(file);
    const { secret, listed } = unpackBackup(backup, copy, target);
    if (hadStore) chmodSync(copy, statSync(file).mode & 0o777);
    keepOwner(owner, [copy, `${file}.daemon`]);
    syncPath(copy);
    if (hadStore) foldLog(file);
    const suffix = keptSuffix(clock);
    const stateOfSecret = restoreSecret(secret, key, suffix, random);
    if (stateOfSecret === 'restored' && key !== null) keepOwner(owner, [key]);
    replaceStore(file, copy, `${file}${suffix}`);
    return { keptAs: hadStore ? `${file}${suffix}` : null, secret: stateOfSecret, listed };
  } catch (error) {
    throw asUnwritable(error, file);
  } finally {
    removeWithCompanions(copy);
    lock.release();
  }
}
