// Finds the message to answer, forward or draft about, with mailbox and thread. Concurrent requests
// share a read: on SQLite, each commit empties the page caches of readers, and the next read goes
// to the file.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { isMailboxOf } from '../../identity/mailboxes/mailbox-rows.ts';
import {
  findMailboxes,
  type MailboxAddressRow,
  type MailboxRow,
  selectAddresses,
} from '../../identity/mailboxes/queries.ts';
import { finishProjection, readProjection } from '../../outbound/messages/contents/projection.ts';
import { findMessageRows, type MessageRow } from '../../outbound/messages/queries.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { groupReads } from '../../platform/store/group.ts';
import { findPlaced, type PlacedRow, type ThreadMessageKind } from '../threads/queries.ts';

const mostPerBatch = 128;

/** Message id and mailbox to find. */
interface Wanted {
  mailboxId: string;
  messageId: string;
}

/** A message to answer, and the mailbox. */
export interface Found {
  mailbox: MailboxRow;
  addresses: readonly MailboxAddressRow[];
  message: MessageRow;
  threadId: string;
  kind: ThreadMessageKind;
}

/** The stored rows, before the rights of the caller are checked. */
interface Rows {
  mailbox: MailboxRow | undefined;
  addresses: readonly MailboxAddressRow[];
  message: MessageRow | undefined;
  placed: PlacedRow | undefined;
}

async function readAll({ store }: App, wanted: readonly Wanted[]): Promise<Rows[]> {
  const { db } = store;
  const mailboxIds = [...new Set(wanted.map(({ mailboxId }) => mailboxId))];
  const messageIds = [...new Set(wanted.map(({ messageId }) => messageId))];
  const mailboxes = new Map((await findMailboxes(db, mailboxIds)).map((row) => [row.id, row]));
  const addresses = Map.groupBy(await selectAddresses(db, mailboxIds), (row) => row.mailbox_id);
  const messages = new Map((await findMessageRows(db, messageIds)).map((row) => [row.id, row]));
  const placed = new Map((await findPlaced(db, messageIds)).map((row) => [row.message_id, row]));
  return wanted.map(({ mailboxId, messageId }) => ({
    mailbox: mailboxes.get(mailboxId),
    addresses: addresses.get(mailboxId) ?? [],
    message: messages.get(messageId),
    placed: placed.get(messageId),
  }));
}

const gathered = perApp((app: App) =>
  groupReads(mostPerBatch, (wanted: readonly Wanted[]) => readAll(app, wanted)),
);

/** Parses a message that was just received, and puts it into a thread at once. */
async function placeNow(app: App, message: MessageRow): Promise<PlacedRow | undefined> {
  await readProjection(app, message);
  await finishProjection(app, message.id, null);
  return (await findPlaced(app.store.db, [message.id]))[0];
}

/** Returns the message of a mailbox with the thread. @throws ResourceNotFoundError. */
export async function findAnswered(
  app: App,
  { organizationId }: Caller,
  wanted: Wanted,
): Promise<Found> {
  const { mailboxId, messageId } = wanted;
  const { mailbox, addresses, message, ...rest } = await gathered(app)(wanted);
  if (!isMailboxOf(organizationId, mailbox)) throw new ResourceNotFoundError('mailbox', mailboxId);
  const isUnplaced = !rest.placed && message?.mailbox_id === mailboxId;
  const placed = isUnplaced ? await placeNow(app, message) : rest.placed;
  const isOurs = message?.organization_id === organizationId;
  if (!isOurs || placed?.mailbox_id !== mailboxId) {
    throw new ResourceNotFoundError('message', messageId);
  }
  return { mailbox, addresses, message, threadId: placed.thread_id, kind: placed.kind };
}
