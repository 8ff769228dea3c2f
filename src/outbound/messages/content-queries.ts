// All SQL on `contents` and `blobs`: HTML and text that equal messages share, attachments and raw mail. Rows
// only, no decisions.
import { type Kysely, sql } from 'kysely';
import {
  bulkInsert,
  type Db,
  engineOf,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../../platform/store/db.ts';

export interface ContentRow {
  id: string;
  organization_id: string;
  html: string | null;
  text: string | null;
  attachments: string | null;
  /** Number of messages that share the content. Deleting the last of them deletes the content. */
  uses: number;
  created_at: number;
}

export interface BlobRow {
  id: string;
  organization_id: string;
  size: number;
  data: Buffer;
  created_at: number;
}

interface ContentTables {
  contents: ContentRow;
  blobs: BlobRow;
}

type IdList = { ids: unknown };

export const insertContents = bulkInsert<ContentTables>('contents', [
  'id',
  'organization_id',
  'html',
  'text',
  'attachments',
  'uses',
  'created_at',
]);
export const insertBlobs = bulkInsert<ContentTables>('blobs', [
  'id',
  'organization_id',
  'size',
  'data',
  'created_at',
]);

const selectContents = statement((db: Kysely<ContentTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('contents')
    .selectAll()
    .where(isOneOf(db, 'id', parameter('ids'))),
);

export function findContents(db: Db, ids: readonly string[]): Promise<ContentRow[]> {
  return selectContents(db, { ids: idList(db, ids) });
}

const selectSmallContents = statement(
  (db: Kysely<ContentTables>, parameter: ParameterOf<{ ids: unknown; mostBytes: number }>) =>
    db
      .selectFrom('contents')
      .selectAll()
      .where(isOneOf(db, 'id', parameter('ids')))
      .where(
        sql<number>`coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0)
          + coalesce(octet_length(attachments), 0)`,
        '<=',
        parameter('mostBytes'),
      ),
);

/** Finds the contents of at most `mostBytes`. Neither engine reads the larger ones. */
export function findSmallContents(
  db: Db,
  ids: readonly string[],
  mostBytes: number,
): Promise<ContentRow[]> {
  return selectSmallContents(db, { ids: idList(db, ids), mostBytes });
}

interface Starts {
  ids: unknown;
  characters: number;
}

type ContentBrief = Pick<ContentRow, 'id' | 'text' | 'attachments'>;

const selectBriefs = statement((db: Kysely<ContentTables>, parameter: ParameterOf<Starts>) =>
  db
    .selectFrom('contents')
    .select(['id', 'attachments'])
    .select(sql<string | null>`substr(text, 1, ${parameter('characters')})`.as('text'))
    .where(isOneOf(db, 'id', parameter('ids'))),
);

/** Finds contents by id, without HTML and with only the first `characters` of their text. */
export async function findContentBriefs(
  db: Db,
  ids: readonly string[],
  characters: number,
): Promise<Map<string, ContentBrief>> {
  const rows = await selectBriefs(db, { ids: idList(db, ids), characters });
  return new Map(rows.map((row) => [row.id, row]));
}

type SharedContent = { id: string; uses: number };

const addUses = statement((db: Kysely<ContentTables>, parameter: ParameterOf<SharedContent>) =>
  db
    .updateTable('contents')
    .set((set) => ({ uses: set('uses', '+', parameter('uses')) }))
    .where('id', '=', parameter('id')),
);

/** Counts `uses` more messages on the content. The caller has locked it with `keepContents`. */
export async function shareContent(db: Db, id: string, uses: number): Promise<void> {
  await addUses(db, { id, uses });
}

const keepRows = statement((db: Kysely<ContentTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('contents')
    .select('id')
    .where(isOneOf(db, 'id', parameter('ids')))
    .$if(engineOf(db) === 'postgres', (q) => q.orderBy('id').forNoKeyUpdate()),
);

/**
 * Locks contents until the transaction ends and returns the ids that exist. On PostgreSQL this waits for
 * concurrent deletions, and later deletions wait for it. Rows are locked in the order of their ids, so call
 * it once per transaction.
 */
export async function keepContents(db: Db, ids: readonly string[]): Promise<string[]> {
  return (await keepRows(db, { ids: idList(db, ids) })).map(({ id }) => id);
}

const selectBlob = statement((db: Kysely<ContentTables>, parameter: ParameterOf<{ id: string }>) =>
  db.selectFrom('blobs').select('data').where('id', '=', parameter('id')),
);

export async function findBlob(db: Db, id: string): Promise<Buffer | undefined> {
  return (await selectBlob(db, { id }))[0]?.data;
}

const selectSmallBlobs = statement(
  (db: Kysely<ContentTables>, parameter: ParameterOf<{ ids: unknown; mostBytes: number }>) =>
    db
      .selectFrom('blobs')
      .select(['id', 'data'])
      .where(isOneOf(db, 'id', parameter('ids')))
      .where('size', '<=', parameter('mostBytes')),
);

/** Finds the blobs of at most `mostBytes`, by id. */
export async function findSmallBlobs(
  db: Db,
  ids: readonly string[],
  mostBytes: number,
): Promise<Map<string, Buffer>> {
  const rows = await selectSmallBlobs(db, { ids: idList(db, ids), mostBytes });
  return new Map(rows.map(({ id, data }) => [id, data]));
}

/**
 * Drops one use of a content, and deletes an unused content with its attachments. The update locks the row:
 * if the last two messages go at once, only the second transaction reads 0.
 */
export async function deleteUnusedContent(db: Db, id: string): Promise<void> {
  const q = tables<ContentTables>(db);
  const content = await q
    .updateTable('contents')
    .set((set) => ({ uses: set('uses', '-', 1) }))
    .where('id', '=', id)
    .returning(['uses', 'attachments'])
    .executeTakeFirstOrThrow();
  if (content.uses > 0) return;
  await q.deleteFrom('contents').where('id', '=', id).execute();
  const attachments = JSON.parse(content.attachments ?? '[]') as { blobId: string }[];
  const blobIds = attachments.map(({ blobId }) => blobId);
  if (blobIds.length > 0) await q.deleteFrom('blobs').where('id', 'in', blobIds).execute();
}

/** Deletes the raw mail of a message that is deleted. */
export async function deleteBlob(db: Db, id: string): Promise<void> {
  await tables<ContentTables>(db).deleteFrom('blobs').where('id', '=', id).execute();
}
