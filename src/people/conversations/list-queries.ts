// SQL for lists of conversations: the rows of a page, newest first, and the number of matches. Each
// list is read in the order of a single index; further conditions on a row are looked up by id.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { foldCase } from '../../platform/runtime/fold-case.ts';
import type { Db } from '../../platform/store/db.ts';
import { inTime } from '../../platform/store/in-time.ts';
import { countOfStatus } from './count-queries.ts';
import { type ConversationRow, findConversations } from './queries.ts';
import type { ConversationStatus } from './schema.ts';

export interface ConversationFilter {
  status?: ConversationStatus | undefined;
  tag?: string | undefined;
  externalId?: string | undefined;
  contactId?: string | undefined;
  /** Bounds of the time of creation, ms since 1970: `from` is included, `to` is not. */
  from?: number | undefined;
  to?: number | undefined;
}

const ownTime = sql`created_at`;
const timeById = sql`(select c.created_at from conversations c where c.id = conversation_id)`;

/** Returns the conditions that a time is within the bounds of the filter. */
function createdIn(
  time: RawBuilder<unknown>,
  { from, to }: ConversationFilter,
): RawBuilder<SqlBool>[] {
  return [
    ...(from === undefined ? [] : [sql<SqlBool>`${time} >= ${from}`]),
    ...(to === undefined ? [] : [sql<SqlBool>`${time} < ${to}`]),
  ];
}

/** Table and condition of a list. `id`: the column of the table with the id of the conversation. */
interface Source {
  from: 'conversations' | 'conversation_tags' | 'conversation_contacts';
  id: 'id' | 'conversation_id';
  where: RawBuilder<SqlBool>;
}

/**
 * Returns a condition on the conversation of a tag or contact link. It is a subquery, so that no
 * planner starts from the table of conversations instead.
 */
function hasValue(column: string, is: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(select ${sql.ref(`c.${column}`)} from conversations c
    where c.id = conversation_id) = ${is}`;
}

function isTagged(organizationId: string, tag: string, id: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(select 1 from conversation_tags t where t.organization_id = ${organizationId}
    and t.tag = ${foldCase(tag)} and t.conversation_id = ${sql.ref(id)}) = 1`;
}

function isWith(contactId: string, id: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(select 1 from conversation_contacts l where l.contact_id = ${contactId}
    and l.conversation_id = ${sql.ref(id)}) = 1`;
}

function sourceOf(db: Db, organizationId: string, filter: ConversationFilter): Source {
  const { status, tag, externalId, contactId } = filter;
  const own = sql<SqlBool>`organization_id = ${organizationId}`;
  const all = (...conditions: RawBuilder<SqlBool>[]) =>
    sql.join([...inTime(db), ...conditions], sql` and `);
  const maybe = <T>(value: T | undefined, build: (value: T) => RawBuilder<SqlBool>) =>
    value === undefined ? [] : [build(value)];
  if (externalId !== undefined || (contactId === undefined && tag === undefined)) {
    const where = all(
      own,
      ...maybe(externalId, (is) => sql<SqlBool>`external_id = ${is}`),
      ...maybe(status, (is) =>
        externalId === undefined
          ? sql<SqlBool>`status = ${is}`
          : sql<SqlBool>`status || '' = ${is}`,
      ),
      ...maybe(tag, (is) => isTagged(organizationId, is, 'conversations.id')),
      ...maybe(contactId, (is) => isWith(is, 'conversations.id')),
      ...createdIn(ownTime, filter),
    );
    return { from: 'conversations', id: 'id', where: sql<SqlBool>`${where}` };
  }
  if (contactId !== undefined) {
    const where = all(
      sql<SqlBool>`contact_id = ${contactId}`,
      hasValue('organization_id', organizationId),
      ...maybe(status, (is) => hasValue('status', is)),
      ...maybe(tag, (is) => isTagged(organizationId, is, 'conversation_contacts.conversation_id')),
      ...createdIn(timeById, filter),
    );
    return { from: 'conversation_contacts', id: 'conversation_id', where: sql<SqlBool>`${where}` };
  }
  const where = all(
    own,
    sql<SqlBool>`tag = ${foldCase(tag ?? '')}`,
    ...maybe(status, (is) => hasValue('status', is)),
    ...createdIn(timeById, filter),
  );
  return { from: 'conversation_tags', id: 'conversation_id', where: sql<SqlBool>`${where}` };
}

/** Returns the rows of a page, newest first. */
export async function selectConversations(
  db: Db,
  organizationId: string,
  filter: ConversationFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<ConversationRow[]> {
  const { from, id, where } = sourceOf(db, organizationId, filter);
  const column = sql.ref(id);
  // Orders by time too: by id alone, an engine would scan the conversations of all organizations.
  const time = from === 'conversations' ? sql`created_at desc, ` : sql``;
  const found = await sql<Record<string, string>>`select ${column} from ${sql.table(from)}
    where ${where} order by ${time}${column} desc limit ${limit} offset ${offset}`.execute(db);
  const ids = found.rows.map((row) => row[id] ?? '');
  const rows = new Map((await findConversations(db, ids)).map((row) => [row.id, row]));
  return ids.flatMap((one) => rows.get(one) ?? []);
}

/** Counts matches. A status alone is read from the counters; further filters count row by row. */
export async function countConversations(
  db: Db,
  organizationId: string,
  filter: ConversationFilter,
): Promise<number> {
  const { status, ...others } = filter;
  if (Object.values(others).every((one) => one === undefined)) {
    return countOfStatus(db, organizationId, status);
  }
  const { from, where } = sourceOf(db, organizationId, filter);
  const { rows } = await sql<{ total: number }>`select count(*) as total from ${sql.table(from)}
    where ${where}`.execute(db);
  return rows[0]?.total ?? 0;
}
