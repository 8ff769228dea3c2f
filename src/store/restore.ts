// Backups of the embedded store as files: written whole or not at all, checked before they are put
// back, and the store they replace kept. Who asks and how it looks is commands/backup.ts and
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
import { migrations } from './migrate.ts';
import { backupSqlite, lockDaemon } from './open.ts';

/** What SQLite keeps next to a file: the log of what is not yet in it, and that log's index. */
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

/** Of a backup alone: the secret of the installation that it was made on, if that was wanted. */
const secretTable = 'backup_secret';

/** What a backup is made with. */
export interface BackupOptions {
  overwrite: boolean;
  /** The secret of the installation, where the backup is to hold it. */
  secret?: Buffer | undefined;
  onProgress: (done: number, total: number) => void;
}

/** Makes the copy one plain file: WAL mode would want two more beside it at each look. */
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
 * Copies the live store at `file` to `target`, durably; daemon and commands go on meanwhile.
 * @returns the size in bytes.
 * @throws NoStoreError when there is no store; ConflictError when there is a file at `target`
 * already and `overwrite` is not set.
 */
export async function saveBackup(
  file: string,
  target: string,
  { overwrite, secret, onProgress }: BackupOptions,
): Promise<number> {
  if (!existsSync(file)) throw new NoStoreError(`There is no store at ${file}`);
  if (existsSync(target) && !overwrite) {
    throw new ConflictError('backup', `${target} exists already`);
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

/** What a look at a backup tells. */
interface BackupContents {
  /** The last migration that it has had. */
  migration: string;
  /** Of the installation that it was made on, where the backup holds it. */
  secret: Buffer | null;
}

/**
 * Looks whether the backup could be restored, and changes nothing.
 * @throws ValidationError for a file that is no sound backup.
 */
export function verifyBackup(file: string): BackupContents {
  return checkBackup(file, file, { readonly: true });
}

/** @throws ValidationError if it is not ours, or broken. */
function checkBackup(
  copy: string,
  shownAs: string,
  { readonly }: { readonly: boolean },
): BackupContents {
  const refuse = (problem: string) => new ValidationError(`${shownAs} ${problem}`);
  let database: Database.Database | undefined;
  try {
    database = new Database(copy, { fileMustExist: true, readonly });
    // One plain file.
    if (!readonly) database.pragma('journal_mode = DELETE');
    const found = database.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok') throw refuse(`is damaged: ${found}`);
    const isOurs = database.prepare("select 1 from sqlite_master where name = 'migrations'").get();
    if (!isOurs) throw refuse('is a database, but no store of svc');
    const names = database
      .prepare('select name from migrations order by name')
      .pluck()
      .all() as string[];
    const newer = names.filter((name) => !migrations.some((known) => known.name === name));
    if (newer.length > 0)
      throw refuse(`is of a newer version of svc (migration ${newer.join(', ')})`);
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

/** A store holds no secret: what it encrypts with lies in a file of its own. */
function removeSecret(copy: string): void {
  const database = new Database(copy, { fileMustExist: true });
  try {
    database.pragma('secure_delete = ON');
    database.exec(`drop table if exists ${secretTable}`);
  } finally {
    database.close();
  }
}

/** Brings the store at `file` into one file. A damaged one stays as it is: it is being replaced. */
function foldLog(file: string): void {
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { fileMustExist: true, timeout: 2_000 });
    // Succeeds only when no other process has the store open.
    database.pragma('journal_mode = DELETE');
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    if (!/^SQLITE_(BUSY|LOCKED)/.test(code)) return;
    throw new ConflictError('store', `Another command uses ${file} now: try again after it`);
  } finally {
    database?.close();
  }
}

/** Moves the restored copy to `file`; at every instant there is a whole store at that name. */
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

/** Whoever restores as root must not lock out the daemon, which runs as somebody else. */
function keepOwner(like: string, files: readonly string[]): void {
  const { uid, gid } = statSync(like);
  for (const file of files) {
    if (!existsSync(file)) continue;
    const found = statSync(file);
    if (found.uid !== uid || found.gid !== gid) chownSync(file, uid, gid);
  }
}

/** What a restore did. */
interface Restored {
  /** The store as it was; null where there was none. */
  keptAs: string | null;
  /** Of the secret: `restored` from the backup, `kept` as it lies there, or `missing`. */
  secret: 'restored' | 'kept' | 'missing';
}

/** Where things are put back to. */
export interface RestoreTarget {
  file: string;
  dataDir: string;
  clock: Clock;
  random: Random;
}

/**
 * Puts a backup in the place of the store at `file`, which is kept under another name; its owner and
 * mode stay.
 * @throws ValidationError for a file that is no sound backup, and nothing is changed; ConflictError
 * while a daemon or another command uses the store.
 */
export function restoreBackup(
  backup: string,
  { file, dataDir, clock, random }: RestoreTarget,
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
    removeSecret(copy);
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
