// All SQL on `email_projections`: the parsed fields of received mail, and the queue of mail to
// parse. The states of a row are in projection.ts.
import { sql } from 'kysely';
import { type Db, engineOf, isOneOf, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';
import { columnsOf } from '../../../platform/store/rows/bulk-insert.ts';

/** Fields found by parsing. Lists are JSON. */
export class FoundRow {
  is_auto_reply!: number;
  auto_reply_reason!: 'out-of-office' | 'auto-response' | 'delivery-status' | 'read-receipt' | null;
  list_id!: string | null;
  list_unsubscribe_url!: string | null;
  list_unsubscribe_email!: string | null;
  preview!: string | null;
  has_quoted_content!: number;
  parsing_errors!: string | null;
  list_headers!: string | null;
  attachments!: string | null;
  new_content!: string | null;
  quoted_content!: string | null;
  text!: string | null;
  html!: string | null;
}

/** A row of a message that waits to be parsed. */
class WaitingRow {
  message_id!: string;
  due_at!: number | null;
  tries!: number;
}

interface StateRow extends WaitingRow {
  parsed_at: number | null;
}

/** A row before parsing: all fields are null. */
type Unparsed = { [Column in keyof FoundRow]: FoundRow[Column] | null };

interface ProjectionTables {
  email_projections: StateRow & Unparsed;
}

const own = ownTables<ProjectionTables>();

/** Row leased to this daemon for parsing. */
export type TakenProjection = Pick<StateRow, 'message_id' | 'tries'>;

const insertRows = own.bulkInsert('email_projections', WaitingRow);

/**
 * Queues messages for parsing from their `created_at` on. Runs in the transaction that stores them.
 */
export function insertWaiting(
  db: Db,
  messages: readonly { id: string; created_at: number }[],
): Promise<void> {
  const rows = messages.map(({ id, created_at }) => ({
    message_id: id,
    due_at: created_at,
    tries: 0,
  }));
  return insertRows(db, rows);
}

type Due = Pick<StateRow, 'tries'> & { due_at: number };

/**
 * Returns the row with the earliest due time, or undefined. Hot: runs after every change of the
 * store.
 */
export const firstDueProjection = own.first((db) =>
  db
    .selectFrom('email_projections')
    .select(['due_at', 'tries'])
    .where('due_at', 'is not', null)
    .orderBy('due_at')
    .limit(1)
    .$castTo<Due>(),
);

interface Taking {
  now: number;
  leaseUntil: number;
  limit: number;
  /** Whether to select rows with an earlier try; otherwise rows without a try. */
  isBegun: boolean;
}

/**
 * Leases due rows until `leaseUntil`. The lease counts as a try even if the daemon crashes within
 * it.
 */
export async function takeProjections(
  db: Db,
  { now, leaseUntil, limit, isBegun }: Taking,
): Promise<TakenProjection[]> {
  const q = tables<ProjectionTables>(db);
  let due = q
    .selectFrom('email_projections')
    .select('message_id')
    .where('due_at', '<=', now)
    .where('tries', isBegun ? '>' : '=', 0)
    .orderBy('due_at')
    .limit(limit);
  // Skips rows locked by a concurrent lease.
  if (engineOf(db) === 'postgres') due = due.forUpdate().skipLocked();
  const ids = (await due.execute()).map(({ message_id }) => message_id);
  if (ids.length === 0) return [];
  return q
    .updateTable('email_projections')
    .set((set) => ({ due_at: leaseUntil, tries: set('tries', '+', 1) }))
    .where('message_id', ...isOneOf(db, ids))
    .returning(['message_id', 'tries'])
    .execute();
}

/** Makes leased rows due at `dueAt`, if their parse could not run. Subtracts the try. */
export async function handBackProjections(
  db: Db,
  ids: readonly string[],
  dueAt: number,
): Promise<void> {
  if (ids.length === 0) return;
  await lockRows(db, ids);
  await tables<ProjectionTables>(db)
    .updateTable('email_projections')
    .set((set) => ({ due_at: dueAt, tries: set('tries', '-', 1) }))
    .where('message_id', ...isOneOf(db, ids))
    .where('due_at', 'is not', null)
    .execute();
}

/** Makes mail due now that is due after `latest`, because a clock ran ahead. */
export const bringProjectionsToPresent = own.toPresent('email_projections', 'due_at');

/** Extends the leases of these rows, unless they are done. */
export async function renewProjections(
  db: Db,
  ids: readonly string[],
  until: number,
): Promise<void> {
  if (ids.length === 0) return;
  await lockRows(db, ids);
  await tables<ProjectionTables>(db)
    .updateTable('email_projections')
    .set({ due_at: until })
    .where('message_id', ...isOneOf(db, ids))
    .where('due_at', 'is not', null)
    .execute();
}

/** Ends all leases. Only for the sole daemon of a store, when it starts. */
export async function releaseProjections(db: Db, now: number): Promise<void> {
  await tables<ProjectionTables>(db)
    .updateTable('email_projections')
    .set({ due_at: now })
    .where('due_at', '>', now)
    .execute();
}

/** Marks parsed rows as done. */
export async function closeProjections(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await lockRows(db, ids);
  await tables<ProjectionTables>(db)
    .updateTable('email_projections')
    .set({ due_at: null })
    .where('message_id', ...isOneOf(db, ids))
    .where('parsed_at', 'is not', null)
    .execute();
}

const lockRows = own.lockerOf('email_projections', { id: 'message_id' });

const foundColumns = columnsOf(FoundRow);

function filling(isClosed: boolean) {
  return own.change(
    (db, id: string, found: FoundRow, at: number) =>
      db
        .updateTable('email_projections')
        .set({
          parsed_at: at,
          ...Object.fromEntries(foundColumns.map((column) => [column, found[column]])),
          ...(isClosed && { due_at: null }),
        })
        .where('message_id', '=', id)
        .where('parsed_at', 'is', null),
    (count) => count > 0,
  );
}

const fill = filling(false);
const fillAndClose = filling(true);

/**
 * Fills the row of a message that is not parsed yet. Returns false if the message is parsed
 * already, or has no row. `closes` also marks the row as done, as `closeProjections` does.
 */
export function fillProjection(
  db: Db,
  id: string,
  found: FoundRow,
  { at, closes }: { at: number; closes: boolean },
): Promise<boolean> {
  return (closes ? fillAndClose : fill)(db, id, found, at);
}

/**
 * Inserts a row that is not queued, for a message without a row. The caller has locked the message.
 */
export async function insertAsked(db: Db, id: string): Promise<void> {
  await tables<ProjectionTables>(db)
    .insertInto('email_projections')
    .values({ message_id: id, tries: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Counts a failed try and returns the total. Returns 0 if the message is parsed, or gone. */
export async function countTry(db: Db, id: string): Promise<number> {
  const row = await tables<ProjectionTables>(db)
    .updateTable('email_projections')
    .set((set) => ({ tries: set('tries', '+', 1) }))
    .where('message_id', '=', id)
    .where('parsed_at', 'is', null)
    .returning('tries')
    .executeTakeFirst();
  return row?.tries ?? 0;
}

/** Returns the parsed fields, or undefined before the message is parsed. */
export const findFound = own.first((db, id: string) =>
  db
    .selectFrom('email_projections')
    .select(foundColumns)
    .where('message_id', '=', id)
    .where('parsed_at', 'is not', null)
    .$castTo<FoundRow>(),
);

const startOf = (characters: number) =>
  sql<string | null>`substr(coalesce(text, new_content), 1, ${characters})`.as('text');

/**
 * Returns the first `characters` of the text of these messages, by id. Leaves out messages without
 * text.
 */
export const findFoundTextStarts = own.all(
  (db, ids: readonly string[], characters: number) =>
    db
      .selectFrom('email_projections')
      .select(['message_id', startOf(characters)])
      .where('message_id', ...isOneOf(db, ids)),
  (rows) =>
    new Map(rows.flatMap(({ message_id, text }) => (text === null ? [] : [[message_id, text]]))),
);

const startOfHtml = (characters: number) =>
  sql<string | null>`substr(html, 1, ${characters})`.as('html');

/**
 * Returns the first `characters` of the HTML of these messages, by id. Leaves out messages without
 * HTML.
 */
export const findFoundHtmlStarts = own.all(
  (db, ids: readonly string[], characters: number) =>
    db
      .selectFrom('email_projections')
      .select(['message_id', startOfHtml(characters)])
      .where('message_id', ...isOneOf(db, ids))
      .where('html', 'is not', null),
  (rows) =>
    new Map(rows.flatMap(({ message_id, html }) => (html === null ? [] : [[message_id, html]]))),
);

/**
 * Returns preview, attachments and the first `characters` of the new content for lists, by message
 * id.
 */
export const findBriefs = own.all(
  (db, ids: readonly string[], characters: number) =>
    db
      .selectFrom('email_projections')
      .select(['message_id', 'preview', 'attachments'])
      .select(sql<string | null>`substr(new_content, 1, ${characters})`.as('new_content'))
      .where('message_id', ...isOneOf(db, ids))
      .where('parsed_at', 'is not', null),
  (rows) => new Map(rows.map(({ message_id, ...brief }) => [message_id, brief])),
);

/** Empties the texts, attachments and list fields of a mail, and marks it as parsed and done. */
export const emptyProjection = own.run((db, messageId: string, now: number) =>
  db
    .updateTable('email_projections')
    .set({ preview: null, new_content: null, quoted_content: null, text: null, html: null })
    .set({ attachments: null, list_headers: null, due_at: null, parsed_at: now })
    .where('message_id', '=', messageId),
);

/** Returns the ids of the messages that `findFound` would find. */
export const findParsed = own.all(
  (db, ids: readonly string[]) =>
    db
      .selectFrom('email_projections')
      .select('message_id')
      .where('message_id', ...isOneOf(db, ids))
      .where('parsed_at', 'is not', null),
  (rows) => new Set(rows.map(({ message_id }) => message_id)),
);
