// The order of locks (docs/store.md): who changes several rows of a kind holds them first, in one select in
// the order of their ids, so that no two transactions wait for each other. SQLite has one writer at a time.
import { type Db, engineOf, idList, isOneOf, statement } from './db.ts';

type Untyped = Record<string, Record<string, unknown>>;

/** The column that orders the rows of a table, and the one whose values name those to hold. */
interface Locked {
  id?: string;
  by?: string;
}

/**
 * A function that holds rows of a table until the transaction ends: those whose column `by` is one of
 * some ids, in the order of `id`. On SQLite it does nothing.
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
