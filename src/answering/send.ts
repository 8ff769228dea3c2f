// Sends from a mailbox: one transaction for the send, its place in a thread, the action and the events, or
// for the proposal that a person decides on. A send without a mailbox never comes here.
import { openAllowances } from '../admission/quota.ts';
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { ConflictError, type ServiceError, ValidationError } from '../errors.ts';
import { storeAction, storeProposal } from '../mailbox-actions/actions.ts';
import { getMailboxRow } from '../mailboxes/mailboxes.ts';
import { lockMailboxes, type MailboxRow } from '../mailboxes/queries.ts';
import {
  findIdempotencyKeys,
  type IdempotencyRow,
  setKeptResponse,
} from '../messages/idempotency-queries.ts';
import { findMessageRow, findRecipients } from '../messages/queries.ts';
import type { Message } from '../messages/schema.ts';
import { mostAttachmentsBytes, mostRecipients } from '../messages/send-schema.ts';
import { isoTime } from '../runtime/clock.ts';
import { type AcceptRequest, acceptAll } from '../sending/accept.ts';
import { prepareContent, type SendContent } from '../sending/content.ts';
import { fingerprint } from '../sending/fingerprint.ts';
import { differentContent, keepKeys, madeAndDeleted } from '../sending/idempotency.ts';
import { countTaken, recentOf } from '../sending/send.ts';
import { type Db, fromJson } from '../store/db.ts';
import { endDraft, proposeDraft } from '../threads/draft-queries.ts';
import { findThread, findThreadMessages } from '../threads/queries.ts';
import { sentPreview } from '../threads/restate.ts';
import { threadSent } from '../threads/sent.ts';
import { isRunaway } from './loops.ts';
import { type Mail, payloadOf, type Sifted, siftRecipients } from './mail.ts';
import type { ReplyResult } from './schema.ts';

/** A request to send, as its repeats are known by. */
export interface Asked {
  path: string;
  body: unknown;
  /** Null without one. */
  key: string | null;
}

/** Who sends what from where. */
interface Outgoing {
  caller: Caller;
  mailbox: MailboxRow;
  mail: Mail;
  content: SendContent;
}

/** What is shown of a mail in its action. */
export function summaryOf(mail: Mail): Record<string, unknown> {
  const { to, cc, bcc, subject, text, attachments } = mail;
  return { to, cc, bcc, subject, preview: sentPreview(text), attachments: attachments.length };
}

/** @throws ConflictError. */
export function requireActive({ id, status }: MailboxRow): void {
  if (status !== 'paused') return;
  throw new ConflictError('mailbox', `${id} is paused: resume it (svc mailboxes resume ${id})`);
}

function claimOf(app: App, caller: Caller, { path, body, key }: Asked): IdempotencyRow | null {
  if (key === null) return null;
  return {
    organization_id: caller.organizationId,
    claim_key: key,
    fingerprint: fingerprint('POST', path, body),
    message_id: '',
    response: '',
    created_at: app.clock.now(),
  };
}

/** @throws ConflictError for a key that was used otherwise, or whose message is deleted. */
function resultAgain(claim: IdempotencyRow, made: IdempotencyRow): ReplyResult {
  if (claim.fingerprint !== made.fingerprint) throw differentContent();
  if (made.response === '') throw madeAndDeleted(made.message_id);
  return fromJson<ReplyResult>(made.response);
}

/** What is the same in every result. */
function resultOf(app: App, mail: Mail, { skipped }: Sifted): ReplyResult {
  return {
    actionId: null,
    messageId: null,
    threadId: mail.threadId,
    status: 'skipped',
    waitReason: null,
    reviewExpectedAt: null,
    skippedRecipients: skipped,
    createdAt: isoTime(app.clock.now()),
  };
}

/** A message that went, and the thread that it is in. */
export interface Sent {
  message: Message;
  threadId: string;
}

/** The thread of what is answered, which may have become another's since; null where it is gone. */
async function threadOf(trx: Db, mailboxId: string, mail: Mail): Promise<string | null> {
  const { threadId, inReplyToMessageId } = mail;
  const [placed] =
    inReplyToMessageId === null ? [] : await findThreadMessages(trx, [inReplyToMessageId]);
  const id = placed?.thread_id ?? threadId;
  const thread = id === null ? undefined : await findThread(trx, id);
  return thread?.mailbox_id === mailboxId ? thread.id : null;
}

/** Accepts a mail to those who are left, and puts it into its thread; of a refusal nothing is stored. */
export async function acceptMail(
  app: App,
  trx: Db,
  { caller, mailbox, mail, content }: Outgoing,
  sifted: Sifted,
): Promise<Sent | { error: ServiceError }> {
  const payload = payloadOf(mail, sifted);
  const request: AcceptRequest = { caller, payload, content, idempotency: null };
  const [accepted] = await acceptAll(app, trx, recentOf(app, trx), [request]);
  if (!accepted) throw new Error('a mail from a mailbox was left without an answer');
  if ('error' in accepted) return accepted;
  const { message: presented } = accepted;
  const message = await findMessageRow(trx, presented.id);
  if (!message) throw new Error(`${presented.id} was accepted and is not there`);
  const threadId = await threadSent(app, trx, {
    mailboxId: mailbox.id,
    threadId: await threadOf(trx, mailbox.id, mail),
    message,
    recipients: await findRecipients(trx, [message.id]),
    presented,
    text: content.text,
    hasAttachments: content.attachments.length > 0,
  });
  return { message: presented, threadId };
}

function draftChanged(id: string): ConflictError {
  return new ConflictError('draft', `${id} was changed, or sent, meanwhile: read it again`);
}

/** What every mail from a mailbox locks first, in the order of docs/store.md. */
export async function openAccept(
  app: App,
  trx: Db,
  organizationId: string,
  mailboxId: string,
  content: SendContent,
): Promise<void> {
  await openAllowances(app, trx, [organizationId]);
  await lockMailboxes(trx, [mailboxId]);
  await recentOf(app, trx).keep([content.digest]);
}

async function send(
  app: App,
  trx: Db,
  outgoing: Outgoing,
  sifted: Sifted,
): Promise<{ result: ReplyResult; messageId: string }> {
  const { caller, mailbox, mail } = outgoing;
  const sent = await acceptMail(app, trx, outgoing, sifted);
  if ('error' in sent) throw sent.error;
  const { message, threadId } = sent;
  if (mail.draft && !(await endDraft(trx, mail.draft))) throw draftChanged(mail.draft.id);
  const messageId = message.id;
  const summary = summaryOf({ ...mail, ...sifted });
  const about = { mailboxId: mailbox.id, type: mail.type, messageId, threadId, summary };
  const actionId = await storeAction(app, trx, caller, about);
  const waitReason = message.deliveries[0]?.scheduling?.waitReason ?? null;
  const result: ReplyResult = {
    ...resultOf(app, mail, sifted),
    ...{ actionId, messageId, threadId, status: 'sent', waitReason },
    createdAt: message.createdAt,
  };
  return { result, messageId };
}

async function propose(
  app: App,
  trx: Db,
  { caller, mailbox, mail }: Outgoing,
  sifted: Sifted,
): Promise<ReplyResult> {
  const { type, threadId } = mail;
  const about = { mailboxId: mailbox.id, type, threadId, summary: summaryOf(mail) };
  const proposal = await storeProposal(app, trx, caller, about, JSON.stringify(mail));
  const { action, reviewExpectedAt } = proposal;
  if (mail.draft && !(await proposeDraft(trx, mail.draft, action.id))) {
    throw draftChanged(mail.draft.id);
  }
  return {
    ...resultOf(app, mail, sifted),
    ...{ actionId: action.id, status: 'proposed', createdAt: action.createdAt },
    reviewExpectedAt: isoTime(reviewExpectedAt),
  };
}

async function decideOn(app: App, trx: Db, outgoing: Outgoing) {
  const { caller, mailbox, mail } = outgoing;
  const sifted = await siftRecipients(trx, caller.organizationId, mail);
  if (sifted.isEmpty) return { result: resultOf(app, mail, sifted), messageId: '' };
  const isBound = await isRunaway(trx, caller, mail.threadId, app.clock.now());
  if (caller.sendMode === 'send' && !isBound) return send(app, trx, outgoing, sifted);
  return { result: await propose(app, trx, { ...outgoing, mailbox }, sifted), messageId: '' };
}

/** What neither a schema nor a check of sends has asked. @throws ValidationError. */
export function requireWhole({ to, cc, bcc, text, html, attachments }: Mail): void {
  if (to.length + cc.length + bcc.length > mostRecipients) {
    throw ValidationError.of('cc', `at most ${mostRecipients} recipients over to, cc and bcc`);
  }
  const bytes = attachments.reduce((sum, { content }) => sum + content.length, 0);
  if (bytes > mostAttachmentsBytes) {
    throw ValidationError.of(
      'attachments',
      `may take ${mostAttachmentsBytes} bytes in all once encoded`,
    );
  }
  if (text || html || attachments.length > 0) return;
  throw ValidationError.of('text', 'needs text, html or an attachment');
}

/** The result that a key has given before; null where it is new. @throws ConflictError. */
export async function resultBefore(
  app: App,
  caller: Caller,
  asked: Asked,
): Promise<ReplyResult | null> {
  const claim = claimOf(app, caller, asked);
  if (!claim) return null;
  const organizationId = claim.organization_id;
  const [made] = await findIdempotencyKeys(app.store.db, [
    { organizationId, key: claim.claim_key },
  ]);
  return made ? resultAgain(claim, made) : null;
}

/**
 * Sends a mail from a mailbox, or has it proposed where the key only proposes, or a program has said
 * enough in this thread. A repeat with the same key and content gets the same result.
 * @throws ResourceNotFoundError; ConflictError (paused mailbox, idempotency key); RateLimitedError where
 * 100 proposals wait; all that a send is refused with.
 */
export async function sendMail(
  app: App,
  caller: Caller,
  mailboxId: string,
  mail: Mail,
  asked: Asked,
): Promise<ReplyResult> {
  const { organizationId } = caller;
  requireWhole(mail);
  const content = await prepareContent(app, organizationId, payloadOf(mail));
  const claim = claimOf(app, caller, asked);
  const { result, isNew } = await app.store.write(async (trx) => {
    await openAccept(app, trx, organizationId, mailboxId, content);
    const [made] = claim ? (await keepKeys(trx, [claim])).values() : [];
    if (claim && made) return { result: resultAgain(claim, made), isNew: false };
    const mailbox = await getMailboxRow(trx, organizationId, mailboxId);
    requireActive(mailbox);
    const done = await decideOn(app, trx, { caller, mailbox, mail, content });
    if (claim) await keepResult(trx, claim, done.messageId, done.result);
    return { result: done.result, isNew: done.messageId !== '' };
  });
  if (isNew) countTaken(app, caller, 'api', 1);
  return result;
}

/** For repeats; a deletion of the message empties it, as that of any send. */
async function keepResult(
  trx: Db,
  claim: IdempotencyRow,
  messageId: string,
  result: ReplyResult,
): Promise<void> {
  await setKeptResponse(trx, {
    ...claim,
    message_id: messageId,
    response: JSON.stringify(result),
  });
}
