// Finds ids by their last characters, for people who type them: the ends of ids are random, the
// beginnings are the time of creation.
import { type Db, tables, type Untyped } from '../db.ts';

/** Most rows, from the newest, that a search reads, because it compares the ending with each id. */
const mostRead = 100_000;

/**
 * Returns up to `limit` ids with this ending, newest first; the empty ending selects all. Without
 * an organization, searches all organizations.
 */
export type IdsEnding = (
  db: Db,
  organizationId: string | undefined,
  ending: string,
  limit: number,
) => Promise<string[]>;

/**
 * Declares the search in a table with `id` and `organization_id`. The caller passes an `ending`
 * without the wildcards of LIKE.
 */
export function idsEndingIn(table: string): IdsEnding {
  return async (db, organizationId, ending, limit) => {
    const rows = await tables<Untyped>(db)
      .selectFrom((from) =>
        from
          .selectFrom(table)
          .select('id')
          .$if(organizationId !== undefined, (query) =>
            query.where('organization_id', '=', organizationId),
          )
          .orderBy('id', 'desc')
          .limit(mostRead)
          .as('newest'),
      )
      .select('id')
      .where('id', 'like', `%${ending}`)
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(({ id }) => String(id));
  };
}
