// Corrects times that were stored while the clock ran ahead. Uncorrected, they would delay work
// until then.
import { sql } from 'kysely';
import type { Db } from '../db.ts';

/** Sets times after `latest` to `now`. Returns the number of changed rows. */
export type ToPresent = (db: Db, now: number, latest: number) => Promise<number>;

/** Declares the change for a column of times in ms since 1970. */
export function toPresent(table: string, column: string): ToPresent {
  return async (db, now, latest) => {
    const { numAffectedRows } = await sql`update ${sql.table(table)}
      set ${sql.ref(column)} = ${now} where ${sql.ref(column)} > ${latest}`.execute(db);
    return Number(numAffectedRows ?? 0);
  };
}
