// A page over several ranges of an index, each of which is in the order of the page.
import { type RawBuilder, sql } from 'kysely';
import { type Db, engineOf } from './db.ts';

/**
 * The rows from `offset` on, up to `limit`, of these selects in one order: they are merged, and what
 * comes before the page is passed over.
 */
export function mergedRanges(
  db: Db,
  ranges: readonly RawBuilder<unknown>[],
  order: RawBuilder<unknown>,
  { limit, offset }: { limit: number; offset: number },
): RawBuilder<unknown> {
  // PostgreSQL reads and sorts whole what has no limit of its own; SQLite would sort what has one.
  const isBounded = engineOf(db) === 'postgres' && ranges.length > 1;
  const merged = ranges.map((range) =>
    isBounded ? sql`(${range} ${order} limit ${limit + offset})` : range,
  );
  return sql`${sql.join(merged, sql` union all `)} ${order} limit ${limit} offset ${offset}`;
}
