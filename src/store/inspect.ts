// Looking at a store without changing it: no file is made, no migration is run.
import { existsSync } from 'node:fs';
import { type MigrationStatus, migrationStatus, migrations } from './migrate.ts';
import { storeLocation } from './open.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

/**
 * Every migration this version knows or the store has had, with when it ran; null: not yet.
 * @throws UnreachableError when the store cannot be opened.
 */
export async function readMigrationStatus(
  databaseUrl: string,
  dataDir: string,
): Promise<MigrationStatus[]> {
  const location = storeLocation(databaseUrl, dataDir);
  if (location.kind === 'sqlite' && !existsSync(location.file)) {
    return migrations.map(({ name }) => ({ name, appliedAt: null }));
  }
  const store =
    location.kind === 'sqlite' ? openSqlite(location.file) : await openPostgres(location.url);
  try {
    return await migrationStatus(store.db);
  } finally {
    await store.close();
  }
}
