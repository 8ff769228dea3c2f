// All SQL on `queue_holds`. Rows only, no decisions.
import type { Kysely } from 'kysely';
import { type Db, engineOf, statement, tables } from '../store/db.ts';

export interface HoldRow {
  id: string;
  /** The columns from `organization_id` to `delivery_id` in one text: no two holds are the same. */
  scope: string;
  organization_id: string | null;
  /** Of the recipient. */
  domain: string | null;
  message_id: string | null;
  delivery_id: string | null;
  note: string | null;
  created_at: number;
  /** Set while what it held is given turns again: it holds nothing more. */
  released_at: number | null;
}

interface HoldTables {
  queue_holds: HoldRow;
}

const selectActive = statement((db: Kysely<HoldTables>) => {
  const active = db.selectFrom('queue_holds').selectAll().where('released_at', 'is', null);
  return engineOf(db) === 'postgres' ? active.forShare() : active;
});

/**
 * Hot: asked by every claim. The holds that hold. On PostgreSQL they stay as they are until the
 * transaction ends, so that a release waits for it and misses nothing that it puts aside.
 */
export function lockActiveHolds(trx: Db): Promise<HoldRow[]> {
  return selectActive(trx, {});
}

/** All holds, the oldest first. */
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

/** A hold of the same scope that is being released holds again. */
export async function insertHold(db: Db, row: HoldRow): Promise<void> {
  await tables<HoldTables>(db)
    .insertInto('queue_holds')
    .values(row)
    .onConflict((conflict) => conflict.column('scope').doUpdateSet({ released_at: null }))
    .execute();
}

/** The hold holds nothing more. */
export async function markReleased(db: Db, id: string, now: number): Promise<void> {
  await tables<HoldTables>(db)
    .updateTable('queue_holds')
    .set({ released_at: now })
    .where('id', '=', id)
    .execute();
}

/** Unless it holds again meanwhile. */
export async function deleteReleased(db: Db, id: string): Promise<void> {
  await tables<HoldTables>(db)
    .deleteFrom('queue_holds')
    .where('id', '=', id)
    .where('released_at', 'is not', null)
    .execute();
}
