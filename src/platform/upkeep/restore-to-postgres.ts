// Fills an empty PostgreSQL database from a backup. The backup is first unpacked and migrated in
// `dataDir`, so that an older backup has the schema of this version.
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConflictError } from '../errors.ts';
import { openStore } from '../store/open.ts';
import type { DatabaseSettings } from '../store/postgres/settings.ts';
import { removeWithCompanions } from '../store/sqlite/database-files.ts';
import { asUnwritable } from '../store/sqlite/file-errors.ts';
import { lockTarget } from '../store/sqlite/file-lock.ts';
import type { TableDigest } from './copying/digest.ts';
import { loadIntoPostgres } from './copying/to-postgres.ts';
import {
  keptSuffix,
  type RestoreTarget,
  restoreSecret,
  type StateOfSecret,
  unpackBackup,
} from './restore.ts';

/** Destination of a restore on PostgreSQL. */
export interface DatabaseTarget extends Omit<RestoreTarget, 'file'> {
  dataDir: string;
  database: DatabaseSettings;
  onProgress: (done: number, total: number) => void;
}

interface RestoredDatabase {
  secret: StateOfSecret;
  listed: unknown[];
  tables: TableDigest[];
}

/**
 * Fills an empty database from a backup. Repeat an interrupted restore to continue it.
 * @throws ValidationError if the file is damaged or not a backup, before any change; ConflictError
 * if the database has a store, or while a second restore runs
 */
export async function restoreToPostgres(
  backup: string,
  { database, dataDir, secretFile: key, clock, random, onProgress, ...target }: DatabaseTarget,
): Promise<RestoredDatabase> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const copy = join(dataDir, 'restoring.db');
  const lock = lockTarget(copy);
  if (!lock) throw new ConflictError('store', 'Another restore is under way: wait for its end');
  try {
    const { secret, listed } = unpackBackup(backup, copy, target);
    const store = await openStore({ url: `sqlite:${copy}` }, dirname(copy), clock);
    await store.close();
    const tables = await loadIntoPostgres(copy, database, onProgress);
    return { secret: restoreSecret(secret, key, keptSuffix(clock), random), listed, tables };
  } catch (error) {
    throw asUnwritable(error, copy);
  } finally {
    removeWithCompanions(copy);
    lock.release();
  }
}
