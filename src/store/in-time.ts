// How an overdue read ends on SQLite: better-sqlite3 cannot interrupt a statement, and ending its thread waits for
// it, but a function of ours that throws ends it. A read whose rows grow with the store asks it once a row.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from './db.ts';

/** The SQL name of the function, which returns 1 until the read is overdue. */
export const inTimeFunction = 'is_in_time';

const checking = new WeakSet<Db>();

/** Lets the reads of `db` ask for the time: its connection has the function. */
export function setChecking(db: Db): void {
  checking.add(db);
}

/**
 * Conditions that end an overdue read; none on connections without a deadline, and on PostgreSQL, which has its own.
 * They stand first in a `where`: a row that another condition leaves out is asked about too. 0.1 µs a row.
 */
export function inTime(db: Db): RawBuilder<SqlBool>[] {
  return checking.has(db) ? [sql<SqlBool>`${sql.raw(inTimeFunction)}() = 1`] : [];
}
