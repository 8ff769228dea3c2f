// Records the last backup in a file beside the store, because a backup does not write to the store.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface LastBackup {
  /** Time of the backup, ms since 1970. */
  at: number;
  /** Path of the backup, or `-` for standard output. */
  file: string;
}

const fileOf = (dataDir: string) => join(dataDir, 'last-backup.json');

/** Records a finished backup. */
export function recordBackup(dataDir: string, backup: LastBackup): void {
  writeFileSync(fileOf(dataDir), `${JSON.stringify(backup)}\n`, { mode: 0o600 });
}

/** Returns the last backup; null if none was recorded. */
export function readLastBackup(dataDir: string): LastBackup | null {
  try {
    const { at, file }: Partial<LastBackup> = JSON.parse(readFileSync(fileOf(dataDir), 'utf8'));
    return typeof at === 'number' && typeof file === 'string' ? { at, file } : null;
  } catch {
    return null;
  }
}
