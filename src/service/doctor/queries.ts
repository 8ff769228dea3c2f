// Stored findings of the daily examination, and facts of the store. Owner of `service_findings`.
import { sql } from 'kysely';
import { type Db, engineOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { FindingStatus } from './finding.ts';

export interface FindingRow {
  name: string;
  status: FindingStatus;
  found: string;
  changed_at: number;
}

interface FindingTables {
  service_findings: FindingRow;
}

const own = ownTables<FindingTables>();

/** Returns the findings of the last examination by name. */
export const selectFindings = own.all((db) =>
  db.selectFrom('service_findings').selectAll().orderBy('name'),
);

/** Stores a finding, in place of the earlier one of its check. */
export async function putFinding(db: Db, row: FindingRow): Promise<void> {
  const { name: _name, ...values } = row;
  await tables<FindingTables>(db)
    .insertInto('service_findings')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
    .execute();
}

/** Returns the engine of the store with its version, as people write it. */
export async function engineVersion(db: Db): Promise<string> {
  const isPostgres = engineOf(db) === 'postgres';
  const query = isPostgres
    ? sql<{ version: string }>`select current_setting('server_version') as version`
    : sql<{ version: string }>`select sqlite_version() as version`;
  const { rows } = await query.execute(db);
  return `${isPostgres ? 'PostgreSQL' : 'SQLite'} ${rows[0]?.version}`;
}
