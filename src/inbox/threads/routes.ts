// The HTTP operations on the threads of a mailbox (specification 4.4).
import { z } from 'zod';
import { area } from '../../core/api/area.ts';
import { fileOutput } from '../../core/api/file-schema.ts';
import { cursorPageOf } from '../../core/api/pagination.ts';
import { deleted } from '../../core/api/resource-schema.ts';
import { type Caller, internalRoute } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { Extracts } from '../../mail/mime/extracts/extracts.ts';
import { extractsOf } from '../../outbound/messages/expecting/extracts.ts';
import { extractsOutput } from '../../outbound/messages/expecting/schema.ts';
import { ConflictError, ExternalServiceError } from '../../platform/errors.ts';
import { getMailboxMessage, readMailboxAttachment } from './attachments.ts';
import { addLabels, removeLabels } from './marks/labels.ts';
import { createNote, deleteNote, listNotes, updateNote } from './marks/notes.ts';
import { latestThreadMessages, listThreadMessages } from './messages.ts';
import {
  addLabelsInput,
  attachmentPath,
  createNoteInput,
  extractsPath,
  listMessagesQuery,
  listNotesQuery,
  listThreadsQuery,
  mailboxOfThreads,
  noteNoun,
  noteOutput,
  notePath,
  threadPath as params,
  removeLabelsInput,
  standingOutput,
  threadMessageOutput,
  threadOutput,
  updateNoteInput,
  updateThreadInput,
} from './schema.ts';
import { deleteThread, getThread, listThreads, unreadOf, updateThread } from './threads.ts';

const at = area('mailboxes');
const threadsPath = '/v1/mailboxes/{id}/threads';
const path = `${threadsPath}/{threadId}` as const;

const mostLatest = 20;

/** The newest mails of a thread, oldest first: the console opens a thread at its end. */
export const latestMessages = internalRoute({
  name: 'latestThreadMessages',
  permission: 'mailboxes:read',
  ofMailbox: true,
  params,
  run: (app, { caller, params: { id, threadId } }) =>
    latestThreadMessages(app, caller, id, threadId, mostLatest),
});

/** The unread threads in the inboxes of mailboxes, for the navigation of the console. */
export const unreadThreads = internalRoute({
  name: 'unreadThreads',
  // A key that is bound to mailboxes gets the counts of these mailboxes only.
  permission: 'any',
  query: z.strictObject({ mailboxIds: z.array(z.string().max(40)).max(20) }),
  run: (app, { caller, query: { mailboxIds } }) => unreadOf(app, caller, mailboxIds),
});

export const threadRoutes = {
  list: at.get(threadsPath, {
    name: 'listThreads',
    summary: 'List the threads of a mailbox, latest activity first',
    description:
      'Without `folder` it lists all folders except `spam` and `trash`. A thread with new ' +
      'activity moves ahead of the cursor, so that a walk lists each thread at most once.',
    params: mailboxOfThreads,
    query: listThreadsQuery,
    output: cursorPageOf(threadOutput),
    run: (app, { caller, params: { id }, query }) => listThreads(app, caller, id, query),
  }),
  get: at.get(path, {
    name: 'getThread',
    summary: 'Show a thread',
    params,
    output: threadOutput,
    run: (app, { caller, params: { id, threadId } }) => getThread(app, caller, id, threadId),
  }),
  update: at.patch(path, {
    name: 'updateThread',
    summary: 'Move a thread, mark it, or snooze it',
    params,
    body: updateThreadInput,
    output: threadOutput,
    run: (app, { caller, params: { id, threadId }, body }) =>
      updateThread(app, caller, id, threadId, body),
  }),
  delete: at.delete(path, {
    name: 'deleteThread',
    summary: 'Move a thread to trash; delete it for good from there',
    params,
    output: deleted,
    run: (app, { caller, params: { id, threadId } }) => deleteThread(app, caller, id, threadId),
  }),
  messages: at.get(`${path}/messages`, {
    name: 'listThreadMessages',
    summary: 'List the messages of a thread, oldest first',
    params,
    query: listMessagesQuery,
    output: cursorPageOf(threadMessageOutput),
    run: (app, { caller, params: { id, threadId }, query }) =>
      listThreadMessages(app, caller, id, threadId, query),
  }),
  addLabels: at.post(`${path}/labels`, {
    name: 'addThreadLabels',
    summary: 'Add labels to a thread',
    description: 'At most 50. A label keeps its letter case, and is compared without it.',
    params,
    body: addLabelsInput,
    output: standingOutput,
    throws: [ConflictError],
    run: (app, { caller, params: { id, threadId }, body }) =>
      addLabels(app, caller, id, threadId, body),
  }),
  removeLabels: at.delete(`${path}/labels`, {
    name: 'removeThreadLabels',
    summary: 'Remove labels from a thread; missing ones are ignored',
    permission: 'mailboxes:write',
    params,
    body: removeLabelsInput,
    output: standingOutput,
    run: (app, { caller, params: { id, threadId }, body }) =>
      removeLabels(app, caller, id, threadId, body),
  }),
};

export const attachmentRoutes = {
  get: at.get('/v1/mailboxes/{id}/messages/{messageId}/attachments/{n}', {
    name: 'getMailboxAttachment',
    summary: 'Download an attachment of a message in a mailbox',
    description:
      'Takes its number in the messages of the thread. Answers with its type, size and ' +
      'name; a type that a browser would run as a page is `application/octet-stream`.',
    params: attachmentPath,
    sendsFile: true,
    output: fileOutput,
    throws: [ExternalServiceError],
    run: (app, { caller, params: path }) => readMailboxAttachment(app, caller, path),
  }),
};

export const extractRoutes = {
  get: at.get('/v1/mailboxes/{id}/messages/{messageId}/extracts', {
    name: 'getMailboxExtracts',
    summary: 'Find the one-time codes and the links of a message in a mailbox',
    description:
      'Found as by `svc messages expect`: at most 10 codes of 4 to 8 digits, and at most ' +
      '100 links, of the HTML if it has any, else of the text.',
    params: extractsPath,
    output: extractsOutput,
    run: (app, { caller, params: path }) => readExtracts(app, caller, path),
  }),
};

const ofNotes = area('mailboxes', { noun: noteNoun });
const notesPath = `${path}/notes` as const;

export const noteRoutes = {
  list: ofNotes.get(notesPath, {
    name: 'listThreadNotes',
    summary: 'List the notes on a thread, oldest first',
    params,
    query: listNotesQuery,
    output: cursorPageOf(noteOutput),
    run: (app, { caller, params: { id, threadId }, query }) =>
      listNotes(app, caller, id, threadId, query),
  }),
  create: ofNotes.post(notesPath, {
    name: 'createThreadNote',
    summary: 'Write a note on a thread; notes are never mailed',
    status: 201,
    params,
    body: createNoteInput,
    output: noteOutput,
    run: (app, { caller, params: { id, threadId }, body }) =>
      createNote(app, caller, id, threadId, body),
  }),
  update: ofNotes.patch(`${notesPath}/{noteId}`, {
    name: 'updateThreadNote',
    summary: 'Change a note',
    params: notePath,
    body: updateNoteInput,
    output: noteOutput,
    run: (app, { caller, params: { id, threadId, noteId }, body }) =>
      updateNote(app, caller, { mailboxId: id, threadId, noteId }, body),
  }),
  delete: ofNotes.delete(`${notesPath}/{noteId}`, {
    name: 'deleteThreadNote',
    summary: 'Delete a note',
    params: notePath,
    output: deleted,
    run: (app, { caller, params: { id, threadId, noteId } }) =>
      deleteNote(app, caller, { mailboxId: id, threadId, noteId }),
  }),
};

// The codes and links of a message in a mailbox.

/**
 * Finds the codes and links of a message in a mailbox.
 * @throws ResourceNotFoundError (mailbox, message); CapacityError if the parse worker is full.
 */
async function readExtracts(
  app: App,
  { organizationId }: Caller,
  { id, messageId }: { id: string; messageId: string },
): Promise<Extracts> {
  return extractsOf(app, await getMailboxMessage(app, organizationId, id, messageId));
}
