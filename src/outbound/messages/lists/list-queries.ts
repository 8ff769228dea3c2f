// SQL on `messages` for lists: the ids of a page, and the number of matches. The index has the
// columns organization, direction, status and time. A list that leaves a column open merges the
// ranges of all values in order. So a page costs only the rows of the page, in a store of any size.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Db, engineOf, tables } from '../../../platform/store/db.ts';
import { inTime } from '../../../platform/store/in-time.ts';
import { mergedRanges } from '../../../platform/store/rows/merged-ranges.ts';
import { type MessageStatus, messageStatuses } from '../../deliveries/status.ts';
import { isSearch, type SearchTerms, searched } from './term-queries.ts';

export interface MessageFilter extends SearchTerms {
  organizationId: string;
  direction?: 'outbound' | 'inbound' | undefined;
  status?: MessageStatus | undefined;
  conversationId?: string | undefined;
  contactId?: string | undefined;
  /** Ms since 1970, included. */
  createdFrom?: number | undefined;
  createdTo?: number | undefined;
}

interface ListTables {
  messages: object;
  message_search: object;
}

const directions = ['outbound', 'inbound'] as const;

type Condition = RawBuilder<SqlBool>;

function allOf(conditions: readonly Condition[]): Condition {
  return sql.join(conditions, sql` and `);
}

function within({ createdFrom, createdTo }: MessageFilter): Condition[] {
  return [
    ...(createdFrom === undefined ? [] : [sql<SqlBool>`created_at >= ${createdFrom}`]),
    ...(createdTo === undefined ? [] : [sql<SqlBool>`created_at <= ${createdTo}`]),
  ];
}

/**
 * Returns the ranges of the index that the filter covers: a range for each direction and status.
 */
function rangesOf(db: Db, filter: MessageFilter): Condition[] {
  const { organizationId } = filter;
  return (filter.direction ? [filter.direction] : directions).flatMap((direction) =>
    (filter.status ? [filter.status] : messageStatuses).map((status) =>
      allOf([
        ...inTime(db),
        sql`organization_id = ${organizationId}`,
        sql`direction = ${direction}`,
        sql`status = ${status}`,
        ...within(filter),
      ]),
    ),
  );
}

/**
 * Builds the condition for a conversation or contact. The remaining columns are tested row by row.
 * `|| ''` keeps the planner from the indexes of those columns: it cannot know that a conversation
 * or a contact has few messages.
 */
function belonging(db: Db, filter: MessageFilter): Condition {
  const { organizationId, conversationId, contactId, direction, status } = filter;
  const ofContact = sql`select message_id from recipients where contact_id = ${contactId}`;
  const isPostgres = engineOf(db) === 'postgres';
  return allOf([
    ...inTime(db),
    contactId === undefined
      ? sql`organization_id = ${organizationId}`
      : sql`organization_id || '' = ${organizationId}`,
    ...(contactId === undefined
      ? [sql<SqlBool>`conversation_id = ${conversationId}`]
      : [
          isPostgres
            ? sql<SqlBool>`id = any(array(${ofContact}))`
            : sql<SqlBool>`id in (${ofContact})`,
        ]),
    ...(contactId !== undefined && conversationId !== undefined
      ? [sql<SqlBool>`conversation_id || '' = ${conversationId}`]
      : []),
    ...(direction === undefined ? [] : [sql<SqlBool>`direction || '' = ${direction}`]),
    ...(status === undefined ? [] : [sql<SqlBool>`status || '' = ${status}`]),
    ...within(filter),
  ]);
}

/** Conditions that each select a range of an index, with table and id column. */
interface Ranges {
  table: 'messages' | 'message_search';
  id: 'id' | 'message_id';
  conditions: Condition[];
}

function rangesFor(db: Db, filter: MessageFilter): Ranges {
  if (isSearch(filter)) {
    const condition = allOf([...inTime(db), searched(db, filter, filter), ...within(filter)]);
    return { table: 'message_search', id: 'message_id', conditions: [condition] };
  }
  const isBelonging = filter.conversationId !== undefined || filter.contactId !== undefined;
  const conditions = isBelonging ? [belonging(db, filter)] : rangesOf(db, filter);
  return { table: 'messages', id: 'id', conditions };
}

/** Returns the ids of one page, newest first. Rows before the page are skipped in the index. */
export async function listMessageIds(
  db: Db,
  filter: MessageFilter,
  limit: number,
  offset: number,
): Promise<string[]> {
  const { table, id, conditions } = rangesFor(db, filter);
  const column = sql.ref(id);
  const ranges = conditions.map(
    (condition) => sql`select ${column}, created_at from ${sql.table(table)} where ${condition}`,
  );
  const order = sql`order by created_at desc, ${column} desc`;
  const page = mergedRanges(db, ranges, order, { limit, offset });
  return (await sql<Record<string, string>>`${page}`.execute(db)).rows.map((row) => row[id] ?? '');
}

/** Counts matches row by row: 50 ns each on SQLite, 200 on PostgreSQL. */
export async function countMessages(db: Db, filter: MessageFilter): Promise<number> {
  const { table, conditions } = rangesFor(db, filter);
  const ranges = conditions.map((condition) =>
    tables<ListTables>(db)
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where(condition),
  );
  const { rows } = await sql<{ total: number }>`
    select ${sql.join(ranges, sql` + `)} as total`.execute(db);
  return rows[0]?.total ?? 0;
}
