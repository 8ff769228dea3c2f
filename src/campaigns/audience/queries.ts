// SQL of audiences over the tables of people. Each select comes from the room of its table.
import { type RawBuilder, sql } from 'kysely';
import {
  type AskedQuery,
  type ContactRange,
  matchingIdsIn,
} from '../../people/contacts/groups/condition-queries.ts';
import { memberIdsIn } from '../../people/contacts/groups/queries.ts';
import { taggedIdsIn } from '../../people/contacts/queries.ts';
import { type Db, engineOf, packedList } from '../../platform/store/db.ts';
import type { AudienceSnapshot } from './schema.ts';

type Ids = RawBuilder<unknown>;

function listed(db: Db, ids: readonly string[]): Ids {
  const packed = packedList(db, ids);
  return engineOf(db) === 'postgres'
    ? sql`select id from unnest(${packed}::text[]) as one(id)`
    : sql`select value as id from json_each(${packed})`;
}

/** Returns the queries of an audience with their owner and time. */
export function askedOf(organizationId: string, { queries, at }: AudienceSnapshot): AskedQuery[] {
  return queries.map((query) => ({ organizationId, query, at }));
}

/** Returns a select of the ids in the range for each way into the audience. */
function waysInto(
  db: Db,
  organizationId: string,
  audience: AudienceSnapshot,
  range: ContactRange,
): Ids[] {
  const { includeTags, contactIds, groupIds } = audience;
  const named = contactIds.filter((id) => id > range.after && id <= range.until);
  const asked = askedOf(organizationId, audience);
  return [
    ...[...new Set(includeTags)].map((tag) => taggedIdsIn(organizationId, tag, range)),
    ...groupIds.map((id) => memberIdsIn(id, range)),
    ...(named.length > 0 ? [listed(db, named)] : []),
    ...(asked.length > 0 ? [matchingIdsIn(db, asked, range)] : []),
  ];
}

/** Returns the first `limit` ids in the range that the audience includes, in their order. */
export async function selectIncluded(
  db: Db,
  organizationId: string,
  audience: AudienceSnapshot,
  range: ContactRange,
  limit: number,
): Promise<string[]> {
  const ways = waysInto(db, organizationId, audience, range);
  if (ways.length === 0) return [];
  // SQLite merges the selects in the order of ids. PostgreSQL would read each of them to its end.
  const isPostgres = engineOf(db) === 'postgres' && ways.length > 1;
  const selects = isPostgres ? ways.map((way) => sql`(${way} order by id limit ${limit})`) : ways;
  const { rows } = await sql<{ id: string }>`${sql.join(selects, sql` union `)}
    order by id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}
