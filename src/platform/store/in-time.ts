// Ends overdue reads on SQLite. better-sqlite3 cannot interrupt a statement, and ending the thread
// waits for the statement. An SQL function of ours that throws does end it. A read that grows with
// the store calls that function once a row.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from './db.ts';

/** SQL name of the function. It returns 1 until the read is overdue, then throws. */
export const inTimeFunction = 'is_in_time';

const checking = new WeakSet<Db>();

/** Records that the connection of `db` has the function. */
export function setChecking(db: Db): void {
  checking.add(db);
}

/**
 * Conditions that end an overdue read. Empty on connections without a deadline, and on PostgreSQL,
 * which has its own deadline. Put them first in a `where`, so that rows excluded by later
 * conditions are checked too. They cost 0.1 µs a row.
 */
export function inTime(db: Db): RawBuilder<SqlBool>[] {
  return checking.has(db) ? [sql<SqlBool>`${sql.raw(inTimeFunction)}() = 1`] : [];
}
