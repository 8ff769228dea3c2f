// SQL of audiences over the tables of contacts. The folder that owns a table supplies the selects.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isPending, pendingIdsIn } from '../../consent/opt-in/queries.ts';
import { uniqueTags } from '../../core/api/tag-list.ts';
import {
  type AskedQuery,
  type ContactRange,
  contactId,
  includingConditions,
  matchingIdsIn,
} from '../../people/contacts/condition-queries.ts';
import { countFatesOf, specialIdsIn } from '../../people/contacts/fate-queries.ts';
import { isMember, memberIdsIn } from '../../people/contacts/groups/queries.ts';
import { taggedIdsIn } from '../../people/contacts/queries.ts';
import { type Db, engineOf, packedList } from '../../platform/store/db.ts';
import type { SkipReason } from '../../run-ledger/schema.ts';
import type { AudienceSnapshot } from './schema.ts';

type Ids = RawBuilder<unknown>;

/** The run for which contacts are counted. */
export interface FatesQuestion {
  organizationId: string;
  audience: AudienceSnapshot;
  unsubscribeGroupId: string | null;
}

function listed(db: Db, ids: readonly string[]): Ids {
  const packed = packedList(db, ids);
  return engineOf(db) === 'postgres'
    ? sql`select id from unnest(${packed}::text[]) as one(id)`
    : sql`select value as id from json_each(${packed})`;
}

/** Returns the queries of an audience with the organization and the time of the snapshot. */
export function askedOf(organizationId: string, { queries, at }: AudienceSnapshot): AskedQuery[] {
  return queries.map((query) => ({ organizationId, query, at }));
}

/**
 * Returns a select of the ids in the range for each way of inclusion: each tag, each group, the
 * given contacts, and the queries.
 */
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
    ...uniqueTags(includeTags).map((tag) => taggedIdsIn(organizationId, tag, range)),
    ...groupIds.map((id) => memberIdsIn(id, range)),
    ...(named.length > 0 ? [listed(db, named)] : []),
    ...(asked.length > 0 ? [matchingIdsIn(db, asked, range)] : []),
  ];
}

/** Returns a select of the ids in the range that the audience includes, each once; or null. */
function includedIds(
  db: Db,
  organizationId: string,
  audience: AudienceSnapshot,
  range: ContactRange,
): Ids | null {
  const ways = waysInto(db, organizationId, audience, range);
  return ways.length > 0 ? sql.join(ways, sql` union `) : null;
}

/** Returns an SQL condition on a row of `contacts`: the audience includes the contact. */
function isIncluded(
  db: Db,
  organizationId: string,
  audience: AudienceSnapshot,
): RawBuilder<SqlBool> {
  const { includeTags, contactIds, groupIds } = audience;
  const asked = askedOf(organizationId, audience);
  const conditions = [
    ...includingConditions(db, organizationId, {
      ids: contactIds,
      tags: uniqueTags(includeTags),
      queries: asked,
    }),
    ...(groupIds.length > 0 ? [isMember(db, groupIds, contactId)] : []),
  ];
  return sql`(${sql.join(conditions, sql` or `)})`;
}

/**
 * Counts the contacts of an audience in a range by fate; null stands for a message. Judges each
 * contact of up to `mostJudgedEach`. Of more contacts, it judges only contacts for which an index
 * shows a reason to skip.
 */
export async function countFatesIn(
  db: Db,
  { organizationId, unsubscribeGroupId: groupId, audience }: FatesQuestion,
  range: ContactRange,
  mostJudgedEach: number,
): Promise<Map<SkipReason | null, number>> {
  const ids = includedIds(db, organizationId, audience, range);
  if (ids === null) return new Map();
  const counted = sql<{ total: number }>`select count(*) as total from (${ids}) included`;
  const total = (await counted.execute(db)).rows[0]?.total ?? 0;
  const question = {
    organizationId,
    unsubscribeGroupId: groupId,
    excludeTags: audience.excludeTags,
    isPending: (id: RawBuilder<unknown>) => isPending(groupId ?? '', id),
  };
  const isSmall = total <= mostJudgedEach;
  const special = [
    ...specialIdsIn(question, range),
    ...audience.excludeTags.map((tag) => taggedIdsIn(organizationId, tag, range)),
    ...(groupId === null ? [] : [pendingIdsIn(groupId, range)]),
  ];
  const rows = await countFatesOf(
    db,
    question,
    isSmall
      ? { ids, range }
      : {
          ids: sql.join(special, sql` union `),
          range,
          where: isIncluded(db, organizationId, audience),
        },
  );
  const fates = new Map(rows.map(({ fate, count }) => [fate, count]));
  const skipped = rows.reduce((sum, { fate, count }) => sum + (fate === null ? 0 : count), 0);
  return isSmall ? fates : fates.set(null, total - skipped);
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
  // SQLite merges the selects in the order of ids. PostgreSQL would read each select to the end.
  const isPostgres = engineOf(db) === 'postgres' && ways.length > 1;
  const selects = isPostgres ? ways.map((way) => sql`(${way} order by id limit ${limit})`) : ways;
  const { rows } = await sql<{ id: string }>`${sql.join(selects, sql` union `)}
    order by id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}
