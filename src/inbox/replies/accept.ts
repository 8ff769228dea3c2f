// Accepts mail from mailboxes like any send and puts it into threads, in the caller's transaction.
import { openAllowances } from '../../access/admission/quota.ts';
import { mailboxRight } from '../../access/keys/send-checks.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { lockMailboxes } from '../../identity/mailboxes/queries.ts';
import type { Message } from '../../outbound/messages/schema.ts';
import { openAcceptChecks } from '../../outbound/queue/schedule/send-checks.ts';
import { acceptAll, toCheck } from '../../outbound/sending/accept.ts';
import type { SendContent } from '../../outbound/sending/content.ts';
import { recentOf } from '../../outbound/sending/send.ts';
import type { ServiceError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { findThreadMessages, findThreads } from '../threads/queries.ts';
import { type SentMail, threadSent } from '../threads/sent.ts';
import { type Mail, payloadOf, type Sifted } from './mail.ts';

/** A mail to send from a mailbox. */
export interface Outgoing {
  caller: Caller;
  mailboxId: string;
  mail: Mail;
  content: SendContent;
  /** Seconds for which the delivery waits, so that the send can be undone; 0 sends at once. */
  delaySeconds: number;
}

/** Place of a mail in the threads, from `placesOf`. */
export interface Place {
  /** Thread of the mail; null begins a new thread. */
  threadId: string | null;
  /** Whether the answered message was received (and not sent by us). */
  isAnswer: boolean;
}

/** A mail with the thread, and with the recipients that may receive it. */
export interface Departing extends Outgoing, Place {
  sifted: Sifted;
}

/** A sent message and the thread. */
export interface Sent {
  message: Message;
  threadId: string;
}

/** Acquires the first locks of every send from a mailbox, in the order of docs/making/store.md. */
export async function openAccept(
  app: App,
  trx: Db,
  mails: readonly Pick<Outgoing, 'caller' | 'mailboxId' | 'content'>[],
): Promise<void> {
  const organizationIds = mails.map(({ caller }) => caller.organizationId);
  await openAllowances(app, trx, organizationIds);
  await lockMailboxes(trx, [...new Set(mails.map(({ mailboxId }) => mailboxId))]);
  await recentOf(app, trx).keep(mails.map(({ content }) => content.digest));
}

/**
 * Returns the threads for these mails. Reads the thread of an answered message anew, as a merge may
 * have moved the message.
 */
export async function placesOf(
  trx: Db,
  mails: readonly Pick<Outgoing, 'mailboxId' | 'mail'>[],
): Promise<Place[]> {
  const answered = mails.flatMap(({ mail }) => mail.inReplyToMessageId ?? []);
  const placed = answered.length === 0 ? [] : await findThreadMessages(trx, answered);
  const placeOf = new Map(placed.map((row) => [row.message_id, row]));
  const wanted = mails.map(({ mail: { inReplyToMessageId, threadId } }) => {
    const found = placeOf.get(inReplyToMessageId ?? '');
    return { id: found?.thread_id ?? threadId, found };
  });
  // A found message proves that the thread exists. A thread given by id may have been deleted.
  const named = wanted.flatMap(({ id, found }) => (found || id === null ? [] : id));
  const threads = new Map((await findThreads(trx, named)).map((row) => [row.id, row]));
  return wanted.map(({ id, found }, index): Place => {
    if (found) return { threadId: found.thread_id, isAnswer: found.kind !== 'sent' };
    const isOwn = threads.get(id ?? '')?.mailbox_id === mails[index]?.mailboxId;
    return { threadId: isOwn ? id : null, isAnswer: false };
  });
}

function requestOf(departing: Omit<Departing, keyof Place>) {
  const { caller, mailboxId, mail, content, sifted, delaySeconds } = departing;
  const right = mailboxRight(mailboxId);
  const payload = payloadOf(mail, sifted);
  const delay = delaySeconds > 0 && { delayMs: delaySeconds * 1_000 };
  return { caller, right, content, payload, idempotency: null, ...delay };
}

/**
 * Refuses a mail for each reason that would refuse a send by this caller, except the quota. @throws
 * the error of that send
 */
export async function requireSendable(
  app: App,
  trx: Db,
  outgoing: Omit<Departing, keyof Place>,
): Promise<void> {
  const { organizationId } = outgoing.caller;
  const allowances = await openAllowances(app, trx, [organizationId]);
  const send = toCheck(requestOf(outgoing));
  const firstRefusal = await openAcceptChecks(app, trx, { ...allowances, take: () => null }, [
    send,
  ]);
  const refusal = firstRefusal(send);
  if (refusal) throw refusal.error;
}

/**
 * Stores mails as accepted sends, and puts each into its thread. The caller passes at most a single
 * mail for each thread. A refused mail stores nothing. Returns a result for each mail, in order.
 */
export async function acceptMails(
  app: App,
  trx: Db,
  mails: readonly Departing[],
): Promise<(Sent | { error: ServiceError })[]> {
  const requests = mails.map(requestOf);
  const accepted = await acceptAll(app, trx, recentOf(app, trx), requests);
  const sent = mails.flatMap(({ mailboxId, threadId, isAnswer, content }, index): SentMail[] => {
    const result = accepted[index];
    if (!result || 'error' in result || !result.stored) return [];
    const { stored, message: presented } = result;
    const hasAttachments = content.attachments.length > 0;
    const { text } = content;
    return [{ mailboxId, threadId, isAnswer, ...stored, presented, text, hasAttachments }];
  });
  const threadIds = (await threadSent(app, trx, sent)).values();
  return accepted.map((result) => {
    if ('error' in result) return result;
    return { message: result.message, threadId: threadIds.next().value ?? '' };
  });
}
