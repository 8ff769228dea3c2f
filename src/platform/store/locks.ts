// Order of locks (docs/store.md): a transaction that changes several rows of a kind locks them first, in one
// select in the order of their ids, to avoid deadlocks. SQLite has one writer at a time and needs no locks.
import { type Db, engineOf, idList, isOneOf, statement } from './db.ts';

type Untyped = Record<string, Record<string, unknown>>;

/** Column that orders the rows of a table, and column whose values select the rows to lock. */
interface Locked {
  id?: string;
  by?: string;
}

/**
 * Returns a function that locks rows of a table until the transaction ends: rows whose column `by` is one of
 * the ids, in the order of `id`. On SQLite it does nothing.
 */
export function lockerOf<Tables>(
  table: keyof Tables & string,
  options: Locked = {},
): (db: Db, ids: readonly string[]) => Promise<void> {
  const name: string = table;
  const id = options.id ?? 'id';
  const lock = statement<Untyped, { ids: unknown }, unknown>((db, parameter) =>
    db
      .selectFrom(name)
      .select(id)
      .where(isOneOf(db, options.by ?? id, parameter('ids')))
      .orderBy(id)
      .forUpdate(),
  );
  return async (db, ids) => {
    if (ids.length === 0 || engineOf(db) === 'sqlite') return;
    await lock(db, { ids: idList(db, ids) });
  };
}
