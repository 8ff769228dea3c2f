// Answers, forwards and new mail from a mailbox (specification 4.4). A request becomes a mail, with
// recipients, sender, subject and thread derived from the answered message; send.ts sends it.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { findHostedSender } from '../../identity/mailboxes/addresses.ts';
import { getMailboxRow, withoutSubaddress } from '../../identity/mailboxes/mailboxes.ts';
import type { MailboxAddressRow, MailboxRow } from '../../identity/mailboxes/queries.ts';
import { resolveSender } from '../../identity/senders/resolve.ts';
import { answerSubject, forwardSubject } from '../../mail/mime/subject.ts';
import type { InboundEnvelope } from '../../outbound/messages/projection.ts';
import { findRecipients, type MessageRow } from '../../outbound/messages/queries.ts';
import { ForbiddenError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { forwardedContent } from './forwarded.ts';
import { type Found, findAnswered } from './found.ts';
import { refuseAutoReply } from './loops.ts';
import type { Mail } from './mail.ts';
import { originalOf } from './original.ts';
import { type Answered, answerRecipients } from './recipients.ts';
import type { ForwardInput, NewMessage, ReplyInput, ReplyResult } from './schema.ts';
import { requireActive, sendMail } from './send.ts';

function ownAddressOf(addresses: readonly MailboxAddressRow[], email: string) {
  const folded = foldAddress(email);
  const base = withoutSubaddress(folded);
  return addresses.find(({ address }) => address === folded || address === base);
}

/** Returns the default From of a mailbox. */
export function defaultFrom(row: MailboxRow): Mail['from'] {
  return row.default_from === null
    ? { email: row.primary_address, name: row.display_name }
    : { email: row.default_from, name: row.default_from_name };
}

async function maySend(db: Db, organizationId: string, email: string): Promise<boolean> {
  return resolveSender(db, organizationId, { email }, findHostedSender).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ForbiddenError) return false;
      throw error;
    },
  );
}

/**
 * Returns the From of an answer: the mailbox or catch-all address that received the message, or the From of
 * our own message.
 */
async function fromOf(app: App, { mailbox, addresses, message }: Found): Promise<Mail['from']> {
  const { db } = app.store;
  const { organization_id: organizationId } = mailbox;
  const envelope = fromJson<InboundEnvelope>(message.inbound_envelope);
  const came =
    message.direction === 'outbound' ? [message.from_email] : (envelope?.recipients ?? []);
  for (const email of came) {
    const own = ownAddressOf(addresses, email);
    if (own) return { email: own.address, name: own.display_name ?? mailbox.display_name };
  }
  const [first] = came;
  if (first === undefined || !(await maySend(db, organizationId, first))) {
    return defaultFrom(mailbox);
  }
  const name = message.direction === 'outbound' ? message.from_name : mailbox.display_name;
  return { email: first, name };
}

/**
 * Returns the addresses to choose recipients from. Without `all` an answer to received mail goes to the
 * author, so the other recipients are not read.
 */
async function answeredOf(app: App, message: MessageRow, all: boolean): Promise<Answered> {
  const isAsked = all || message.direction === 'outbound';
  const recipients = isAsked ? await findRecipients(app.store.db, [message.id]) : [];
  const ofKind = (kind: 'to' | 'cc') =>
    recipients.filter((one) => one.kind === kind).map(({ email }) => email);
  return {
    direction: message.direction,
    from: message.from_email,
    replyTo: fromJson<string[]>(message.reply_to) ?? [],
    to: ofKind('to'),
    cc: ofKind('cc'),
  };
}

/** Returns recipients, sender, subject and thread of an answer, all but its content. */
export async function answerTo(app: App, found: Found, all: boolean) {
  const isOwn = (email: string) => ownAddressOf(found.addresses, email) !== undefined;
  const recipients = answerRecipients(await answeredOf(app, found.message, all), isOwn, all);
  return {
    ...recipients,
    threadId: found.threadId,
    inReplyToMessageId: found.message.id,
    from: await fromOf(app, found),
    subject: answerSubject(found.message.subject),
  };
}

const mailPath = (mailboxId: string) => `/v1/mailboxes/${mailboxId}/messages`;

/**
 * Answers a message: the author, or with `all` everybody named in it.
 * @throws ResourceNotFoundError; ConflictError (paused; a program that answers an automatic answer); the
 * errors of `sendMail`.
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
  const path = `${mailPath(mailboxId)}/${messageId}/${all ? 'reply-all' : 'reply'}`;
  return sendMail(app, caller, mailboxId, mail, { path, body, key });
}

/** Forwards a message with its attachments. @throws as `reply`. */
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
    from: await fromOf(app, found),
    to: body.to,
    cc: body.cc ?? [],
    bcc: body.bcc ?? [],
    subject: forwardSubject(found.message.subject),
    ...forwardedContent(written, original),
    attachments: [...(body.attachments ?? []), ...attachments],
  };
  const path = `${mailPath(mailboxId)}/${messageId}/forward`;
  return sendMail(app, caller, mailboxId, mail, { path, body, key });
}

/** Sends a mail that begins a thread. @throws as `reply`. */
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
  return sendMail(app, caller, mailboxId, mail, { path, body, key });
}
