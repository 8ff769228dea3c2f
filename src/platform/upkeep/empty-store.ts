// Empties a store, so that the next daemon makes a first start. For stores of tests.
import { sql } from 'kysely';
import type { Clock } from '../runtime/clock.ts';
import { migratedTables } from '../store/migrate.ts';
import { lockDaemon, openStore, storeLocation } from '../store/open.ts';
import type { DatabaseSettings } from '../store/postgres/settings.ts';
import { removeWithCompanions } from '../store/sqlite/database-files.ts';

/**
 * Removes the file of the store, or all tables on PostgreSQL. The secret of the installation
 * stays.
 * @throws UnreachableError while a daemon runs on SQLite
 */
export async function emptyStore(
  database: DatabaseSettings,
  dataDir: string,
  clock: Clock,
): Promise<void> {
  const location = storeLocation(database.url, dataDir);
  if (location.kind === 'sqlite') {
    const lock = lockDaemon(location);
    removeWithCompanions(location.file);
    lock.release();
    return;
  }
  const store = await openStore(database, dataDir, clock, { mustExist: true, earlier: 'refuse' });
  try {
    const names = migratedTables().map((name) => sql.table(name));
    await store.write((trx) => sql`drop table if exists ${sql.join(names)} cascade`.execute(trx));
  } finally {
    await store.close();
  }
}
