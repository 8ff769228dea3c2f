// Times in the store that a clock set while it ran ahead. Work would wait for them until that time
// comes again.
import { sql } from 'kysely';
import type { Db } from '../db.ts';

/** Brings times after `latest` to `now`. Returns the number of changed rows. */
export type ToPresent = (db: Db, now: number, latest: number) => Promise<number>;

/** Declares the change of a column of times. */
export function toPresent(table: string, column: string): ToPresent {
  return async (db, now, latest) => {
    const { numAffectedRows } = await sql`update ${sql.table(table)}
      set ${sql.ref(column)} = ${now} where ${sql.ref(column)} > ${latest}`.execute(db);
    return Number(numAffectedRows ?? 0);
  };
}
