// Backups of the embedded store as files: written whole or not at all, checked before they are put
// back, and the store they replace kept. Who asks and how it looks is commands/backup.ts and
// restore.ts.
import {
  chmodSync,
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
import { ConflictError, UnreachableError, ValidationError } from '../errors.ts';
import type { Clock } from '../runtime/clock.ts';
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

/**
 * Copies the live store at `file` to `target`, durably; daemon and commands go on meanwhile.
 * @returns the size in bytes.
 * @throws UnreachableError when there is no store; ConflictError when there is a file at `target`
 * already and `overwrite` is not set.
 */
export async function saveBackup(
  file: string,
  target: string,
  overwrite: boolean,
  onProgress: (done: number, total: number) => void,
): Promise<number> {
  if (!existsSync(file)) throw new UnreachableError(`There is no store at ${file}`);
  if (existsSync(target) && !overwrite) {
    throw new ConflictError('backup', `${target} exists already`);
  }
  const partial = `${target}.partial`;
  try {
    await backupSqlite(file, partial, onProgress);
    onProgress(1, 1);
    syncPath(partial);
    renameSync(partial, target);
    syncPath(dirname(target));
  } finally {
    removeWithCompanions(partial);
  }
  return statSync(target).size;
}

/** Turns a copied backup into one plain file. @throws ValidationError if it is not ours, or broken. */
function checkBackup(copy: string, shownAs: string): void {
  const refuse = (problem: string) => new ValidationError(`${shownAs} ${problem}`);
  let database: Database.Database | undefined;
  try {
    database = new Database(copy, { fileMustExist: true });
    database.pragma('journal_mode = DELETE');
    const found = database.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok') throw refuse(`is damaged: ${found}`);
    const isOurs = database.prepare("select 1 from sqlite_master where name = 'migrations'").get();
    if (!isOurs) throw refuse('is a database, but no store of svc');
    const names = database.prepare('select name from migrations').pluck().all();
    const newer = names.filter((name) => !migrations.some((known) => known.name === name));
    if (newer.length > 0)
      throw refuse(`is of a newer version of svc (migration ${newer.join(', ')})`);
  } catch (error) {
    if (error instanceof ValidationError) throw error;
    throw refuse(`cannot be read as a database: ${(error as Error).message}`);
  } finally {
    database?.close();
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

/**
 * Puts a backup in the place of the store at `file`, which is kept under another name.
 * @returns that name, or null where there was no store.
 * @throws ValidationError for a file that is no sound backup, and nothing is changed; ConflictError
 * while a daemon or another command uses the store.
 */
export function restoreBackup(backup: string, file: string, clock: Clock): string | null {
  if (!existsSync(backup)) throw new ValidationError(`${backup}: there is no such file`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = lockStore(file);
  const copy = `${file}.restoring`;
  try {
    removeWithCompanions(copy);
    copyFileSync(backup, copy, constants.COPYFILE_FICLONE);
    if (existsSync(`${backup}-wal`)) copyFileSync(`${backup}-wal`, `${copy}-wal`);
    chmodSync(copy, 0o600);
    checkBackup(copy, backup);
    syncPath(copy);
    const hadStore = existsSync(file);
    if (hadStore) foldLog(file);
    const at = new Date(clock.now()).toISOString().replaceAll(':', '');
    const keptAs = `${file}.before-restore-${at}`;
    replaceStore(file, copy, keptAs);
    return hadStore ? keptAs : null;
  } finally {
    removeWithCompanions(copy);
    lock.release();
  }
}
