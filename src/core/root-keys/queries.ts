// All SQL on `root_keys`. Reads and writes rows, decides nothing.
import { type Db, engineOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';

export interface RootKeyRow {
  id: string;
  added_at: number;
  /** Time from which tokens use the key; null until the key is in use. */
  used_from: number | null;
  /** Time of the replacement; null for the key in force. */
  replaced_at: number | null;
  /** Time from which no row has an earlier key; null while rows may still have an earlier key. */
  rows_done_at: number | null;
}

interface RootKeyTables {
  root_keys: RootKeyRow;
}

const own = ownTables<RootKeyTables>();

/** Returns all keys in the order of their use; a key that is not yet in use comes last. */
export const selectRootKeys = own.all(
  (db) => db.selectFrom('root_keys').selectAll(),
  (rows: RootKeyRow[]) =>
    rows.sort((a, b) => (a.used_from ?? Infinity) - (b.used_from ?? Infinity)),
);

/** Inserts a key, unless the store has it. */
export async function insertRootKey(db: Db, row: RootKeyRow): Promise<void> {
  await tables<RootKeyTables>(db)
    .insertInto('root_keys')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function updateRootKey(
  db: Db,
  id: string,
  change: Partial<RootKeyRow>,
): Promise<void> {
  await tables<RootKeyTables>(db)
    .updateTable('root_keys')
    .set(change)
    .where('id', '=', id)
    .execute();
}

/**
 * Locks the key in force until the transaction ends. Writers of encrypted texts lock it as `share`,
 * a rotation as `update`. Undefined before the first key, or if the key was replaced while this
 * call waited.
 */
export function lockKeyInForce(
  db: Db,
  strength: 'share' | 'update',
): Promise<{ id: string } | undefined> {
  return tables<RootKeyTables>(db)
    .selectFrom('root_keys')
    .select('id')
    .where('used_from', 'is not', null)
    .where('replaced_at', 'is', null)
    .$if(engineOf(db) === 'postgres', (q) => (strength === 'share' ? q.forShare() : q.forUpdate()))
    .executeTakeFirst();
}

export async function deleteRootKey(db: Db, id: string): Promise<void> {
  await tables<RootKeyTables>(db).deleteFrom('root_keys').where('id', '=', id).execute();
}
