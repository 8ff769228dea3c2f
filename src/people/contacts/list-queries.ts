// SQL on contacts for lists: the ids of a page, and the number of matches. The most selective
// filter finds ids by an index, and the remaining filters are tested for each id. Without a
// selective filter, contacts are read in the order of the index of creation times.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { foldCase } from '../../platform/runtime/fold-case.ts';
import { type Db, engineOf, packedList } from '../../platform/store/db.ts';
import { inTime } from '../../platform/store/in-time.ts';
import { activeBlocksFor, activeReasonOf } from '../blocks/queries.ts';
import type { BlockReason } from '../blocks/schema.ts';
import { countOfTag } from './count-queries.ts';
import type { ContactStatus } from './schema.ts';

export interface ContactFilter {
  organizationId: string;
  tag?: string | undefined;
  foldedEmail?: string | undefined;
  externalId?: string | undefined;
  status?: ContactStatus | undefined;
  /** Restricts the list to the ids that a search found. */
  ids?: readonly string[] | undefined;
  /** Ms since 1970. */
  updatedSince?: number | undefined;
  /** Ms since 1970: `from` is included, `to` is not. */
  createdFrom?: number | undefined;
  createdTo?: number | undefined;
}

type Condition = RawBuilder<SqlBool>;
type Expression = RawBuilder<unknown>;

/** Statuses that follow from blocks, each with the reason of the block. */
const blockedBy = {
  unsubscribed: 'unsubscribe',
  bounced: 'bounce',
  complained: 'complaint',
} as const satisfies Partial<Record<ContactStatus, BlockReason>>;

function reasonOf(status: ContactStatus | undefined): BlockReason | undefined {
  return status !== undefined && status in blockedBy
    ? blockedBy[status as keyof typeof blockedBy]
    : undefined;
}

/** Returns SQL for a column of the contact with this id. */
const column = (name: string, id: Expression): Expression =>
  sql`(select ${sql.ref(name)} from contacts one where one.id = ${id})`;

/** Returns the condition that the contact with this id has the status (rules: present.ts). */
export function hasStatus(
  organizationId: string,
  status: ContactStatus,
  id: Expression,
  isArchived: Expression = column('is_archived', id),
): Condition {
  if (status === 'archived') return sql`${isArchived} = 1`;
  const reason = sql`(select ${activeReasonOf(organizationId, sql`folded_identifier`)}
    from contact_identities one where one.contact_id = ${id} and position = 0)`;
  const wanted = reasonOf(status);
  return wanted === undefined
    ? sql`${isArchived} = 0 and coalesce(${reason}, 'manual') = 'manual'`
    : sql`${isArchived} = 0 and ${reason} = ${wanted}`;
}

/** A select of contact ids in the order of a list. It applies some of the filters of the list. */
interface Way {
  from: Expression;
  id: Expression;
  order: Expression;
  where: Condition[];
  /** Filters that `from` and `where` already apply; `rest` adds the remaining filters. */
  answers: readonly (keyof ContactFilter)[];
}

/** Selects contacts with the status of a block reason, by their blocks, the last block first. */
function wayOfReason(organizationId: string, reason: BlockReason): Way {
  const owner = sql`(select contact_id from contact_identities
    where organization_id = ${organizationId} and folded_identifier = block.folded_address
    and position = 0)`;
  return {
    from: sql`(select block.id as block_id, ${owner} as id,
        ${activeReasonOf(organizationId, sql`block.folded_address`)} as reason
      from (${activeBlocksFor(organizationId, reason)}) block) found`,
    id: sql`found.id`,
    order: sql`found.block_id desc`,
    where: [
      sql`found.id is not null`,
      // The weightiest reason decides the status, so a block for a lesser reason does not count.
      sql`found.reason = ${reason}`,
      sql`${column('is_archived', sql`found.id`)} = 0`,
    ],
    answers: ['status'],
  };
}

function wayOfContacts(organizationId: string): Way {
  return {
    from: sql`contacts`,
    id: sql`contacts.id`,
    order: sql`contacts.created_at desc, contacts.id desc`,
    where: [sql`contacts.organization_id = ${organizationId}`],
    answers: [],
  };
}

function byId(from: Expression): Pick<Way, 'from' | 'id' | 'order' | 'where'> {
  return { from, id: sql`found.id`, order: sql`found.id desc`, where: [] };
}

function wayOfIds(db: Db, ids: readonly string[]): Way {
  const packed = packedList(db, ids);
  const listed =
    engineOf(db) === 'postgres'
      ? sql`unnest(${packed}::text[]) as found(id)`
      : sql`(select value as id from json_each(${packed})) found`;
  return { ...byId(listed), answers: ['ids'] };
}

/** Returns a condition for the creation bounds of the filter; empty without bounds. */
function createdIn(time: Expression, { createdFrom, createdTo }: ContactFilter): Condition[] {
  if (createdFrom === undefined && createdTo === undefined) return [];
  const [from, to] = [createdFrom ?? 0, createdTo ?? Number.MAX_SAFE_INTEGER];
  return [sql`${time} >= ${from} and ${time} < ${to}`];
}

/** Chooses the select for a list: by the most selective filter that is set. */
function wayFor(db: Db, filter: ContactFilter): Way {
  const { organizationId, foldedEmail, externalId, ids, tag, status, updatedSince } = filter;
  if (ids) return wayOfIds(db, ids);
  const all = wayOfContacts(organizationId);
  if (externalId !== undefined) {
    const isIt = sql<SqlBool>`contacts.external_id = ${externalId}`;
    return { ...all, where: [...all.where, isIt], answers: ['externalId'] };
  }
  if (foldedEmail !== undefined) {
    const ofAddress = sql`select contact_id as id from contact_identities
      where organization_id = ${organizationId} and folded_identifier = ${foldedEmail}`;
    return { ...byId(sql`(${ofAddress}) found`), answers: ['foldedEmail'] };
  }
  const reason = reasonOf(status);
  if (reason !== undefined) return wayOfReason(organizationId, reason);
  if (status === 'archived') {
    const where = [...all.where, sql<SqlBool>`is_archived = 1`];
    return { ...all, order: sql`contacts.id desc`, where, answers: ['status'] };
  }
  if (tag !== undefined) {
    const where = [
      sql<SqlBool>`organization_id = ${organizationId}`,
      sql<SqlBool>`tag = ${foldCase(tag)}`,
    ];
    const id = sql`contact_tags.contact_id`;
    return { from: sql`contact_tags`, id, order: sql`${id} desc`, where, answers: ['tag'] };
  }
  if (updatedSince === undefined) {
    const within = createdIn(sql`contacts.created_at`, filter);
    return { ...all, where: [...all.where, ...within], answers: ['createdFrom', 'createdTo'] };
  }
  // With an upper bound: for an open range PostgreSQL expects a third of all rows, and would scan
  // the table.
  const range = sql<SqlBool>`updated_at between ${updatedSince} and ${Number.MAX_SAFE_INTEGER}`;
  const where = [...all.where, range];
  return {
    ...all,
    order: sql`updated_at desc, contacts.id desc`,
    where,
    answers: ['updatedSince'],
  };
}

/** Returns conditions on the id for the filters that the select does not apply. */
function rest(filter: ContactFilter, { id, answers }: Way): Condition[] {
  const { organizationId, foldedEmail, externalId, tag, status, updatedSince } = filter;
  const asks = (name: keyof ContactFilter) => filter[name] !== undefined && !answers.includes(name);
  const conditions: Condition[] = [];
  if (asks('foldedEmail')) {
    conditions.push(sql`${id} = (select contact_id from contact_identities
      where organization_id = ${organizationId} and folded_identifier = ${foldedEmail})`);
  }
  if (asks('externalId')) conditions.push(sql`${column('external_id', id)} = ${externalId}`);
  if (tag !== undefined && asks('tag')) {
    // A subquery instead of `exists`, which PostgreSQL turns into a join with all tags. This needs
    // a single index look-up for each id.
    conditions.push(sql`(select 1 from contact_tags one where one.organization_id = ${organizationId}
      and one.tag = ${foldCase(tag)} and one.contact_id = ${id}) = 1`);
  }
  if (asks('status') && status) conditions.push(hasStatus(organizationId, status, id));
  if (!answers.includes('createdFrom')) {
    conditions.push(...createdIn(column('created_at', id), filter));
  }
  if (asks('updatedSince')) conditions.push(sql`${column('updated_at', id)} >= ${updatedSince}`);
  return conditions;
}

function found(db: Db, filter: ContactFilter): { way: Way; where: Expression } {
  const way = wayFor(db, filter);
  const conditions = [...inTime(db), ...way.where, ...rest(filter, way)];
  const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``;
  return { way, where };
}

/** Returns the contact ids of a page. Rows before the page are read only in the index. */
export async function listContactIds(
  db: Db,
  filter: ContactFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<string[]> {
  const { way, where } = found(db, filter);
  const { rows } = await sql<{ id: string }>`select ${way.id} as id from ${way.from} ${where}
    order by ${way.order} limit ${limit} offset ${offset}`.execute(db);
  return rows.map(({ id }) => id);
}

async function countFound(db: Db, filter: ContactFilter): Promise<number> {
  const { way, where } = found(db, filter);
  const { rows } = await sql<{ total: number }>`
    select count(*) as total from ${way.from} ${where}`.execute(db);
  return rows[0]?.total ?? 0;
}

/**
 * Counts matches. Reads the number of all contacts, or of a tag, from a stored counter. If the only
 * further filter is the status `active`, subtracts the contacts with the remaining statuses. For
 * all further filters counts rows.
 */
export async function countContacts(db: Db, filter: ContactFilter): Promise<number> {
  const { organizationId, tag, ...others } = filter;
  const asked = Object.values(others).filter((value) => value !== undefined);
  if (asked.length === 0) return countOfTag(db, organizationId, tag);
  const isByStatusAlone = asked.length === 1 && filter.status === 'active';
  if (!isByStatusAlone) return countFound(db, filter);
  let total = await countOfTag(db, organizationId, tag);
  for (const status of ['archived', 'bounced', 'complained', 'unsubscribed'] as const) {
    total -= await countFound(db, { organizationId, tag, status });
  }
  return total;
}
