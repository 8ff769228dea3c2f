// The lock of a SQLite store for commands that rewrite the file.
import { ConflictError } from '../errors.ts';
import { lockDaemon, OtherDaemonError } from '../store/open.ts';

/** Returns the error of a command while a second command uses the store. */
export function storeInUse(file: string): ConflictError {
  return new ConflictError(
    'store',
    `Another command uses ${file} now: try again when it has ended`,
  );
}

/**
 * Prevents daemons on the store until `release`. @throws ConflictError while a daemon runs;
 * UnreachableError if the lock cannot be written
 */
export function lockStore(file: string): { release(): void } {
  try {
    return lockDaemon({ kind: 'sqlite', file });
  } catch (error) {
    if (!(error instanceof OtherDaemonError)) throw error;
    throw new ConflictError('store', error.message);
  }
}
