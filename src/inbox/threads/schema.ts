// Input and output schemas of threads, their messages, labels and notes (specification 2.5, 4.4).
import { z } from 'zod';
import { headerText } from '../../core/api/address-schema.ts';
import { attachmentNumber } from '../../core/api/file-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { wholeNumber } from '../../core/api/pagination.ts';
import {
  idOf,
  instant as isoInstant,
  queryFlag,
  timeRange,
} from '../../core/api/resource-schema.ts';
import { message } from '../../outbound/messages/schema.ts';
import { folders } from './folders.ts';

export const noteNoun = noun('note', 'note');

/** Labels of a thread, and characters of a label. */
export const mostLabels = 50;
const labelCharacters = 64;
const noteCharacters = 20_000;
const queryCharacters = 1_000;

const mailboxId = idOf('mailbox', 'is not a mailbox id');
const threadId = idOf('thread', 'is not a thread id');
const messageId = idOf('message', 'is not a message id');

export const mailboxOfThreads = z.strictObject({ id: mailboxId });
export const threadPath = z.strictObject({ id: mailboxId, threadId });
export const notePath = z.strictObject({
  id: mailboxId,
  threadId,
  noteId: idOf(noteNoun, 'is not a note id'),
});
export const attachmentPath = z.strictObject({
  id: mailboxId,
  messageId,
  n: attachmentNumber,
});

export const extractsPath = z.strictObject({ id: mailboxId, messageId });

const cursorQuery = {
  limit: wholeNumber(1, 100).default(20).meta({ description: 'Items per page, at most 100' }),
  cursor: z.string().max(200).optional().meta({ description: '`nextCursor` of the page before' }),
};

const folder = z.enum(folders);
const priority = z.enum(['high', 'normal', 'low']);

const instant = z.union([isoInstant, z.iso.date()], 'must be an ISO 8601 date or time');
/** Time parsed to ms since 1970. */
const time = instant.transform((text) => Date.parse(text));

export const listThreadsQuery = z.strictObject({
  ...timeRange('threads with their last activity'),
  q: z
    .string()
    .min(1)
    .max(queryCharacters)
    .optional()
    .meta({
      description:
        'Search words, all in one message: in its subject, its sender or its text. `"a phrase"`, ' +
        '`from:`, `subject:`, `has:attachment`, and a trailing `*`. A page before the last may be short',
    }),
  folder: folder
    .optional()
    .meta({ description: 'Only this folder (default: all but `spam` and `trash`)' }),
  label: z
    .string()
    .min(1)
    .max(labelCharacters)
    .optional()
    .meta({ description: 'Only threads with this label' }),
  unread: queryFlag.optional().meta({ description: 'Only unread threads, or only read ones' }),
  starred: queryFlag.optional().meta({ description: 'Only starred threads, or only others' }),
  snoozed: queryFlag.optional().meta({ description: 'Only snoozed threads, or only others' }),
  ...cursorQuery,
});

export const listMessagesQuery = z.strictObject(cursorQuery);
export const listNotesQuery = z.strictObject(cursorQuery);

export const updateThreadInput = z
  .strictObject({
    read: z.boolean().optional().meta({ description: 'Mark it as read, or as unread' }),
    starred: z.boolean().optional().meta({ description: 'Star it, or remove the star' }),
    folder: folder.optional().meta({ description: 'Folder to move it to' }),
    priority: priority.optional().meta({ description: 'Priority' }),
    snoozedUntil: time.nullable().optional().meta({
      description: 'End of the snooze: the thread returns to `inbox` unread; null ends it now',
    }),
  })
  .meta({ examples: [{ read: true, folder: 'archive' }] });

const labelList = (text: z.ZodString) =>
  z
    .strictObject({ labels: z.array(text).min(1).max(mostLabels) })
    .meta({ examples: [{ labels: ['urgent'] }] });

export const addLabelsInput = labelList(
  headerText(labelCharacters).regex(/\S/, 'must not be empty'),
);
export const removeLabelsInput = labelList(headerText(labelCharacters));

const standing = {
  id: z.string(),
  folder,
  priority,
  labels: z.array(z.string()),
  read: z.boolean(),
  starred: z.boolean(),
  snoozedUntil: z.string().nullable(),
};

export const standingOutput = z
  .object(standing)
  .meta({ id: 'ThreadStanding', description: 'State of a thread' });

export const threadOutput = z
  .object({
    ...standing,
    subject: z.string().nullable(),
    preview: z.string().nullable().meta({ description: 'Beginning of its newest message' }),
    from: z
      .object({ address: z.string(), displayName: z.string().nullable() })
      .nullable()
      .meta({ description: 'Sender of the newest incoming message' }),
    messageCount: z.int(),
    hasAttachments: z.boolean(),
    hasDraft: z.boolean(),
    lastActivityAt: z.string(),
  })
  .meta({ id: 'Thread', description: 'Messages of a mailbox that belong together' });

export const threadMessageOutput = message
  .extend({
    threadId: z.string(),
    threadPosition: z.int().min(0),
    kind: z.enum(['person', 'auto-reply', 'list', 'bounce', 'sent']),
    preview: z.string().nullable(),
    newContent: z.string().nullable().meta({
      description: 'Text without quotes: 64 KB of a message, 4 MB of a page',
    }),
    newContentTruncated: z
      .boolean()
      .meta({ description: '`GET /v1/messages/{id}/email` has the whole text' }),
    attachments: z.array(
      z.object({
        n: z.int().meta({ description: 'Its number, from 1, in the path of attachments' }),
        filename: z.string().nullable(),
        contentType: z.string(),
        size: z.int(),
      }),
    ),
  })
  .meta({ id: 'ThreadMessage', description: 'A message in a thread' });

const noteColors = ['yellow', 'green', 'blue', 'purple', 'pink', 'red', 'orange', 'gray'] as const;

const noteBody = z
  .string()
  .max(noteCharacters)
  .regex(/\S/, 'must not be empty')
  .meta({ description: 'Text of the note' });
const noteColor = z.enum(noteColors).nullable().meta({ description: 'Colour' });

export const createNoteInput = z
  .strictObject({
    body: noteBody,
    color: noteColor.optional(),
    pinned: z.boolean().optional().meta({ description: 'Show it above the others' }),
  })
  .meta({ examples: [{ body: 'Waits for the invoice', color: 'yellow' }] });

export const updateNoteInput = z
  .strictObject({
    body: noteBody.optional(),
    color: noteColor.optional(),
    pinned: z.boolean().optional().meta({ description: 'Show it above the others' }),
  })
  .meta({ examples: [{ pinned: true }] });

const author = z.object({
  kind: z.enum(['user', 'key', 'installation']),
  id: z.string().nullable(),
  displayName: z.string().nullable(),
});

/** Author fields of notes and drafts. */
export const authors = {
  author,
  editedBy: author.nullable().meta({ description: 'Last editor; null until the first change' }),
};

export const noteOutput = z
  .object({
    id: z.string(),
    ...authors,
    body: z.string(),
    color: noteColor,
    pinned: z.boolean(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'ThreadNote', description: 'A note on a thread; never mailed' });

export type ListThreads = z.output<typeof listThreadsQuery>;
export type CursorQuery = z.output<typeof listMessagesQuery>;
export type UpdateThread = z.output<typeof updateThreadInput>;
export type LabelsInput = z.output<typeof addLabelsInput>;
export type CreateNote = z.output<typeof createNoteInput>;
export type UpdateNote = z.output<typeof updateNoteInput>;
export type Thread = z.output<typeof threadOutput>;
export type ThreadStanding = z.output<typeof standingOutput>;
export type ThreadMessage = z.output<typeof threadMessageOutput>;
export type Author = z.output<typeof author>;
export type ThreadNote = z.output<typeof noteOutput>;
