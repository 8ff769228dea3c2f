// Counters: rows of sums by key, to which transactions add.
import { sql } from 'kysely';
import type { Db, Untyped } from './db.ts';
import { compiledOnce } from './statement.ts';

/**
 * Returns a function that adds the sums of each row to the stored row with its key, or inserts a
 * missing row.
 */
export function adderOf<Row>(
  table: string,
  key: readonly string[],
  sums: readonly string[],
): (db: Db, rows: readonly Row[]) => Promise<void> {
  const added = sums.map((sum) => [
    sum,
    sql`${sql.ref(`${table}.${sum}`)} + ${sql.ref(`excluded.${sum}`)}`,
  ]);
  const run = compiledOnce<Untyped, [Row], unknown>((db, row) =>
    db
      .insertInto(table)
      .values(Object.fromEntries([...key, ...sums].map((name) => [name, row[name as keyof Row]])))
      .onConflict((conflict) => conflict.columns([...key]).doUpdateSet(Object.fromEntries(added))),
  );
  return async (db, rows) => {
    for (const row of rows) await run(db, [row]);
  };
}
