// All SQL on `message_search` and `search_marks`, the index of message searches. Only the case of
// ASCII letters is ignored, because both engines fold ASCII letters alike.
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { hasMetadataKeys, indexesMetadataKey } from '../../../access/organizations/queries.ts';
import { amongOf, type Db, engineOf } from '../../../platform/store/db.ts';
import { subjectCharacters } from './search-limits.ts';

/**
 * Most characters of an address that are stored. Our addresses are never longer, but addresses in a
 * received header may be.
 */
const addressCharacters = 320;

type Sql = RawBuilder<unknown>;
type Kind = 'to' | 'from' | 'subject' | 'tag' | 'metadata' | 'run' | 'template';

/** A key of metadata and its value, as text. */
export type MetadataPair = readonly [key: string, value: string];

/** Terms of a search. Only metadata and ids are compared with upper and lower case. */
export interface SearchTerms {
  recipient?: string | undefined;
  sender?: string | undefined;
  /** Prefix of the subject. */
  subject?: string | undefined;
  tag?: string | undefined;
  campaignRunId?: string | undefined;
  templateId?: string | undefined;
  /** Metadata. The organization indexes the key of the first pair. */
  metadata?: readonly MetadataPair[] | undefined;
}

/** Most characters of a metadata value in a term. */
const valueCharacters = 200;

/** Converts ASCII letters to lower case, as in the stored terms. */
export function asciiFolded(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function folded(db: Db, text: Sql): Sql {
  return engineOf(db) === 'postgres' ? sql`lower(${text} collate "C")` : sql`lower(${text})`;
}

function senderValue(db: Db): Sql {
  return folded(db, sql`substr(m.from_email, 1, ${sql.lit(addressCharacters)})`);
}

function subjectValue(db: Db): Sql {
  return folded(db, sql`substr(m.subject, 1, ${sql.lit(subjectCharacters)})`);
}

/** Returns the SQL of a table `f` with the keys and values of a metadata column. */
function metadataFields(db: Db, column: Sql): Sql {
  return engineOf(db) === 'postgres'
    ? sql`jsonb_each_text(${column}::jsonb) f(key, value)`
    : sql`json_each(${column}) f`;
}

/** Returns the SQL of the value of a field `f` as text. */
function fieldText(db: Db): Sql {
  return engineOf(db) === 'postgres'
    ? sql`f.value`
    : sql`case f.type when 'true' then 'true' when 'false' then 'false'
        else cast(f.value as text) end`;
}

/** Returns SQL for the metadata terms of these messages, with the keys that organizations index. */
function metadataRows(db: Db, ids: readonly string[]): Sql {
  const organization = sql`m.organization_id`;
  const value = fieldText(db);
  return sql`select m.organization_id, 'metadata' as kind,
      f.key || '=' || substr(${value}, 1, ${sql.lit(valueCharacters)}) as value, m.created_at, m.id
    from messages m cross join ${metadataFields(db, sql`m.metadata`)}
    where ${amongOf(db, 'm.id', ids)} and m.metadata is not null
      and ${hasMetadataKeys(organization)} and ${value} is not null
      and ${indexesMetadataKey(db, organization, sql`f.key`)}`;
}

/** Returns the SQL condition that a metadata column has this value under this key. */
function metadataIs(db: Db, column: Sql, [key, value]: MetadataPair): Sql {
  return sql`(select max(${fieldText(db)}) from ${metadataFields(db, column)}
    where f.key = ${key}) = ${value}`;
}

/** Selects from `ids` the messages that have all of these metadata pairs. */
export async function idsWithMetadata(
  db: Db,
  ids: readonly string[],
  pairs: readonly MetadataPair[],
): Promise<Set<string>> {
  const conditions = pairs.map((pair) => metadataIs(db, sql`m.metadata`, pair));
  const { rows } = await sql<{ id: string }>`select m.id from messages m
    where ${amongOf(db, 'm.id', ids)} and ${sql.join(conditions, sql` and `)}`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** Inserts the metadata terms of these messages, for the keys that organizations index. */
export function insertMetadataTerms(db: Db, ids: readonly string[]): Promise<void> {
  return insertRows(db, ids, metadataRows);
}

/** Deletes up to `limit` metadata terms of an organization; returns the number. */
export async function deleteMetadataTerms(
  db: Db,
  organizationId: string,
  limit: number,
): Promise<number> {
  const key = sql`organization_id, kind, value, created_at, message_id`;
  const { numAffectedRows } = await sql`delete from message_search where (${key}) in (
    select ${key} from message_search where organization_id = ${organizationId}
      and kind = 'metadata' limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Returns the messages of all organizations after an id, in the order of ids. */
export async function messagesAfter(
  db: Db,
  from: string,
  limit: number,
): Promise<{ id: string; organization_id: string }[]> {
  const { rows } = await sql<{ id: string; organization_id: string }>`
    select m.id, m.organization_id from messages m where m.id > ${from}
    order by m.id limit ${limit}`.execute(db);
  return rows;
}

/** Returns SQL for all terms of these messages, as rows of `message_search`. */
function termRows(db: Db, ids: readonly string[]): Sql {
  const these = amongOf(db, 'm.id', ids);
  const row = (kind: Kind, value: Sql) =>
    sql`select m.organization_id, ${sql.lit(kind)} as kind, ${value} as value, m.created_at, m.id`;
  const isPostgres = engineOf(db) === 'postgres';
  const tags = isPostgres
    ? sql`jsonb_array_elements_text(m.tags::jsonb) as t(value)`
    : sql`json_each(m.tags) t`;
  const email = folded(db, sql`substr(r.email, 1, ${sql.lit(addressCharacters)})`);
  return sql.join(
    [
      sql`${row('from', senderValue(db))} from messages m where ${these}`,
      sql`${row('subject', subjectValue(db))} from messages m where ${these} and m.subject <> ''`,
      sql`${row('to', email)} from messages m join recipients r on r.message_id = m.id
        where ${these}`,
      metadataRows(db, ids),
      sql`${row('run', sql`m.campaign_run_id`)} from messages m
        where ${these} and m.campaign_run_id is not null`,
      sql`${row('template', sql`m.template_id`)} from messages m
        where ${these} and m.template_id is not null`,
      sql`${row('tag', folded(db, sql`t.value`))} from messages m, ${tags} where ${these} and m.tags is not null`,
    ],
    sql` union all `,
  );
}

/**
 * Inserts the terms of messages and leaves existing terms. On PostgreSQL it locks the messages
 * against deletion.
 */
export function insertTerms(db: Db, ids: readonly string[]): Promise<void> {
  return insertRows(db, ids, termRows);
}

async function insertRows(
  db: Db,
  ids: readonly string[],
  rowsOf: (db: Db, ids: readonly string[]) => Sql,
): Promise<void> {
  if (ids.length === 0) return;
  if (engineOf(db) === 'postgres') {
    await sql`select id from messages where ${amongOf(db, 'id', ids)}
      order by id for key share`.execute(db);
  }
  await sql`insert into message_search (organization_id, kind, value, created_at, message_id)
    select * from (${rowsOf(db, ids)}) as terms where true
    on conflict do nothing`.execute(db);
}

/**
 * Returns SQL that counts the rows of message `m` in the table: 0 or 1. PostgreSQL would read the
 * whole table for an `exists`.
 */
function isInTable(db: Db): Sql {
  return sql`(select count(*) from message_search
    where organization_id = m.organization_id and kind = 'from' and value = ${senderValue(db)}
      and created_at = m.created_at and message_id = m.id)`;
}

/** Ways to send through a process that ends soon, which no monitoring can scrape. */
const briefWays = ['command', 'sendmail'] as const;
export type BriefWay = (typeof briefWays)[number];

/** Counts the messages sent in each of these ways that are not in the table yet. */
export async function countByCommands(
  db: Db,
  ids: readonly string[],
): Promise<Map<BriefWay, number>> {
  // Matches the beginning that src/outbound/sending/draft.ts writes. Names given by a user come
  // later in the text.
  const sums = briefWays.map(
    (via) =>
      sql`count(case when m.origin like ${`{"via":"${via}",%`} then 1 end) as ${sql.ref(via)}`,
  );
  const { rows } = await sql<Record<BriefWay, number>>`select ${sql.join(sums)} from messages m
    where ${amongOf(db, 'm.id', ids)} and ${isInTable(db)} = 0`.execute(db);
  return new Map(briefWays.map((via) => [via, rows[0]?.[via] ?? 0]));
}

/** Deletes the terms of a message. The message must still exist, locked by the caller. */
export async function deleteTerms(db: Db, id: string): Promise<void> {
  const key = sql`organization_id, kind, value, created_at, message_id`;
  const { rows } = await sql<Record<string, unknown>>`
    select organization_id, kind, value, created_at, id as message_id
    from (${termRows(db, [id])}) as terms`.execute(db);
  if (rows.length === 0) return;
  const keys = rows.map(
    (row) =>
      sql`(${row.organization_id}, ${row.kind}, ${row.value}, ${row.created_at}, ${row.message_id})`,
  );
  await sql`delete from message_search where (${key}) in (${inList(db, keys)})`.execute(db);
}

/** Returns the operand of `in` for rows of several columns. SQLite needs `values` before them. */
function inList(db: Db, keys: readonly Sql[]): Sql {
  const list = sql.join(keys);
  return engineOf(db) === 'postgres' ? list : sql`values ${list}`;
}

/** A message in the order of ids, and whether it is in the table. */
export interface Examined {
  id: string;
  isIn: boolean;
}

/** Returns the messages after `from`, up to `to` if given. Ids are in the order of time. */
export async function examine(
  db: Db,
  { from, to, limit }: { from: string; to?: string; limit: number },
): Promise<Examined[]> {
  const { rows } = await sql<{ id: string; is_in: number }>`
    select m.id, ${isInTable(db)} as is_in
    from messages m
    where m.id > ${from} ${to === undefined ? sql`` : sql`and m.id <= ${to}`}
    order by m.id limit ${limit}`.execute(db);
  return rows.map(({ id, is_in }) => ({ id, isIn: is_in > 0 }));
}

/** Ids up to which the table is filled. The head of search.ts has the passes that move them. */
export interface SearchMarks {
  newest: string;
  settled: string;
}

export async function findMarks(db: Db): Promise<SearchMarks> {
  const { rows } = await sql<SearchMarks>`select newest, settled from search_marks`.execute(db);
  return rows[0] ?? { newest: '', settled: '' };
}

/**
 * Locks the marks until the transaction ends, and returns them. Undefined if a concurrent daemon
 * has the lock.
 */
export async function holdMarks(db: Db): Promise<SearchMarks | undefined> {
  const hold = engineOf(db) === 'postgres' ? sql`for update skip locked` : sql``;
  const { rows } = await sql<SearchMarks>`select newest, settled from search_marks ${hold}`.execute(
    db,
  );
  return rows[0];
}

export async function setMarks(db: Db, { newest, settled }: SearchMarks): Promise<void> {
  await sql`update search_marks set newest = ${newest}, settled = ${settled}`.execute(db);
}

/** Tells whether the filter searches by a term. */
export function isSearch(terms: SearchTerms): boolean {
  const { recipient, sender, subject, tag, metadata, campaignRunId, templateId } = terms;
  const all = [recipient, sender, subject, tag, metadata, campaignRunId, templateId];
  return all.some((term) => term !== undefined);
}

/** Filters of a message list that are not search terms. */
interface Others {
  organizationId: string;
  direction?: string | undefined;
  status?: string | undefined;
  conversationId?: string | undefined;
  contactId?: string | undefined;
}

/** Returns the term of a pair: the key, and the start of the value. */
function termOf([key, value]: MetadataPair): string {
  return `${key}=${[...value].slice(0, valueCharacters).join('')}`;
}

/** Returns the terms that need an exact match. The first is usually the rarest. */
function exactTerms(terms: SearchTerms): [Kind, string][] {
  const { recipient, sender, tag, metadata, campaignRunId, templateId } = terms;
  const given: [Kind, string | undefined][] = [
    ['metadata', metadata?.[0] && termOf(metadata[0])],
    ['to', recipient && asciiFolded(recipient)],
    ['run', campaignRunId],
    ['tag', tag && asciiFolded(tag)],
    ['template', templateId],
    ['from', sender && asciiFolded(sender)],
  ];
  return given.flatMap(([kind, value]) => (value === undefined ? [] : [[kind, value]]));
}

/**
 * Returns the SQL of a column of the row's message, read by key. A subquery, because planners could
 * turn a join into a scan.
 */
function ofMessage(column: string): Sql {
  return sql`(select ${sql.ref(`m.${column}`)} from messages m where m.id = message_search.message_id)`;
}

/**
 * Builds the condition on `message_search` for these terms. A single term selects a range of the
 * key, in the order of time unless it is the subject. The remaining terms are tested for each row.
 */
export function searched(db: Db, terms: SearchTerms, others: Others): RawBuilder<SqlBool> {
  const { organizationId, direction, status, conversationId, contactId } = others;
  const prefix = terms.subject === undefined ? undefined : asciiFolded(terms.subject);
  const [first, ...rest] = exactTerms(terms);
  const asked: Sql[] = [sql`organization_id = ${organizationId}`];
  if (first) {
    asked.push(sql`kind = ${sql.lit(first[0])} and value = ${first[1]}`);
    if (prefix !== undefined) asked.push(beginsWith(db, prefix));
  } else {
    asked.push(subjectRange(prefix ?? ''));
  }
  for (const [kind, value] of rest) {
    asked.push(sql`(select count(*) from message_search x
      where x.organization_id = ${organizationId} and x.kind = ${sql.lit(kind)} and x.value = ${value}
        and x.created_at = message_search.created_at
        and x.message_id = message_search.message_id) > 0`);
  }
  for (const pair of terms.metadata ?? []) {
    asked.push(metadataIs(db, ofMessage('metadata'), pair));
  }
  const columns = { direction, status, conversation_id: conversationId };
  for (const [column, value] of Object.entries(columns)) {
    if (value !== undefined) asked.push(sql`${ofMessage(column)} = ${value}`);
  }
  if (contactId !== undefined) {
    asked.push(sql`(select max(case when r.contact_id = ${contactId} then 1 else 0 end)
      from recipients r where r.message_id = message_search.message_id) = 1`);
  }
  return sql<SqlBool>`${sql.join(asked, sql` and `)}`;
}

/** Returns the SQL condition for the terms of all subjects that begin with this folded text. */
function subjectRange(prefix: string): Sql {
  return sql`kind = 'subject' and value >= ${prefix} and value < ${`${prefix}\u{10FFFF}`}`;
}

/** Tells whether more than `most` messages have a subject with this start. Reads the index only. */
export async function hasMoreSubjects(
  db: Db,
  organizationId: string,
  subject: string,
  most: number,
): Promise<boolean> {
  const { rows } = await sql`select message_id from message_search
    where organization_id = ${organizationId} and ${subjectRange(asciiFolded(subject))}
    limit 1 offset ${most}`.execute(db);
  return rows.length > 0;
}

function beginsWith(db: Db, prefix: string): Sql {
  const length = sql.lit([...prefix].length);
  return sql`substr(${folded(db, ofMessage('subject'))}, 1, ${length}) = ${prefix}`;
}
