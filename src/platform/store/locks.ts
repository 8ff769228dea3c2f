// Order of locks (docs/making/store.md): a transaction that changes several rows of a kind locks
// them first, in a single select in the order of their ids, to avoid deadlocks. SQLite has a single
// writer at a time and needs no locks.
import { type Db, engineOf, isOneOf, type Untyped } from './db.ts';
import { compiledOnce } from './rows/statement.ts';

/** Column that orders the rows of a table, and column that selects the rows. */
export interface Locked<Column extends string> {
  id?: Column;
  by?: Column;
}

/**
 * Returns a function that locks rows of a table until the transaction ends: rows with a column `by`
 * among the ids, in the order of `id`. On SQLite it does nothing.
 */
export function lockerOf(
  table: string,
  { id = 'id', by = id }: Locked<string> = {},
): (db: Db, ids: readonly string[]) => Promise<void> {
  const lock = compiledOnce<Untyped, [readonly string[]], unknown>((db, ids) =>
    db
      .selectFrom(table)
      .select(id)
      .where(by, ...isOneOf(db, ids))
      .orderBy(id)
      .forUpdate(),
  );
  return async (db, ids) => {
    if (ids.length > 0 && engineOf(db) === 'postgres') await lock(db, [ids]);
  };
}
