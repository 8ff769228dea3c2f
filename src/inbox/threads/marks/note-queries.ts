// All SQL on `thread_notes`.
import type { RawBuilder, SqlBool } from 'kysely';
import { sql } from 'kysely';
import type { CursorPosition } from '../../../core/api/cursor.ts';
import { type Db, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';
import type { AuthoredRow } from '../authors.ts';

export interface NoteRow extends AuthoredRow {
  id: string;
  organization_id: string;
  thread_id: string;
  body: string;
  color: string | null;
  pinned: number;
  created_at: number;
  updated_at: number;
}

interface NoteTables {
  thread_notes: NoteRow;
}

const own = ownTables<NoteTables>();

export const notes = own.rowsOf('thread_notes', 'note');

interface NotesPage {
  after: CursorPosition | null;
  limit: number;
  within: RawBuilder<SqlBool> | undefined;
}

/** Returns the notes of a thread after the position, oldest first. */
export function listNoteRows(
  db: Db,
  threadId: string,
  { after, limit, within }: NotesPage,
): Promise<NoteRow[]> {
  return tables<NoteTables>(db)
    .selectFrom('thread_notes')
    .selectAll()
    .where('thread_id', '=', threadId)
    .$if(after !== null, (query) => query.where('id', '>', after?.id ?? ''))
    .$call((query) => (within ? query.where(within) : query))
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Moves the notes of a thread to the thread `to`. */
export async function moveNotes(db: Db, from: string, to: string): Promise<void> {
  await sql`update thread_notes set thread_id = ${to} where thread_id = ${from}`.execute(db);
}

/** Erases names of authors and of editors. */
export const eraseNoteNames = own.namesIn('thread_notes', {
  author_id: 'author_name',
  editor_id: 'editor_name',
});
