// A lock between processes: SQLite locks a separate file by the operating system. A crash leaves no
// stale lock.
import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { codeOf } from '../../errors.ts';
import { asUnwritable } from './file-errors.ts';

export interface FileLock {
  release(): void;
}

/**
 * Takes the lock on `file`, which is created and not removed. Returns null if another process has
 * the lock for `waitMs`.
 * @throws UnreachableError if the file cannot be written
 */
export function lockFile(file: string, waitMs = 0): FileLock | null {
  let lock: Database.Database | undefined;
  try {
    // Only a new file is opened: closing an existing file would end the locks of this process on it
    // (POSIX).
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600));
    lock = new Database(file, { timeout: waitMs });
    lock.pragma('journal_mode = DELETE');
    lock.exec('begin exclusive');
  } catch (error) {
    lock?.close();
    if (codeOf(error).startsWith('SQLITE_BUSY')) return null;
    throw asUnwritable(error, file);
  }
  const held = lock;
  return {
    release() {
      held.exec('rollback');
      held.close();
    },
  };
}

/**
 * Takes the lock to write `target`, on a file beside it that is removed at the end. Returns null if
 * another process has it.
 */
export function lockTarget(target: string): FileLock | null {
  const file = `${target}.lock`;
  const lock = lockFile(file);
  if (!lock) return null;
  // The previous holder removed the file after this process opened it, so the lock excludes nobody.
  if (!statSync(file, { throwIfNoEntry: false })) {
    lock.release();
    return null;
  }
  return {
    release() {
      rmSync(file, { force: true });
      lock.release();
    },
  };
}
