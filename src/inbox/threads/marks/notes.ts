// Notes on a thread, for the people and programs that work with it. They are never mailed, and
// full-text search does not cover them.
import { type CursorPage, cutPage, readCursor } from '../../../core/api/cursor.ts';
import type { Deleted } from '../../../core/api/resource-schema.ts';
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { changesOf } from '../../../history/audit/audit.ts';
import { record } from '../../../history/events/record.ts';
import { ResourceNotFoundError } from '../../../platform/errors.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import type { Db } from '../../../platform/store/db.ts';
import { createdWithin } from '../../../platform/store/rows/rows.ts';
import { boundsOf } from '../../../platform/store/rows/time-range.ts';
import { storeAction } from '../../approvals/actions.ts';
import { authoredBy, editedBy, presentAuthors, requireOwn } from '../authors.ts';
import {
  type CreateNote,
  type CursorQuery,
  noteNoun,
  type ThreadNote,
  type UpdateNote,
} from '../schema.ts';
import { getThreadRow, holdThread } from '../threads.ts';
import { listNoteRows, type NoteRow, notes } from './note-queries.ts';

function toNote(row: NoteRow): ThreadNote {
  return {
    id: row.id,
    ...presentAuthors(row),
    body: row.body,
    color: row.color as ThreadNote['color'],
    pinned: row.pinned === 1,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

/** Records the change of a note as an action in the mailbox, unless the operator made it. */
function recordAction(app: App, trx: Db, caller: Caller, path: NotePath, change: string) {
  const { mailboxId, threadId, noteId } = path;
  const summary = { noteId, change };
  const about = { mailboxId, type: 'note', messageId: null, threadId, summary } as const;
  return storeAction(app, trx, caller, about);
}

/** Adds a note to a thread. @throws ResourceNotFoundError (mailbox, thread). */
export function createNote(
  app: App,
  caller: Caller,
  mailboxId: string,
  threadId: string,
  { body, color = null, pinned = false }: CreateNote,
): Promise<ThreadNote> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    await holdThread(trx, organizationId, mailboxId, threadId);
    const now = app.clock.now();
    const row: NoteRow = {
      id: app.newId(noteNoun),
      organization_id: organizationId,
      thread_id: threadId,
      ...authoredBy(caller),
      body,
      color,
      pinned: Number(pinned),
      created_at: now,
      updated_at: now,
    };
    await notes.insert(trx, row);
    const details = { threadId };
    await record(app, trx, caller, { subject: row.id, action: noteNoun.created, details });
    await recordAction(app, trx, caller, { mailboxId, threadId, noteId: row.id }, 'created');
    return toNote(row);
  });
}

/**
 * Returns a page of notes, oldest first. @throws ResourceNotFoundError, ValidationError (cursor).
 */
export async function listNotes(
  app: App,
  { organizationId }: Caller,
  mailboxId: string,
  threadId: string,
  { limit, cursor, ...times }: CursorQuery,
): Promise<CursorPage<ThreadNote>> {
  const { db } = app.store;
  await getThreadRow(db, organizationId, mailboxId, threadId);
  const { from, to } = boundsOf(times);
  const scope = ['thread notes', threadId, from, to];
  const after = cursor === undefined ? null : readCursor(scope, cursor);
  const within = createdWithin(times);
  const rows = await listNoteRows(db, threadId, { after, limit: limit + 1, within });
  const { shown, nextCursor } = cutPage(scope, rows, limit, ({ created_at: at, id }) => ({
    at,
    id,
  }));
  return { items: shown.map(toNote), nextCursor };
}

/** Locks the thread and returns the note. @throws ResourceNotFoundError. */
async function holdNote(
  trx: Db,
  organizationId: string,
  { mailboxId, threadId, noteId }: NotePath,
): Promise<NoteRow> {
  await holdThread(trx, organizationId, mailboxId, threadId);
  const row = await notes.get(trx, organizationId, noteId);
  if (row.thread_id !== threadId) throw new ResourceNotFoundError('note', noteId);
  return row;
}

/** Ids in the path of a note. */
export interface NotePath {
  mailboxId: string;
  threadId: string;
  noteId: string;
}

/**
 * Changes the given fields. @throws ResourceNotFoundError, ForbiddenError (a key that only
 * proposes, on a note of another author).
 */
export function updateNote(
  app: App,
  caller: Caller,
  path: NotePath,
  { body, color, pinned }: UpdateNote,
): Promise<ThreadNote> {
  const { organizationId } = caller;
  const { threadId, noteId } = path;
  return app.store.write(async (trx) => {
    const before = await holdNote(trx, organizationId, path);
    requireOwn(caller, before, 'note');
    const change = {
      ...(body !== undefined && { body }),
      ...(color !== undefined && { color }),
      ...(pinned !== undefined && { pinned: Number(pinned) }),
    };
    const changed = Object.keys(changesOf(before, { ...before, ...change }));
    if (changed.length === 0) return toNote(before);
    const row = await notes.update(trx, organizationId, noteId, {
      ...change,
      ...editedBy(caller),
      updated_at: Math.max(app.clock.now(), before.updated_at + 1),
    });
    // The text of a note stays out of the audit log.
    const details = { threadId, changed };
    await record(app, trx, caller, { subject: noteId, action: noteNoun.updated, details });
    await recordAction(app, trx, caller, path, 'updated');
    return toNote(row);
  });
}

/** Deletes a note. @throws ResourceNotFoundError, ForbiddenError as `updateNote`. */
export async function deleteNote(app: App, caller: Caller, path: NotePath): Promise<Deleted> {
  await app.store.write(async (trx) => {
    requireOwn(caller, await holdNote(trx, caller.organizationId, path), 'note');
    await notes.remove(trx, caller.organizationId, path.noteId);
    const details = { threadId: path.threadId };
    await record(app, trx, caller, { subject: path.noteId, action: noteNoun.deleted, details });
    await recordAction(app, trx, caller, path, 'deleted');
  });
  return { success: true, message: `Note ${path.noteId} was deleted` };
}
