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

/** Most labels of a thread. */
export const mostLabels = 50;
const labelCharacters = 64;
const noteCharacters = 20_000;
const queryCharacters = 1_000;

const mailboxId = idOf('mailbox', 'is not a mailbox id');
const threadId = idOf('thread', 'is not a thread id');
const messageId = idOf('message', 'is not a message id');

export const mailboxOfThreads = z.strictObject({ id: mailboxId.describe('Id of the mailbox') });
export const threadPath = z.strictObject({
  id: mailboxId.describe('Id of the mailbox'),
  threadId: threadId.describe('Id of the thread'),
});
export const notePath = z.strictObject({
  id: mailboxId.describe('Id of the mailbox'),
  threadId: threadId.describe('Id of the thread'),
  noteId: idOf(noteNoun, 'is not a note id').describe('Id of the note'),
});
export const attachmentPath = z.strictObject({
  id: mailboxId.describe('Id of the mailbox'),
  messageId: messageId.describe('Id of the message'),
  n: attachmentNumber.describe('Number of the attachment in the message, from 1'),
});

export const extractsPath = z.strictObject({
  id: mailboxId.describe('Id of the mailbox'),
  messageId: messageId.describe('Id of the message'),
});

const cursorQuery = {
  limit: wholeNumber(1, 100).default(20).meta({ description: 'Items per page, at most 100' }),
  cursor: z.string().max(200).optional().meta({ description: '`nextCursor` of the page before' }),
};

const folder = z.enum(folders);
const priority = z.enum(['high', 'normal', 'low']);

const instant = z.union([isoInstant, z.iso.date()], 'must be an ISO 8601 date or time');
/** Parses a time to ms since 1970. */
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

export const listMessagesQuery = z.strictObject({ ...cursorQuery, ...timeRange('messages') });
export const listNotesQuery = z.strictObject({ ...cursorQuery, ...timeRange('notes created') });

export const updateThreadInput = z
  .strictObject({
    read: z.boolean().optional().meta({ description: 'Mark it as read, or as unread' }),
    starred: z.boolean().optional().meta({ description: 'Star it, or remove the star' }),
    folder: folder.optional().meta({ description: 'Folder to move it to' }),
    priority: priority.optional().meta({ description: 'Importance of the thread' }),
    snoozedUntil: time.nullable().optional().meta({
      description: 'End of the snooze: the thread returns to `inbox` unread; null ends it now',
    }),
  })
  .meta({ examples: [{ read: true, folder: 'archive' }] });

const labelList = (text: z.ZodString) =>
  z
    .strictObject({
      labels: z.array(text).min(1).max(mostLabels).describe('Labels to add or to remove'),
    })
    .meta({ examples: [{ labels: ['urgent'] }] });

export const addLabelsInput = labelList(
  headerText(labelCharacters).regex(/\S/, 'must not be empty'),
);
export const removeLabelsInput = labelList(headerText(labelCharacters));

const standing = {
  id: z.string().describe('Id of the thread'),
  folder: folder.describe('Folder of the thread'),
  priority: priority.describe('Priority of the thread'),
  labels: z.array(z.string()).describe('Labels of the thread'),
  read: z.boolean().describe('Whether all messages are read'),
  starred: z.boolean().describe('Whether the thread has a star'),
  snoozedUntil: z.string().nullable().describe('End of the snooze; null without one'),
};

export const standingOutput = z
  .object(standing)
  .meta({ id: 'ThreadStanding', description: 'State of a thread' });

export const threadOutput = z
  .object({
    ...standing,
    subject: z.string().nullable().describe('Subject line; null without one'),
    preview: z.string().nullable().meta({ description: 'Beginning of its newest message' }),
    from: z
      .object({
        address: z.string().describe('Address of the sender'),
        displayName: z.string().nullable().describe('Display name of the sender; null without one'),
      })
      .nullable()
      .meta({ description: 'Sender of the newest incoming message' }),
    messageCount: z.int().describe('Number of messages'),
    hasAttachments: z.boolean().describe('Whether a message has an attachment'),
    hasDraft: z.boolean().describe('Whether a draft waits in the thread'),
    lastActivityAt: z.string().describe('Time of the newest message'),
  })
  .meta({ id: 'Thread', description: 'Messages of a mailbox that belong together' });

export const threadMessageOutput = message
  .extend({
    threadId: z.string().describe('Thread of the message'),
    threadPosition: z.int().min(0).describe('Place in the thread, from 0'),
    kind: z
      .enum(['person', 'auto-reply', 'list', 'bounce', 'sent'])
      .describe('Kind of the sender: a person, a program, a list, a bounce, or this mailbox'),
    preview: z.string().nullable().describe('Beginning of the text; null without text'),
    newContent: z.string().nullable().meta({
      description: 'Text without quotes: 64 KB of a message, 4 MB of a page',
    }),
    newContentTruncated: z
      .boolean()
      .meta({ description: '`GET /v1/messages/{id}/email` has the whole text' }),
    attachments: z
      .array(
        z.object({
          n: z.int().meta({ description: 'Its number, from 1, in the path of attachments' }),
          filename: z.string().nullable().describe('File name; null without one'),
          contentType: z.string().describe('Media type'),
          size: z.int().describe('Size in bytes'),
        }),
      )
      .describe('Attached files'),
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
  kind: z
    .enum(['user', 'key', 'installation'])
    .describe('Kind of the author: a person, a key or an installation of an extension'),
  id: z.string().nullable().describe('Id of the key or installation; null for the operator'),
  displayName: z.string().nullable().describe('Name of the author at that time; null without one'),
});

/** Author fields of notes and drafts. */
export const authors = {
  author: author.describe('Author of the first version'),
  editedBy: author.nullable().meta({ description: 'Last editor; null until the first change' }),
};

export const noteOutput = z
  .object({
    id: z.string().describe('Id of the note'),
    ...authors,
    body: z.string().describe('Text of the note'),
    color: noteColor,
    pinned: z.boolean().describe('Whether it stands above all unpinned notes'),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
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
