// Mail from mailboxes is accepted as any send is, and put into threads, in the transaction of its caller.
import { openAllowances } from '../admission/quota.ts';
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import type { ServiceError } from '../errors.ts';
import { lockMailboxes } from '../mailboxes/queries.ts';
import type { Message } from '../messages/schema.ts';
import { acceptAll } from '../sending/accept.ts';
import type { SendContent } from '../sending/content.ts';
import { recentOf } from '../sending/send.ts';
import type { Db } from '../store/db.ts';
import { findThreadMessages, findThreads } from '../threads/queries.ts';
import { type SentMail, threadSent } from '../threads/sent.ts';
import { type Mail, payloadOf, type Sifted } from './mail.ts';

/** A mail that a mailbox is to send. */
export interface Outgoing {
  caller: Caller;
  mailboxId: string;
  mail: Mail;
  content: SendContent;
}

/** Where it goes, as `placesOf` found it. */
export interface Place {
  /** Null begins a thread. */
  threadId: string | null;
  /** What it answers came in. */
  isAnswer: boolean;
}

/** A mail that goes to those who are left, into its thread. */
export interface Departing extends Outgoing, Place {
  sifted: Sifted;
}

/** A message that went, and the thread that it is in. */
export interface Sent {
  message: Message;
  threadId: string;
}

/** What all mail from mailboxes locks first, in the order of docs/store.md. */
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

/** The threads that mails go into: that of what is answered, which may have become another's since. */
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
  // What a message is in is there; a thread that is named may be gone.
  const named = wanted.flatMap(({ id, found }) => (found || id === null ? [] : id));
  const threads = new Map((await findThreads(trx, named)).map((row) => [row.id, row]));
  return wanted.map(({ id, found }, index): Place => {
    if (found) return { threadId: found.thread_id, isAnswer: found.kind !== 'sent' };
    const isOwn = threads.get(id ?? '')?.mailbox_id === mails[index]?.mailboxId;
    return { threadId: isOwn ? id : null, isAnswer: false };
  });
}

/** Accepts mails, no two into one thread; of a refused one nothing is stored. One result each, in order. */
export async function acceptMails(
  app: App,
  trx: Db,
  mails: readonly Departing[],
): Promise<(Sent | { error: ServiceError })[]> {
  const requests = mails.map(({ caller, mail, content, sifted }) => {
    return { caller, content, payload: payloadOf(mail, sifted), idempotency: null };
  });
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
