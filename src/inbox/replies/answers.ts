// Answers, forwards and new mail from a mailbox (specification 4.4). A request becomes a mail, with
// recipients, sender, subject and thread derived from the answered message; send.ts sends it.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { getMailboxRow } from '../../identity/mailboxes/mailbox-rows.ts';
import { receiversOf } from '../../identity/mailboxes/receivers.ts';
import { answerSubject, forwardSubject } from '../../mail/mime/headers/subject.ts';
import type { InboundEnvelope } from '../../outbound/messages/contents/projection.ts';
import { withLongText } from '../../outbound/messages/made-text.ts';
import { findRecipients, type MessageRow } from '../../outbound/messages/queries.ts';
import { ConflictError } from '../../platform/errors.ts';
import { foldAddress, parseAddress } from '../../platform/net/address.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { fromJson } from '../../platform/store/db.ts';
import { groupReads } from '../../platform/store/group.ts';
import { forwardedContent } from './forwarded.ts';
import { type Found, findAnswered } from './found.ts';
import { refuseAutoReply } from './loops.ts';
import type { Mail } from './mail.ts';
import { originalOf } from './original.ts';
import { type Answered, answerRecipients } from './recipients.ts';
import type { ForwardInput, NewMessage, ReplyInput, ReplyResult } from './schema.ts';
import { requireActive, sendMail } from './send.ts';
import { defaultFrom, ownAddressOf } from './senders.ts';

/**
 * Returns the From of an answer: the address of the mailbox that received or sent the message, or
 * else the default From.
 */
function fromOf({ mailbox, addresses, message }: Found): Mail['from'] {
  const envelope = fromJson<InboundEnvelope>(message.inbound_envelope);
  const came =
    message.direction === 'outbound' ? [message.from_email] : (envelope?.recipients ?? []);
  for (const email of came) {
    const own = ownAddressOf(addresses, email);
    if (own) return { email: own.address, name: own.display_name ?? mailbox.display_name };
  }
  return defaultFrom(mailbox);
}

const mostPerBatch = 128;

/** Returns the recipients of a message. Concurrent answers share a read. */
const recipientsOf = perApp(({ store }: App) =>
  groupReads(mostPerBatch, async (ids: readonly string[]) => {
    const rows = Map.groupBy(
      await findRecipients(store.db, [...new Set(ids)]),
      ({ message_id }) => message_id,
    );
    return ids.map((id) => rows.get(id) ?? []);
  }),
);

/** Returns the fields of a message from which the recipients of an answer are chosen. */
async function answeredOf(app: App, message: MessageRow): Promise<Answered> {
  const envelope = fromJson<InboundEnvelope>(message.inbound_envelope);
  const recipients = await recipientsOf(app)(message.id);
  const ofKind = (kind: 'to' | 'cc') =>
    recipients.filter((one) => one.kind === kind).map(({ email }) => email);
  return {
    direction: message.direction,
    from: envelope?.isAuthorUnknown === true ? null : message.from_email,
    replyTo: fromJson<string[]>(message.reply_to) ?? [],
    to: ofKind('to'),
    cc: ofKind('cc'),
  };
}

/** Returns recipients, sender, subject and thread of an answer, without the content. */
export async function answerTo(app: App, found: Found, all: boolean) {
  const answered = await answeredOf(app, found.message);
  const { from, replyTo, to, cc } = answered;
  const candidates = [...(from === null ? [] : [from]), ...replyTo, ...to, ...cc];
  const isOwn = await ownAddressTest(app, found, candidates);
  const recipients = answerRecipients(answered, isOwn, all);
  return {
    ...recipients,
    threadId: found.threadId,
    inReplyToMessageId: found.message.id,
    from: fromOf(found),
    subject: answerSubject(found.message.subject),
  };
}

/** Refuses an answer without a recipient, and explains the reason. @throws ConflictError. */
function requireSomebody({ message }: Found, mail: Mail): void {
  if (mail.to.length + mail.cc.length + mail.bcc.length > 0) return;
  const envelope = fromJson<InboundEnvelope>(message.inbound_envelope);
  const isUnsendable = !envelope?.isAuthorUnknown && parseAddress(message.from_email) === null;
  const why = envelope?.isAuthorUnknown
    ? 'has no author that can be read in From, and no Reply-To'
    : isUnsendable
      ? `is from ${message.from_email}, which is no address that mail can be sent to`
      : 'names nobody but this mailbox';
  throw new ConflictError(
    'message',
    `${message.id} ${why}: send a new message to an address that you know ` +
      `(POST ${mailPath(message.mailbox_id ?? '')})`,
  );
}

const mailPath = (mailboxId: string) => `/v1/mailboxes/${mailboxId}/messages`;

/**
 * Answers the author of a message, or with `all` every address in the message. @throws
 * ResourceNotFoundError; ConflictError (paused; a program that answers an automatic answer; no
 * recipient left); the errors of `sendMail`.
 */
export async function reply(
  app: App,
  caller: Caller,
  at: { mailboxId: string; messageId: string },
  body: ReplyInput,
  { all, key }: { all: boolean; key: string | null },
): Promise<ReplyResult> {
  const { mailboxId, messageId } = at;
  const found = await findAnswered(app, caller, at);
  requireActive(found.mailbox);
  refuseAutoReply(caller, messageId, found.kind);
  const { cc, ...answer } = await answerTo(app, found, all);
  const mail: Mail = {
    ...answer,
    type: 'reply',
    draft: null,
    cc: [...cc, ...(body.cc ?? [])],
    bcc: body.bcc ?? [],
    text: body.text ?? null,
    html: body.html ?? null,
    attachments: body.attachments ?? [],
  };
  requireSomebody(found, mail);
  const path = `${mailPath(mailboxId)}/${messageId}/${all ? 'reply-all' : 'reply'}`;
  const { delaySeconds } = body;
  return sendMail(app, caller, mailboxId, mail, { path, body, key, delaySeconds });
}

/** Forwards a message with all attachments. @throws the errors of `reply`. */
export async function forward(
  app: App,
  caller: Caller,
  at: { mailboxId: string; messageId: string },
  body: ForwardInput,
  key: string | null,
): Promise<ReplyResult> {
  const { mailboxId, messageId } = at;
  const found = await findAnswered(app, caller, at);
  requireActive(found.mailbox);
  const { attachments, ...original } = await originalOf(app, caller, found.message);
  const written = { text: body.text ?? null, html: body.html ?? null };
  const mail: Mail = {
    type: 'forward',
    threadId: found.threadId,
    inReplyToMessageId: null,
    draft: null,
    from: fromOf(found),
    to: body.to,
    cc: body.cc ?? [],
    bcc: body.bcc ?? [],
    subject: forwardSubject(found.message.subject),
    ...forwardedContent(
      await withLongText(app, caller.organizationId, written),
      await withLongText(app, caller.organizationId, original),
    ),
    attachments: [...(body.attachments ?? []), ...attachments],
  };
  const path = `${mailPath(mailboxId)}/${messageId}/forward`;
  const { delaySeconds } = body;
  return sendMail(app, caller, mailboxId, mail, { path, body, key, delaySeconds });
}

/** Sends a mail that begins a thread. @throws the errors of `reply`. */
export async function sendNew(
  app: App,
  caller: Caller,
  mailboxId: string,
  body: NewMessage,
  key: string | null,
): Promise<ReplyResult> {
  const mailbox = await getMailboxRow(app.store.db, caller.organizationId, mailboxId);
  const mail: Mail = {
    type: 'sendMessage',
    threadId: null,
    inReplyToMessageId: null,
    draft: null,
    from: defaultFrom(mailbox),
    to: body.to,
    cc: body.cc ?? [],
    bcc: body.bcc ?? [],
    subject: body.subject,
    text: body.text ?? null,
    html: body.html ?? null,
    attachments: body.attachments ?? [],
  };
  const path = mailPath(mailboxId);
  const { delaySeconds } = body;
  return sendMail(app, caller, mailboxId, mail, { path, body, key, delaySeconds });
}

// Finds the addresses of the mailbox that writes an answer, so that the answer does not go to this
// mailbox.

/**
 * Returns a function that tells whether an address reaches this mailbox: as an address of the
 * mailbox, by the catch-all of a domain, or as an address to which this message was sent.
 */
async function ownAddressTest(
  app: App,
  { mailbox, addresses, message }: Pick<Found, 'mailbox' | 'addresses' | 'message'>,
  candidates: readonly string[],
): Promise<(address: string) => boolean> {
  const isNamed = (email: string) => ownAddressOf(addresses, email) !== undefined;
  const open = [...new Set(candidates)].filter((email) => !isNamed(email));
  const receivers = await Promise.all(open.map((email) => receiversOf(app)(email)));
  const reached = open.filter((_, index) => {
    const found = receivers[index];
    return (found?.own ?? found?.catchAll)?.id === mailbox.id;
  });
  const envelope =
    message.direction === 'inbound' ? fromJson<InboundEnvelope>(message.inbound_envelope) : null;
  const own = new Set([...reached, ...(envelope?.recipients ?? [])].map(foldAddress));
  return (email) => isNamed(email) || own.has(foldAddress(email));
}
