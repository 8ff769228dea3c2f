// Mail that a mailbox sends goes into a thread of it, in the transaction that accepts it: the one that it
// answers in, or a new one.
import type { App } from '../app.ts';
import { ResourceNotFoundError } from '../errors.ts';
import { byService, record, told } from '../events/record.ts';
import { mailboxMessageSent } from '../mailboxes/events.ts';
import { lockMailboxes } from '../mailboxes/queries.ts';
import type { MessageRow, RecipientRow } from '../messages/queries.ts';
import type { Message } from '../messages/schema.ts';
import type { Db } from '../store/db.ts';
import { threadKeys } from './keys.ts';
import { moveLabels } from './label-queries.ts';
import { keepPlace } from './place.ts';
import {
  findThread,
  growThread,
  insertThread,
  insertThreadMessage,
  newestOf,
  type ThreadRow,
} from './queries.ts';
import { restateThread, sentPreview } from './restate.ts';
import { insertDocument } from './search-queries.ts';

/** A message of a mailbox as it is accepted; its rows are stored already. */
export interface SentMail {
  mailboxId: string;
  /** Null begins a new one. */
  threadId: string | null;
  message: MessageRow;
  recipients: readonly RecipientRow[];
  /** What `mailbox.message.sent` tells. */
  presented: Message;
  /** What was written, as plain text. */
  text: string | null;
  hasAttachments: boolean;
}

function newThread(app: App, sent: SentMail): ThreadRow {
  const { mailboxId, message, text, hasAttachments } = sent;
  return {
    id: app.newId('thread'),
    organization_id: message.organization_id,
    mailbox_id: mailboxId,
    folder: 'sent',
    is_read: 1,
    is_starred: 0,
    last_activity_at: message.created_at,
    snoozed_until: null,
    priority: message.priority ?? 'normal',
    message_count: 1,
    attachment_count: Number(hasAttachments),
    from_address: message.from_email,
    from_name: message.from_name,
    subject: message.subject,
    preview: sentPreview(text),
    created_at: message.created_at,
    updated_at: app.clock.now(),
  };
}

/** Who wrote last of those who are not us; we, where nobody else did. */
async function authorOf(trx: Db, thread: ThreadRow, message: MessageRow) {
  const isOurs = (await newestOf(trx, thread.id, true)) === undefined;
  const { from_email, from_name } = message;
  return isOurs
    ? { fromAddress: from_email, fromName: from_name }
    : { fromAddress: thread.from_address, fromName: thread.from_name };
}

async function grow(app: App, trx: Db, thread: ThreadRow, sent: SentMail): Promise<void> {
  const { message, text, hasAttachments } = sent;
  const now = app.clock.now();
  const folder = thread.folder === 'drafts' ? 'sent' : thread.folder;
  // A thread that a draft began says nothing yet.
  if (message.created_at < thread.last_activity_at || thread.message_count === 0) {
    const last_activity_at = Math.max(message.created_at, thread.last_activity_at);
    await restateThread(trx, thread.id, now, {
      folder,
      last_activity_at,
      ...(thread.message_count === 0 && { subject: message.subject }),
    });
    return;
  }
  await growThread(trx, {
    id: thread.id,
    at: message.created_at,
    now,
    folder,
    isRead: thread.is_read,
    snoozedUntil: thread.snoozed_until,
    attachments: Number(hasAttachments),
    ...(await authorOf(trx, thread, message)),
    preview: sentPreview(text),
  });
  await moveLabels(trx, thread.id, message.created_at);
}

/**
 * Puts a message that is accepted into a thread, and tells of it. After the inserts of the accept, as it
 * waits for the mailbox. Returns the id of the thread. @throws ResourceNotFoundError (thread).
 */
export async function threadSent(app: App, trx: Db, sent: SentMail): Promise<string> {
  const { mailboxId, threadId, message, recipients, presented } = sent;
  await lockMailboxes(trx, [mailboxId]);
  const known = threadId === null ? undefined : await findThread(trx, threadId);
  if (threadId !== null && known?.mailbox_id !== mailboxId) {
    throw new ResourceNotFoundError('thread', threadId);
  }
  const thread = known ?? newThread(app, sent);
  if (!known) await insertThread(trx, thread);
  await insertThreadMessage(trx, {
    message_id: message.id,
    thread_id: thread.id,
    at: message.created_at,
    kind: 'sent',
    has_attachments: Number(sent.hasAttachments),
  });
  if (known) await grow(app, trx, known, sent);
  const keys = threadKeys(message, recipients);
  await keepPlace(trx, { mailboxId, keys, at: message.created_at, isSpam: false }, thread.id);
  await insertDocument(trx, {
    mailboxId,
    messageId: message.id,
    subject: message.subject,
    from: [message.from_email, message.from_name],
    text: sent.text,
    hasAttachment: sent.hasAttachments,
  });
  const data = { mailboxId, threadId: thread.id, message: presented };
  const event = told(mailboxMessageSent, data);
  await record(app, trx, byService(message.organization_id), { subject: mailboxId, event });
  return thread.id;
}
