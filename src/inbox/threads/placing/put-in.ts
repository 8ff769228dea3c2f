// Puts received mail into threads: first all independent mails at once, then dependent mails in
// sequence. place.ts chooses the thread. docs/making/states.md shows the effect on the folder.
import type { App } from '../../../core/app.ts';
import type { MailboxRow } from '../../../identity/mailboxes/queries.ts';
import {
  attachmentsOf,
  type InboundEnvelope,
} from '../../../outbound/messages/contents/projection.ts';
import type { FoundRow } from '../../../outbound/messages/contents/projection-queries.ts';
import { type FurtherIds, furtherIdsIn } from '../../../outbound/messages/own-message-id.ts';
import type { MessageRow, RecipientRow } from '../../../outbound/messages/queries.ts';
import { type Db, fromJson } from '../../../platform/store/db.ts';
import type { Folder } from '../folders.ts';
import { moveLabels } from '../marks/label-queries.ts';
import {
  findThreads,
  growThread,
  insertThreadMessages,
  insertThreads,
  type ThreadMessageKind,
  type ThreadMessageRow,
  type ThreadRow,
} from '../queries.ts';
import { restateThread } from '../restate.ts';
import { parentIdsOf, participantOf, threadKeys } from './keys.ts';
import {
  type FoundPlace,
  findPlace,
  hashesOf,
  joined,
  keepPlaces,
  meetsStrangers,
  type Seeker,
} from './place.ts';
import { findReferences } from './reference-queries.ts';
import { isSpam } from './spam.ts';

/** The rows of a received mail. */
export interface Arrival {
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

/** Tells whether the mail has a file apart from the parts that the HTML shows (`related`). */
function hasAttachments(found: FoundRow): boolean {
  return attachmentsOf(found).some(({ related }) => !related);
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

/** Returns the folder of a thread after received mail joins it. */
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

/** A mail with the keys by which the thread is found. */
interface Seeking {
  arrival: Arrival;
  seeker: Seeker;
}

function seekingOf(arrival: Arrival, further: FurtherIds): Seeking {
  const { message, recipients, mailbox } = arrival;
  const envelope = fromJson<InboundEnvelope>(message.inbound_envelope);
  const shown = recipients.flatMap(({ kind, email }) => (kind === 'bcc' ? [] : email));
  const seeker = {
    mailboxId: mailbox.id,
    messageId: message.id,
    from: message.from_email,
    participants: [message.from_email, ...shown].map(participantOf),
    keys: threadKeys(message, recipients, further),
    at: message.created_at,
    isSpam: isSpam(envelope, message.from_email, JSON.parse(mailbox.filters)),
  };
  return { arrival, seeker };
}

/** A mail with the thread that it joins or begins. */
interface Settled extends Seeking, FoundPlace {}

/**
 * Splits mails into independent mails, placed `together`, and the rest, placed `alone`: mails that
 * share a key or a thread with an earlier mail of the batch, merge threads, or share an id with
 * strangers.
 */
async function sortOut(trx: Db, all: readonly Seeking[]) {
  const sorted = { together: [] as Settled[], alone: [] as Seeking[] };
  for (const [mailboxId, ofOne] of Map.groupBy(all, ({ seeker }) => seeker.mailboxId)) {
    const hashes = new Set(ofOne.flatMap(({ seeker }) => hashesOf(seeker.keys)));
    const named = await findReferences(trx, mailboxId, [...hashes]);
    const byHash = Map.groupBy(named, ({ message_id_hash }) => message_id_hash);
    const seen = new Set<string>();
    const joinedBefore = new Set<string>();
    for (const one of ofOne) {
      const own = hashesOf(one.seeker.keys);
      const isFirst = !own.some((hash) => seen.has(hash));
      for (const hash of own) seen.add(hash);
      const matches = own.flatMap((hash) => byHash.get(hash) ?? []);
      const ids = joined(one.seeker, matches);
      const isOnlyOne =
        ids.length <= 1 &&
        !ids.some((id) => joinedBefore.has(id)) &&
        !meetsStrangers(one.seeker, matches);
      for (const id of ids) joinedBefore.add(id);
      if (isFirst && isOnlyOne) {
        sorted.together.push({ ...one, joins: ids[0] ?? null, sharing: [] });
        continue;
      }
      sorted.alone.push(one);
    }
  }
  return sorted;
}

function rowOf({ newId }: App, { message, found }: Arrival, threadId: string): ThreadMessageRow {
  return {
    message_id: message.id,
    thread_id: threadId,
    at: message.created_at,
    kind: kindOf(found),
    has_attachments: Number(hasAttachments(found)),
    event_id: newId('event'),
  };
}

/** Stores independent mails in their threads, and creates new threads. */
async function putTogether(app: App, trx: Db, all: readonly Settled[]): Promise<void> {
  if (all.length === 0) return;
  const ids = all.flatMap(({ joins }) => joins ?? []);
  const known = new Map((await findThreads(trx, ids)).map((row) => [row.id, row]));
  const placed = all.map((one) => {
    const folder = one.seeker.isSpam ? 'spam' : 'inbox';
    return { ...one, thread: known.get(one.joins ?? '') ?? newThread(app, one.arrival, folder) };
  });
  const begun = placed.flatMap(({ thread }) => (known.has(thread.id) ? [] : thread));
  await insertThreads(trx, begun);
  await insertThreadMessages(
    trx,
    placed.map(({ arrival, thread }) => rowOf(app, arrival, thread.id)),
  );
  for (const { arrival, thread } of placed) {
    if (known.has(thread.id)) await grow(app, trx, thread, arrival);
  }
  await keepPlaces(
    trx,
    placed.map(({ seeker, sharing, thread }) => ({ ...seeker, sharing, threadId: thread.id })),
  );
}

/** Puts each mail into a thread. The caller has locked the rows of the mailboxes. */
export async function putIntoThreads(
  app: App,
  trx: Db,
  arrivals: readonly Arrival[],
): Promise<void> {
  const ids = arrivals.flatMap(({ message }) => [
    message.message_id_header,
    ...parentIdsOf(message),
  ]);
  const further = await furtherIdsIn(trx, ids);
  const seeking = arrivals.map((arrival) => seekingOf(arrival, further));
  const { together, alone } = await sortOut(trx, seeking);
  await putTogether(app, trx, together);
  for (const one of alone) {
    const place = await findPlace(trx, app.clock.now(), one.seeker);
    await putTogether(app, trx, [{ ...one, ...place }]);
  }
}
