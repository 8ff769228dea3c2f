// The time of the last backup, in a file beside the store: the store itself is not written for a
// backup.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface LastBackup {
  /** Ms since 1970. */
  at: number;
  /** File that was written, or `-` for standard output. */
  file: string;
}

const fileOf = (dataDir: string) => join(dataDir, 'last-backup.json');

/** Notes a finished backup. */
export function recordBackup(dataDir: string, backup: LastBackup): void {
  writeFileSync(fileOf(dataDir), `${JSON.stringify(backup)}\n`, { mode: 0o600 });
}

/** Returns the last backup; null if none was noted. */
export function readLastBackup(dataDir: string): LastBackup | null {
  try {
    const { at, file }: Partial<LastBackup> = JSON.parse(readFileSync(fileOf(dataDir), 'utf8'));
    return typeof at === 'number' && typeof file === 'string' ? { at, file } : null;
  } catch {
    return null;
  }
}
