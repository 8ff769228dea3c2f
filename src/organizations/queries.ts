// All SQL on `organizations`. Rows only, no decisions.
import { type Db, statement, tables } from '../store/db.ts';

export interface OrganizationRow {
  id: string;
  name: string;
  plan: string;
  payment_method_on_file: number;
  timezone: string;
  sending_status: 'enabled' | 'paused';
  paused_at: number | null;
  pause_reason: string | null;
  onboarding_status: 'approved' | 'pending' | 'rejected';
  onboarding_generation: number;
  created_at: number;
  updated_at: number;
}

interface OrganizationTables {
  organizations: OrganizationRow;
}

const byId = statement<OrganizationTables, { id: string }, OrganizationRow>((db, parameter) =>
  db.selectFrom('organizations').selectAll().where('id', '=', parameter('id')),
);

/** Hot: every send looks at its organization. */
export async function findOrganization(db: Db, id: string): Promise<OrganizationRow | undefined> {
  return (await byId(db, { id }))[0];
}

export function findOrganizationByName(db: Db, name: string): Promise<OrganizationRow | undefined> {
  return tables<OrganizationTables>(db)
    .selectFrom('organizations')
    .selectAll()
    .where('name', '=', name)
    .executeTakeFirst();
}

/** False when the name is taken; on PostgreSQL waits for a process that inserts the same name. */
export async function insertOrganization(db: Db, row: OrganizationRow): Promise<boolean> {
  const inserted = await tables<OrganizationTables>(db)
    .insertInto('organizations')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .returning('id')
    .execute();
  return inserted.length > 0;
}

/** In order of creation. */
export function selectOrganizations(
  db: Db,
  range: { limit: number; offset: number },
): Promise<OrganizationRow[]> {
  return tables<OrganizationTables>(db)
    .selectFrom('organizations')
    .selectAll()
    .orderBy('id')
    .limit(range.limit)
    .offset(range.offset)
    .execute();
}

export async function countOrganizations(db: Db): Promise<number> {
  const { count } = await tables<OrganizationTables>(db)
    .selectFrom('organizations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Locks the row until the end of the transaction (SQLite has one writer anyway). */
export async function lockOrganization(db: Db, id: string, now: number): Promise<void> {
  await tables<OrganizationTables>(db)
    .updateTable('organizations')
    .set({ updated_at: now })
    .where('id', '=', id)
    .execute();
}
