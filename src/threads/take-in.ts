// Mail that came in goes into a thread of its mailbox, once, in the transaction that keeps what it says
// (src/messages/projection.ts). Which thread that is: place.ts. What it does to the folder stands in the
// state table of migration 0032.
import type { App } from '../app.ts';
import { byService, record, told } from '../events/record.ts';
import { mailboxMessageReceived } from '../mailboxes/events.ts';
import { findMailboxes, lockMailboxes, type MailboxRow } from '../mailboxes/queries.ts';
import { presentMessage } from '../messages/present.ts';
import { attachmentsOf, type InboundEnvelope } from '../messages/projection.ts';
import { type FoundRow, findFound } from '../messages/projection-queries.ts';
import {
  findMessageRows,
  findRecipients,
  type MessageRow,
  type RecipientRow,
} from '../messages/queries.ts';
import { type Db, fromJson } from '../store/db.ts';
import { threadKeys } from './keys.ts';
import { moveLabels } from './label-queries.ts';
import { findPlace, keepPlaces } from './place.ts';
import {
  type Folder,
  findThread,
  findThreadMessages,
  growThread,
  insertThreadMessages,
  insertThreads,
  type ThreadMessageKind,
  type ThreadRow,
} from './queries.ts';
import { restateThread } from './restate.ts';
import { type Findable, insertDocuments } from './search-queries.ts';
import { isSpam } from './spam.ts';
import { isFromBefore } from './store-age.ts';

/** A mail that was parsed; `found` is null where what it says is kept already. */
export interface Arrived {
  id: string;
  found: FoundRow | null;
}

/** All that is known of one mail. */
interface Arrival {
  message: MessageRow;
  recipients: readonly RecipientRow[];
  found: FoundRow;
  mailbox: MailboxRow;
}

function kindOf({ auto_reply_reason, is_auto_reply, list_id }: FoundRow): ThreadMessageKind {
  if (auto_reply_reason === 'delivery-status') return 'bounce';
  if (is_auto_reply === 1) return 'auto-reply';
  return list_id === null ? 'person' : 'list';
}

/** An image that the HTML shows is nobody's attachment. */
function hasAttachments(found: FoundRow): boolean {
  return attachmentsOf(found).some(({ related }) => !related);
}

/** Those that came into a mailbox and are in no thread yet, the oldest first. */
async function arrivalsOf(trx: Db, arrived: readonly Arrived[]): Promise<Arrival[]> {
  const ids = arrived.map(({ id }) => id);
  const all = await findMessageRows(trx, ids);
  const messages = all.filter(({ direction, mailbox_id }) => direction === 'inbound' && mailbox_id);
  const mailboxIds = [...new Set(messages.flatMap(({ mailbox_id }) => mailbox_id ?? []))];
  if (mailboxIds.length === 0) return [];
  await lockMailboxes(trx, mailboxIds);
  const placed = new Set((await findThreadMessages(trx, ids)).map(({ message_id }) => message_id));
  const mailboxes = new Map((await findMailboxes(trx, mailboxIds)).map((row) => [row.id, row]));
  const recipients = Map.groupBy(await findRecipients(trx, ids), ({ message_id }) => message_id);
  const foundOf = new Map(arrived.map(({ id, found }) => [id, found]));
  const arrivals: Arrival[] = [];
  for (const message of messages.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const mailbox = mailboxes.get(message.mailbox_id ?? '');
    const found = foundOf.get(message.id) ?? (await findFound(trx, message.id));
    if (placed.has(message.id) || !mailbox || !found) continue;
    arrivals.push({ message, mailbox, found, recipients: recipients.get(message.id) ?? [] });
  }
  return arrivals;
}

function newThread(app: App, arrival: Arrival, folder: Folder): ThreadRow {
  const { message, found, mailbox } = arrival;
  return {
    id: app.newId('thread'),
    organization_id: mailbox.organization_id,
    mailbox_id: mailbox.id,
    folder,
    is_read: 0,
    is_starred: 0,
    last_activity_at: message.created_at,
    snoozed_until: null,
    priority: message.priority ?? 'normal',
    message_count: 1,
    attachment_count: Number(hasAttachments(found)),
    from_address: message.from_email,
    from_name: message.from_name,
    subject: message.subject,
    preview: found.preview,
    created_at: message.created_at,
    updated_at: app.clock.now(),
  };
}

/** Where mail that comes in takes a thread. */
function folderAfter(folder: Folder): Folder {
  return folder === 'spam' || folder === 'trash' ? folder : 'inbox';
}

async function grow(app: App, trx: Db, thread: ThreadRow, arrival: Arrival): Promise<void> {
  const { message, found } = arrival;
  const folder = folderAfter(thread.folder);
  const now = app.clock.now();
  if (message.created_at < thread.last_activity_at) {
    const change = { folder, is_read: 0, snoozed_until: null };
    await restateThread(trx, thread.id, now, change);
    return;
  }
  await growThread(trx, {
    id: thread.id,
    at: message.created_at,
    now,
    folder,
    isRead: 0,
    snoozedUntil: null,
    attachments: Number(hasAttachments(found)),
    fromAddress: message.from_email,
    fromName: message.from_name,
    preview: found.preview,
  });
  await moveLabels(trx, thread.id, message.created_at);
}

/** The thread of a mail, and by what it is found. */
interface Taken {
  threadId: string;
  findable: Findable;
}

/** Puts one mail where it belongs. */
async function takeOne(app: App, trx: Db, arrival: Arrival): Promise<Taken> {
  const { message, recipients, found, mailbox } = arrival;
  const envelope = fromJson<InboundEnvelope>(message.inbound_envelope);
  const seeker = {
    mailboxId: mailbox.id,
    keys: threadKeys(message, recipients),
    at: message.created_at,
    isSpam: isSpam(envelope, message.from_email, JSON.parse(mailbox.filters)),
  };
  const joined = await findPlace(trx, app.clock.now(), seeker);
  const known = joined === null ? undefined : await findThread(trx, joined);
  const thread = known ?? newThread(app, arrival, seeker.isSpam ? 'spam' : 'inbox');
  if (!known) await insertThreads(trx, [thread]);
  const placed = {
    message_id: message.id,
    thread_id: thread.id,
    at: message.created_at,
    kind: kindOf(found),
    has_attachments: Number(hasAttachments(found)),
  };
  await insertThreadMessages(trx, [placed]);
  if (known) await grow(app, trx, known, arrival);
  await keepPlaces(trx, [{ ...seeker, threadId: thread.id }]);
  const findable = {
    mailboxId: mailbox.id,
    messageId: message.id,
    subject: message.subject,
    from: [message.from_email, message.from_name],
    text: found.text ?? [found.new_content, found.quoted_content].join('\n'),
    hasAttachment: hasAttachments(found),
  };
  return { threadId: thread.id, findable };
}

async function tell(app: App, trx: Db, arrival: Arrival, threadId: string): Promise<void> {
  const { message, recipients, mailbox } = arrival;
  const data = {
    mailboxId: mailbox.id,
    threadId,
    message: presentMessage(message, recipients, []),
  };
  const event = told(mailboxMessageReceived, data);
  await record(app, trx, byService(mailbox.organization_id), { subject: mailbox.id, event });
}

/**
 * Threads what of this is in no thread yet, and tells of it; of what came in before there were threads
 * nothing is told. The caller holds the messages.
 */
export async function takeIn(app: App, trx: Db, arrived: readonly Arrived[]): Promise<void> {
  const findables: Findable[] = [];
  for (const arrival of await arrivalsOf(trx, arrived)) {
    const { threadId, findable } = await takeOne(app, trx, arrival);
    findables.push(findable);
    if (!(await isFromBefore(app, arrival.message.created_at))) {
      await tell(app, trx, arrival, threadId);
    }
  }
  await insertDocuments(trx, findables);
}
