// The files of a SQLite database.
import { closeSync, fsyncSync, openSync, rmSync } from 'node:fs';

/**
 * Suffixes of SQLite's files next to a database: the write-ahead log, the index of the log, and the
 * journal of a database without a log. A killed process leaves these files, which SQLite would
 * apply to the next database with the name.
 */
export const companions = ['-wal', '-shm', '-journal'];

/** Syncs a file, or the names in a folder, to disk. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Removes a database and its companions; missing files are ignored. */
export function removeWithCompanions(file: string): void {
  for (const suffix of ['', ...companions]) rmSync(`${file}${suffix}`, { force: true });
}
