// Fills an empty database of PostgreSQL from a backup. The backup is unpacked beside the data first, and migrated
// there: an older one is brought to this version.
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { putSecret } from '../../runtime/key-ring.ts';
import { openStore } from '../open.ts';
import type { DatabaseSettings } from '../postgres/settings.ts';
import { type RestoreTarget, removeWithCompanions, unpackBackup } from '../restore.ts';
import type { TableDigest } from './digest.ts';
import { loadIntoPostgres } from './to-postgres.ts';

/** Destination of a restore on PostgreSQL. */
export interface DatabaseTarget extends Omit<RestoreTarget, 'file'> {
  dataDir: string;
  database: DatabaseSettings;
  onProgress: (done: number, total: number) => void;
}

interface RestoredDatabase {
  /** State of the secret: `restored` from the backup, existing one `kept`, or `missing`. */
  secret: 'restored' | 'kept' | 'missing';
  tables: TableDigest[];
}

/**
 * Fills an empty database from a backup. A restore that was interrupted goes on if it is repeated.
 * @throws ValidationError if the file is damaged or not a backup, before any change; ConflictError if the
 * database holds a store
 */
export async function restoreToPostgres(
  backup: string,
  { database, dataDir, secretFile: key, clock, random, changes, onProgress }: DatabaseTarget,
): Promise<RestoredDatabase> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const copy = join(dataDir, 'restoring.db');
  try {
    const secret = unpackBackup(backup, copy, changes);
    const store = await openStore({ url: `sqlite:${copy}` }, dirname(copy), clock);
    await store.close();
    const tables = await loadIntoPostgres(copy, database, onProgress);
    const at = new Date(clock.now()).toISOString().replaceAll(':', '');
    const isPut =
      secret !== null &&
      key !== null &&
      putSecret(key, secret, `${key}.before-restore-${at}`, random);
    const found = key === null || existsSync(key) ? 'kept' : 'missing';
    return { secret: isPut ? 'restored' : found, tables };
  } finally {
    removeWithCompanions(copy);
  }
}
