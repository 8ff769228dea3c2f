// Puts received mail into a thread of the mailbox once, publishes the event and indexes the words
// of the mail. Runs in the transaction that stores the parsed content
// (src/outbound/messages/contents/projection.ts). put-in.ts chooses and changes the thread.
import type { App } from '../../../core/app.ts';
import { eventToRecord, recordEvents } from '../../../history/events/record.ts';
import { mailboxMessageReceived } from '../../../identity/mailboxes/events.ts';
import { findMailboxes, lockMailboxes } from '../../../identity/mailboxes/queries.ts';
import type { Reading } from '../../../outbound/messages/contents/projection.ts';
import { findFound } from '../../../outbound/messages/contents/projection-queries.ts';
import { presentMessage } from '../../../outbound/messages/present.ts';
import { findMessageRows, findRecipients } from '../../../outbound/messages/queries.ts';
import type { DocumentWords } from '../../../platform/full-text/document.ts';
import type { Db } from '../../../platform/store/db.ts';
import { findThreadMessages } from '../queries.ts';
import { insertDocuments, insertWaiting } from '../search-queries.ts';
import { type Arrival, putIntoThreads } from './put-in.ts';

/** A parsed mail; `found` is null if the content was stored before. */
export interface Arrived {
  id: string;
  found: Reading | null;
}

type WordsById = ReadonlyMap<string, DocumentWords | null>;

/** Returns the mails of mailboxes that are in no thread yet, oldest first. */
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

/** Indexes mails with words from the parse. The indexer reads the rest later (indexer.ts). */
async function makeFindable(trx: Db, arrivals: readonly Arrival[], readings: WordsById) {
  const pairs = arrivals.map(({ message, mailbox }) => {
    return {
      messageId: message.id,
      mailboxId: mailbox.id,
      words: readings.get(message.id) ?? null,
    };
  });
  await insertDocuments(
    trx,
    pairs.flatMap(({ words, ...ids }) => (words === null ? [] : { ...ids, words })),
  );
  const waiting = pairs.filter(({ words }) => words === null);
  if (waiting.length === 0) return;
  await insertWaiting(
    trx,
    waiting.map(({ messageId, mailboxId }) => ({ message_id: messageId, mailbox_id: mailboxId })),
  );
}

async function publishArrivals(app: App, trx: Db, arrivals: readonly Arrival[]): Promise<void> {
  const ids = arrivals.map(({ message }) => message.id);
  const placed = await findThreadMessages(trx, ids);
  const placeOf = new Map(placed.map((row) => [row.message_id, row]));
  const byOwner = Map.groupBy(arrivals, ({ mailbox }) => mailbox.organization_id);
  for (const [organizationId, ofOne] of byOwner) {
    const events = ofOne.map(({ message, recipients, mailbox }) => {
      const place = placeOf.get(message.id);
      const data = {
        mailboxId: mailbox.id,
        threadId: place?.thread_id ?? '',
        message: presentMessage(message, recipients, []),
      };
      const event = eventToRecord(mailboxMessageReceived, data);
      return {
        subject: mailbox.id,
        event: { ...event, id: place?.event_id ?? app.newId('event') },
      };
    });
    await recordEvents(app, trx, organizationId, events);
  }
}

/** Puts mails into threads, once, and publishes events. The caller has locked the messages. */
export async function placeArrived(app: App, trx: Db, arrived: readonly Arrived[]): Promise<void> {
  const arrivals = await arrivalsOf(trx, arrived);
  if (arrivals.length === 0) return;
  await putIntoThreads(app, trx, arrivals);
  await publishArrivals(app, trx, arrivals);
  const words = new Map(arrived.map(({ id, found }) => [id, found?.words ?? null]));
  await makeFindable(trx, arrivals, words);
}
