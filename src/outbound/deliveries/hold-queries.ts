// All SQL on `queue_holds`. Reads and writes rows, decides nothing.
import { type Db, engineOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export interface HoldRow {
  id: string;
  /** The columns from `organization_id` to `delivery_id` in a single text; unique. */
  scope: string;
  organization_id: string | null;
  /** Domain of the recipient. */
  domain: string | null;
  message_id: string | null;
  delivery_id: string | null;
  note: string | null;
  created_at: number;
  /** Set when a release begins: the hold has ended, and the held deliveries get turns again. */
  released_at: number | null;
}

interface HoldTables {
  queue_holds: HoldRow;
}

const own = ownTables<HoldTables>();

export const holdIdsEnding = own.idsEnding('queue_holds');

/**
 * Returns the holds in force. Hot: every claim reads them. On PostgreSQL the rows stay locked until
 * the transaction ends. A release waits for these locks, so it finds every delivery that this
 * transaction held.
 */
export const lockActiveHolds = own.all((db) => {
  const active = db.selectFrom('queue_holds').selectAll().where('released_at', 'is', null);
  return engineOf(db) === 'postgres' ? active.forShare() : active;
});

/** Returns all holds, the oldest first. */
export function selectHolds(db: Db): Promise<HoldRow[]> {
  return tables<HoldTables>(db).selectFrom('queue_holds').selectAll().orderBy('id').execute();
}

export function findHold(db: Db, by: 'id' | 'scope', value: string): Promise<HoldRow | undefined> {
  return tables<HoldTables>(db)
    .selectFrom('queue_holds')
    .selectAll()
    .where(by, '=', value)
    .executeTakeFirst();
}

/** Inserts a hold. A hold of the same scope that is being released comes into force again. */
export async function insertHold(db: Db, row: HoldRow): Promise<void> {
  await tables<HoldTables>(db)
    .insertInto('queue_holds')
    .values(row)
    .onConflict((conflict) => conflict.column('scope').doUpdateSet({ released_at: null }))
    .execute();
}

/** Marks the hold as released. The row stays until all held deliveries have turns again. */
export async function markReleased(db: Db, id: string, now: number): Promise<void> {
  await tables<HoldTables>(db)
    .updateTable('queue_holds')
    .set({ released_at: now })
    .where('id', '=', id)
    .execute();
}

/** Deletes a released hold, unless it came into force again meanwhile. */
export async function deleteReleased(db: Db, id: string): Promise<void> {
  await tables<HoldTables>(db)
    .deleteFrom('queue_holds')
    .where('id', '=', id)
    .where('released_at', 'is not', null)
    .execute();
}
