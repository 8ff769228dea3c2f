// SQL on `messages` for lists: which messages a page has, and how many match. One index leads from the
// organization to direction, status and time, so a list without one of them merges the ranges of all
// its values, each in order: a page costs its own rows, whatever else there is.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type MessageStatus, messageStatuses } from '../deliveries/status.ts';
import { type Db, engineOf, tables } from '../store/db.ts';
import { mergedRanges } from '../store/merged-ranges.ts';

export interface MessageFilter {
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

/** The ranges of the index that the filter names, one for each direction and status. */
function rangesOf(filter: MessageFilter): Condition[] {
  const { organizationId } = filter;
  return (filter.direction ? [filter.direction] : directions).flatMap((direction) =>
    (filter.status ? [filter.status] : messageStatuses).map((status) =>
      allOf([
        sql`organization_id = ${organizationId}`,
        sql`direction = ${direction}`,
        sql`status = ${status}`,
        ...within(filter),
      ]),
    ),
  );
}

/**
 * What belongs to a conversation or a contact is found by that, and the rest is asked of each row: no
 * other index may seem better to a planner, which does not know how few these are.
 */
function belonging(db: Db, filter: MessageFilter): Condition {
  const { organizationId, conversationId, contactId, direction, status } = filter;
  const ofContact = sql`select message_id from recipients where contact_id = ${contactId}`;
  const isPostgres = engineOf(db) === 'postgres';
  return allOf([
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

function conditionsOf(db: Db, filter: MessageFilter): Condition[] {
  const isBelonging = filter.conversationId !== undefined || filter.contactId !== undefined;
  return isBelonging ? [belonging(db, filter)] : rangesOf(filter);
}

/** The ids of one page, newest first. What comes before the page is passed over in the index. */
export async function listMessageIds(
  db: Db,
  filter: MessageFilter,
  limit: number,
  offset: number,
): Promise<string[]> {
  const ranges = conditionsOf(db, filter).map(
    (condition) => sql`select id, created_at from messages where ${condition}`,
  );
  const order = sql`order by created_at desc, id desc`;
  const page = mergedRanges(db, ranges, order, { limit, offset });
  return (await sql<{ id: string }>`${page}`.execute(db)).rows.map(({ id }) => id);
}

/** How many there are, counted one by one: 50 ns each on SQLite, 200 on PostgreSQL. */
export async function countMessages(db: Db, filter: MessageFilter): Promise<number> {
  const ranges = conditionsOf(db, filter).map((condition) =>
    tables<ListTables>(db)
      .selectFrom('messages')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where(condition),
  );
  const { rows } = await sql<{ total: number }>`
    select ${sql.join(ranges, sql` + `)} as total`.execute(db);
  return rows[0]?.total ?? 0;
}
