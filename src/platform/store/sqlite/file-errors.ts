// Errors of files that cannot be written, whose cause is on the machine: a full or read-only disk,
// a missing folder, the rights of the account.
import { codeOf, messageOf, UnreachableError } from '../../errors.ts';

const full = ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'];
/**
 * Codes of SQLite for a file that it cannot write. Errors of Node.js have the path of the file, or
 * are full disks.
 */
const ofSqlite = /^SQLITE_(?:FULL|READONLY|CANTOPEN|IOERR|PERM)/;

/** Returns true if a file cannot be written. */
export function isUnwritable(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof UnreachableError) return false;
  const code = codeOf(error);
  return full.includes(code) || ofSqlite.test(code) || ('syscall' in error && 'path' in error);
}

/**
 * Returns the error of a file that cannot be written with the file and the next step; any other
 * error as it is.
 */
export function asUnwritable(error: unknown, file: string): unknown {
  if (!isUnwritable(error)) return error;
  const text = full.includes(codeOf(error))
    ? `The disk of ${file} is full: free space there, or use another disk`
    : `${file} cannot be written (${messageOf(error)})`;
  return new UnreachableError(text, { cause: error });
}
