// All SQL on `contents`: HTML and text that equal messages share. Rows only, no decisions.
import { sql } from 'kysely';
import { deleteBlobs } from '../../../core/blobs/queries.ts';
import { type Db, engineOf, isOneOf, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';

export class ContentRow {
  id!: string;
  organization_id!: string;
  html!: string | null;
  text!: string | null;
  attachments!: string | null;
  /** Number of messages that share the content. Deleting the last of them deletes the content. */
  uses!: number;
  created_at!: number;
}

interface ContentTables {
  contents: ContentRow;
}

const own = ownTables<ContentTables>();

export const insertContents = own.bulkInsert('contents', ContentRow);

export const findContents = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('contents')
    .selectAll()
    .where('id', ...isOneOf(db, ids)),
);

/** Finds the contents of at most `mostBytes`. Larger contents are measured, but not read. */
export const findSmallContents = own.all((db, ids: readonly string[], mostBytes: number) =>
  db
    .selectFrom('contents')
    .selectAll()
    .where('id', ...isOneOf(db, ids))
    .where(
      sql<number>`coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0)
          + coalesce(octet_length(attachments), 0)`,
      '<=',
      mostBytes,
    ),
);

/** Finds contents by id, without HTML and with only the first `characters` of their text. */
export const findContentBriefs = own.all(
  (db, ids: readonly string[], characters: number) =>
    db
      .selectFrom('contents')
      .select(['id', 'attachments'])
      .select(sql<string | null>`substr(text, 1, ${characters})`.as('text'))
      .where('id', ...isOneOf(db, ids)),
  (rows) => new Map(rows.map((row) => [row.id, row])),
);

/** Adds `uses` to `contents.uses`. The caller has locked the content with `keepContents`. */
export const shareContent = own.run((db, id: string, uses: number) =>
  db
    .updateTable('contents')
    .set((set) => ({ uses: set('uses', '+', uses) }))
    .where('id', '=', id),
);

/**
 * Adds a message to the users of a content that consists only of link targets, without text, HTML
 * and files. The first message inserts the content.
 */
export const useLinksOnly = own.run((db, id: string, organizationId: string, now: number) =>
  db
    .insertInto('contents')
    .values({ id, organization_id: organizationId, uses: 1, created_at: now })
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((set) => ({ uses: set('contents.uses', '+', 1) })),
    ),
);

/**
 * Locks contents until the transaction ends and returns the ids that exist. On PostgreSQL this
 * waits for concurrent deletions, and later deletions wait for it. Rows are locked in the order of
 * their ids, so call it once per transaction.
 */
export const keepContents = own.all(
  (db, ids: readonly string[]) =>
    db
      .selectFrom('contents')
      .select('id')
      .where('id', ...isOneOf(db, ids))
      .$if(engineOf(db) === 'postgres', (q) => q.orderBy('id').forNoKeyUpdate()),
  (rows) => rows.map(({ id }) => id),
);

/** Counts the contents, and sums the bytes of HTML and text, by organization. Reads all rows. */
export const sumContents = own.all((db) =>
  db
    .selectFrom('contents')
    .select('organization_id')
    .select([
      sql<number>`cast(count(*) as bigint)`.as('count'),
      sql<number>`cast(coalesce(sum(coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0)), 0)
        as bigint)`.as('bytes'),
    ])
    .groupBy('organization_id'),
);

/**
 * Subtracts a use of a content, and deletes an unused content with the attachments. The update
 * locks the row: if the last two messages are deleted at the same time, only the second transaction
 * reads 0.
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
  if (blobIds.length > 0) await deleteBlobs(db, blobIds);
}
