// Puts mail that a mailbox sends into a thread, in the transaction that accepts it: the thread of
// the message that it answers, or a new thread.
import type { App } from '../../core/app.ts';
import { eventToRecord, recordEvents } from '../../history/events/record.ts';
import { mailboxMessageSent } from '../../identity/mailboxes/events.ts';
import { lockMailboxes } from '../../identity/mailboxes/queries.ts';
import type { MessageRow, RecipientRow } from '../../outbound/messages/queries.ts';
import type { Message } from '../../outbound/messages/schema.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { findLabelled, moveLabels } from './marks/label-queries.ts';
import { threadKeys } from './placing/keys.ts';
import { type Kept, keepPlaces } from './placing/place.ts';
import {
  findThreads,
  growThread,
  insertThreadMessages,
  insertThreads,
  newestOf,
  type ThreadRow,
} from './queries.ts';
import { restateThread, sentPreview } from './restate.ts';
import { insertWaiting } from './search-queries.ts';

/** An accepted message of a mailbox, with all stored rows. */
export interface SentMail {
  mailboxId: string;
  /** Thread of the mail; null begins a new thread. */
  threadId: string | null;
  /** Set for an answer to a received message of that thread. */
  isAnswer?: boolean;
  message: MessageRow;
  recipients: readonly RecipientRow[];
  /** Payload of `mailbox.message.sent`. */
  presented: Message;
  /** Plain-text part of the mail, for the preview of the thread; null without a text part. */
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

/**
 * Returns the author to show for the thread: our address until the thread has received mail, then
 * the author shown so far.
 */
async function authorOf(trx: Db, thread: ThreadRow, { message, isAnswer = false }: SentMail) {
  const isOurs = !isAnswer && (await newestOf(trx, thread.id, true)) === undefined;
  const { from_email, from_name } = message;
  return isOurs
    ? { fromAddress: from_email, fromName: from_name }
    : { fromAddress: thread.from_address, fromName: thread.from_name };
}

/**
 * Adds the mail to the thread. With `isLabelled` it also updates the label rows, which repeat the
 * last activity.
 */
async function grow(
  app: App,
  trx: Db,
  { thread, sent }: Placed,
  isLabelled: boolean,
): Promise<void> {
  const { message, text, hasAttachments } = sent;
  const now = app.clock.now();
  const folder = thread.folder === 'drafts' ? 'sent' : thread.folder;
  // A thread that began with a draft has no summary yet.
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
    ...(await authorOf(trx, thread, sent)),
    preview: sentPreview(text),
  });
  if (isLabelled) await moveLabels(trx, thread.id, message.created_at);
}

/** Returns the existing threads of these mails, by id. @throws ResourceNotFoundError (thread). */
async function knownThreads(
  trx: Db,
  mails: readonly SentMail[],
): Promise<ReadonlyMap<string | null, ThreadRow>> {
  const rows = await findThreads(
    trx,
    mails.flatMap(({ threadId }) => threadId ?? []),
  );
  const known = new Map(rows.map((row) => [row.id, row]));
  for (const { threadId, mailboxId } of mails) {
    if (threadId === null || known.get(threadId)?.mailbox_id === mailboxId) continue;
    throw new ResourceNotFoundError('thread', threadId);
  }
  return known;
}

/** A mail, with the existing or new thread that gets the mail. */
interface Placed {
  sent: SentMail;
  thread: ThreadRow;
  isNew: boolean;
  /** Id of the event that reports the message. */
  eventId: string;
}

async function growAll(app: App, trx: Db, placed: readonly Placed[]): Promise<void> {
  if (placed.length === 0) return;
  const ids = placed.map(({ thread }) => thread.id);
  const labelled = await findLabelled(trx, ids);
  for (const one of placed) await grow(app, trx, one, labelled.has(one.thread.id));
}

/**
 * Returns the keys by which later mail finds the thread. Does not resolve ids that relays gave to
 * our messages: if the parent of this mail is named by a relay's id, the key is made of that id.
 */
function keptOf({ sent: { mailboxId, message, recipients }, thread }: Placed): Kept {
  const keys = threadKeys(message, recipients, new Map());
  const at = message.created_at;
  return {
    mailboxId,
    keys,
    at,
    isSpam: false,
    threadId: thread.id,
    messageId: null,
    sharing: [],
  };
}

async function publishSent(app: App, trx: Db, placed: readonly Placed[]): Promise<void> {
  const byOrganization = Map.groupBy(placed, ({ thread }) => thread.organization_id);
  for (const [organizationId, own] of byOrganization) {
    const events = own.map(({ sent: { mailboxId, presented }, thread, eventId: id }) => {
      const data = { mailboxId, threadId: thread.id, message: presented };
      return { subject: mailboxId, event: { ...eventToRecord(mailboxMessageSent, data), id } };
    });
    await recordEvents(app, trx, organizationId, events);
  }
}

/**
 * Puts accepted messages into threads, each into a different thread, and publishes their events.
 * The caller inserts the messages first, because messages are locked before mailboxes. Returns the
 * ids of the threads, in the order of `mails`.
 * @throws ResourceNotFoundError (thread).
 */
export async function threadSent(app: App, trx: Db, mails: readonly SentMail[]): Promise<string[]> {
  await lockMailboxes(trx, [...new Set(mails.map(({ mailboxId }) => mailboxId))]);
  const known = await knownThreads(trx, mails);
  const placed = mails.map((sent): Placed => {
    const thread = known.get(sent.threadId);
    const eventId = app.newId('event');
    return { sent, thread: thread ?? newThread(app, sent), isNew: !thread, eventId };
  });
  await insertThreads(
    trx,
    placed.flatMap(({ thread, isNew }) => (isNew ? thread : [])),
  );
  await insertThreadMessages(
    trx,
    placed.map(({ sent: { message, hasAttachments }, thread, eventId }) => ({
      message_id: message.id,
      thread_id: thread.id,
      at: message.created_at,
      kind: 'sent',
      has_attachments: Number(hasAttachments),
      event_id: eventId,
    })),
  );
  await growAll(
    app,
    trx,
    placed.filter(({ isNew }) => !isNew),
  );
  await keepPlaces(trx, placed.map(keptOf));
  await insertWaiting(
    trx,
    mails.map(({ message, mailboxId }) => ({ message_id: message.id, mailbox_id: mailboxId })),
  );
  await publishSent(app, trx, placed);
  return placed.map(({ thread }) => thread.id);
}
