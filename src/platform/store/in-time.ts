// Ends overdue reads on SQLite. better-sqlite3 cannot interrupt a statement, and ending the thread
// waits for the statement. A statement does end if an SQL function of ours throws, so a long read
// calls such a function for each row.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from './db.ts';

/** SQL name of the function. It returns 1, and throws once the read is overdue. */
export const inTimeFunction = 'is_in_time';

const checking = new WeakSet<Db>();

/** Records that the connection of `db` has the SQL function. */
export function setChecking(db: Db): void {
  checking.add(db);
}

/**
 * Returns conditions that end an overdue read; none on connections without a deadline, and none on
 * PostgreSQL, which has a deadline of its own. Put them first in a `where`, so that rows excluded
 * by later conditions are checked too. They cost 0.1 µs a row.
 */
export function inTime(db: Db): RawBuilder<SqlBool>[] {
  return checking.has(db) ? [sql<SqlBool>`${sql.raw(inTimeFunction)}() = 1`] : [];
}
