// Reads pages over several ranges of an index, each of which is in the order of the page.
import { type RawBuilder, sql } from 'kysely';
import { type Db, engineOf } from '../db.ts';

/**
 * Returns SQL that merges the selects in a common order, skips `offset` rows and returns up to
 * `limit`.
 */
export function mergedRanges(
  db: Db,
  ranges: readonly RawBuilder<unknown>[],
  order: RawBuilder<unknown>,
  { limit, offset }: { limit: number; offset: number },
): RawBuilder<unknown> {
  // Without a limit per range, PostgreSQL reads and sorts whole ranges. SQLite would sort a range
  // that has a limit.
  const isBounded = engineOf(db) === 'postgres' && ranges.length > 1;
  const merged = ranges.map((range) =>
    isBounded ? sql`(${range} ${order} limit ${limit + offset})` : range,
  );
  return sql`${sql.join(merged, sql` union all `)} ${order} limit ${limit} offset ${offset}`;
}
