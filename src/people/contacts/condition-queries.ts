// SQL of contact groups that a query defines: a tree of conditions becomes a single SQL condition
// on a row of `contacts`. Names of columns and words of SQL are constants of this file, and
// everything of a caller is a parameter. A condition is true or false, never null, so that `not` is
// exact.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { foldCase } from '../../platform/runtime/fold-case.ts';
import { amongOf, type Db } from '../../platform/store/db.ts';
import { inTime } from '../../platform/store/in-time.ts';
import { activityAmongAll, activityOf } from '../../run-ledger/queries.ts';
import { countOfTag } from './count-queries.ts';
import { fieldCondition, has, lowered } from './groups/field-queries.ts';
import type { Activity, ContactQuery } from './groups/query-schema.ts';
import { hasStatus } from './list-queries.ts';

type Condition = RawBuilder<SqlBool>;
type Expression = RawBuilder<unknown>;

/** The query of a contact group, with the organization and the time for which it is evaluated. */
export interface AskedQuery {
  organizationId: string;
  query: ContactQuery;
  /** Time from which days are counted back, ms since 1970. */
  at: number;
}

/** Range of contacts by id: greater than `after`, up to `until`. */
export interface ContactRange {
  after: string;
  until: string;
}

const dayMs = 24 * 3_600_000;

/**
 * Returns the condition that a contact has a tag, in upper or lower case. Searches the JSON of the
 * tags: a look-up in the index of tags takes six times as long (1.2 µs on SQLite), so it is only
 * for contacts with letters beyond ASCII in their tags. A tag has no comma, so a comma is always
 * between two tags.
 */
export function tagCondition(db: Db, organizationId: string, tag: string): Condition {
  const folded = foldCase(tag);
  const listed = lowered(db, sql`',' || substr(contacts.tags, 2)`);
  return sql`(case when ${has(db, listed, `,${JSON.stringify(folded)}`)} then true
    when contacts.tags is null or octet_length(contacts.tags) = length(contacts.tags) then false
    else (select 1 from contact_tags one where one.organization_id = ${organizationId}
      and one.tag = ${folded} and one.contact_id = contacts.id) = 1 end) is true`;
}

/** The id of the contact, for conditions on a row of `contacts`. */
export const contactId: Expression = sql`contacts.id`;

/** Returns the condition that a row of `contacts` matches a query. */
function conditionOf(db: Db, { organizationId, query, at }: AskedQuery): Condition {
  const inner = (one: ContactQuery) => conditionOf(db, { organizationId, query: one, at });
  const joined = (list: readonly ContactQuery[], word: Expression): Condition =>
    sql`(${sql.join(list.map(inner), word)})`;
  const did = (way: 'opened' | 'clicked' | 'received', { campaignId, withinDays }: Activity) => {
    const since = at - withinDays * dayMs;
    if (campaignId === undefined) return activityAmongAll({ way, since }, contactId);
    return activityOf(db, { organizationId, campaignId, way, since }, contactId);
  };
  if (query.all) return joined(query.all, sql` and `);
  if (query.any) return joined(query.any, sql` or `);
  if (query.not) return sql`not ${inner(query.not)}`;
  if (query.tag !== undefined) return tagCondition(db, organizationId, query.tag);
  if (query.status !== undefined) {
    const isArchived = sql`contacts.is_archived`;
    return sql`(${hasStatus(organizationId, query.status, contactId, isArchived)}) is true`;
  }
  if (query.opened) return did('opened', query.opened);
  if (query.clicked) return did('clicked', query.clicked);
  if (query.received) return did('received', query.received);
  return fieldCondition(db, query.field ?? '', query, contactId);
}

/** Properties that include a contact in an audience. */
interface Including {
  ids: readonly string[];
  tags: readonly string[];
  queries: readonly AskedQuery[];
}

/**
 * Fragment of a larger query: conditions that a row of `contacts` has any of the ids or tags, or
 * matches any of the queries.
 */
export function includingConditions(
  db: Db,
  organizationId: string,
  { ids, tags, queries }: Including,
): Condition[] {
  return [
    ...(ids.length > 0 ? [amongOf(db, 'contacts.id', ids)] : []),
    ...tags.map((tag) => tagCondition(db, organizationId, tag)),
    ...queries.map((one) => conditionOf(db, one)),
  ];
}

/** Builds a select of the ids of contacts that fulfil `among` and match any of the queries. */
function matching(db: Db, queries: readonly AskedQuery[], among: Condition): RawBuilder<unknown> {
  const [first] = queries;
  const matches = queries.map((one) => conditionOf(db, one));
  const conditions = [
    ...inTime(db),
    sql`contacts.organization_id = ${first?.organizationId}`,
    among,
    sql`(${sql.join(matches, sql` or `)})`,
  ];
  return sql`select contacts.id as id from contacts where ${sql.join(conditions, sql` and `)}`;
}

/** Fragment of a larger query: the ids of all contacts in a range that match any of the queries. */
export function matchingIdsIn(
  db: Db,
  queries: readonly AskedQuery[],
  { after, until }: ContactRange,
): RawBuilder<unknown> {
  return matching(db, queries, sql`contacts.id > ${after} and contacts.id <= ${until}`);
}

/** Returns the ids among `ids` of contacts that match any of the queries. */
export async function matchesAmong(
  db: Db,
  queries: readonly AskedQuery[],
  ids: readonly string[],
): Promise<string[]> {
  const among = amongOf(db, 'contacts.id', ids);
  const { rows } = await sql<{ id: string }>`${matching(db, queries, among)}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Lists the tags that every contact must have to match a query. */
function requiredTags({ all, tag }: ContactQuery): string[] {
  if (all) return all.flatMap(requiredTags);
  return tag === undefined ? [] : [tag];
}

/** Returns the rarest of the tags that every match must have. Null if the query requires no tag. */
async function rarestTag(db: Db, { organizationId, query }: AskedQuery): Promise<string | null> {
  let rarest: { tag: string; count: number } | null = null;
  for (const tag of new Set(requiredTags(query))) {
    const count = await countOfTag(db, organizationId, tag);
    if (rarest === null || count < rarest.count) rarest = { tag, count };
  }
  return rarest?.tag ?? null;
}

/**
 * Returns a select of all matches in a range. Reads the contacts with the rarest tag, or all
 * contacts if no tag is required.
 */
async function matchesIn(
  db: Db,
  asked: AskedQuery,
  range: ContactRange,
): Promise<RawBuilder<unknown>> {
  const tag = await rarestTag(db, asked);
  if (tag === null) return matchingIdsIn(db, [asked], range);
  const { organizationId, query } = asked;
  const conditions = [
    ...inTime(db),
    sql`tagged.organization_id = ${organizationId} and tagged.tag = ${foldCase(tag)}`,
    sql`tagged.contact_id > ${range.after} and tagged.contact_id <= ${range.until}`,
  ];
  if (query.tag === undefined) {
    // A subquery looks up each id, whatever PostgreSQL's statistics say about table sizes.
    conditions.push(sql`(select ${conditionOf(db, asked)} from contacts
      where contacts.id = tagged.contact_id)`);
  }
  return sql`select tagged.contact_id as id from contact_tags tagged
    where ${sql.join(conditions, sql` and `)}`;
}

/** Returns the ids of a page of matches in a range, newest first. */
export async function listMatches(
  db: Db,
  asked: AskedQuery,
  range: ContactRange,
  { limit, offset }: { limit: number; offset: number },
): Promise<string[]> {
  const matches = await matchesIn(db, asked, range);
  const { rows } = await sql<{ id: string }>`${matches}
    order by id desc limit ${limit} offset ${offset}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Counts the matches in a range. */
export async function countMatches(
  db: Db,
  asked: AskedQuery,
  range: ContactRange,
): Promise<number> {
  const matches = await matchesIn(db, asked, range);
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from (${matches}) found`.execute(db);
  return rows[0]?.total ?? 0;
}
