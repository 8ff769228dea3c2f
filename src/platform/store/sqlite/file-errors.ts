// Errors of files that cannot be written, with a cause on the machine: a full or read-only disk, a
// missing folder, missing rights of the account.
import { codeOf, messageOf, UnreachableError } from '../../errors.ts';

const full = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'];
/**
 * Codes of SQLite for a file that cannot be written. Errors of Node.js are recognized by a system
 * call with a path, or by a code for a full disk.
 */
const ofSqlite = /^SQLITE_(?:FULL|READONLY|CANTOPEN|IOERR|PERM)/;

/** Tells whether the error means that a file cannot be written. */
export function isUnwritable(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof UnreachableError) return false;
  const code = codeOf(error);
  return full.includes(code) || ofSqlite.test(code) || ('syscall' in error && 'path' in error);
}

/**
 * Returns an error that names the file and the next step if the file cannot be written; any other
 * error unchanged.
 */
export function asUnwritable(error: unknown, file: string): unknown {
  if (!isUnwritable(error)) return error;
  const text = full.includes(codeOf(error))
    ? `The disk of ${file} is full: free space there, or use another disk`
    : `${file} cannot be written (${messageOf(error)})`;
  return new UnreachableError(text, { cause: error });
}
