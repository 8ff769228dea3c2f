// A person approves a key's proposal. A single transaction repeats all checks, sends the frozen
// mail and ends the action. A temporary refusal (a paused mailbox, a spent quota) leaves the
// proposal open; a permanent refusal ends it. Edited mail must also pass the checks of a send by
// the approver; a refusal by these checks changes nothing.

import { installationFor, standingFor } from '../../access/keys/key-caller.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { getMailboxRow } from '../../identity/mailboxes/mailbox-rows.ts';
import { findMessageRows } from '../../outbound/messages/queries.ts';
import type { SendContent } from '../../outbound/sending/content.ts';
import { countTaken } from '../../outbound/sending/send.ts';
import { stageContent } from '../../outbound/sending/store-content.ts';
import { ForbiddenError, type ServiceError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import {
  decide,
  type Execution,
  recordDecision,
  requirePerson,
  settleAction,
} from '../approvals/actions.ts';
import { mailboxActionApproved } from '../approvals/events.ts';
import { type ActionPlace, readFrozen } from '../approvals/proposals.ts';
import type { ActionRow } from '../approvals/queries.ts';
import type { MailboxAction } from '../approvals/schema.ts';
import { endDraft } from '../threads/drafts/draft-queries.ts';
import { acceptMails, openAccept, placesOf, requireSendable } from './accept.ts';
import { type ApprovedMail, withEdits } from './edits.ts';
import { type FrozenMail, frozenContent, requireSameRecipients } from './frozen.ts';
import { type Mail, siftRecipients, summaryOf } from './mail.ts';
import type { ApproveAction } from './schema.ts';
import { requireActive } from './send.ts';
import { type Delayed, keepDelayed, requireRoomToUndo } from './undo/delayed.ts';

/** Tells whether a refusal is temporary, so that the same send may succeed later. */
function passes(error: ServiceError): boolean {
  if (error instanceof ForbiddenError) return error.reason === 'paused';
  return error.status !== 404 && error.status !== 422;
}

/** The reason why an approved mail is not sent. */
type Failure = NonNullable<Execution['failure']>;

/** Returns the proposer with the current rights; null for a revoked key or a gone installation. */
async function proposerOf(trx: Db, row: ActionRow): Promise<Caller | null> {
  if (row.actor_kind === 'installation') return installationFor(trx, row.actor_id);
  const standing = await standingFor(trx, row.actor_id);
  return standing && { ...standing, keyId: row.actor_id, keyName: row.actor_name };
}

/** Returns the refusal of a proposal by a revoked key or by a disabled or deleted installation. */
function goneProposer(row: ActionRow): ForbiddenError {
  return new ForbiddenError(
    row.actor_kind === 'installation'
      ? `The installation ${row.actor_id} is disabled or deleted`
      : `The API key ${row.actor_id} is revoked`,
  );
}

/** An approved mail, ready to send. */
interface Approved extends ApprovedMail {
  row: ActionRow;
  content: SendContent;
  approver: Caller;
  delaySeconds: number;
}

/** Outcome of the approval for the action: the sent message, or the failure. */
type Outcome = Pick<Execution, 'messageId' | 'threadId' | 'summary'> | Failure;

/** Returns the mail to send without the files, which are in the content. */
async function mailOf(trx: Db, { frozen: { mail } }: Approved): Promise<Mail> {
  const { inReplyToMessageId } = mail;
  const [answered] = inReplyToMessageId ? await findMessageRows(trx, [inReplyToMessageId]) : [];
  // If the answered message was deleted, the mail is still an answer: the frozen header fields
  // refer to it.
  return { ...mail, attachments: [], inReplyToMessageId: answered?.id ?? null };
}

async function execute(app: App, trx: Db, approved: Approved): Promise<Outcome> {
  const { row, frozen, content, approver, editedDigest, delaySeconds } = approved;
  const mailbox = await getMailboxRow(trx, row.organization_id, row.mailbox_id);
  requireActive(mailbox);
  const caller = await proposerOf(trx, row);
  if (!caller) return { _tag: 'ForbiddenError', message: goneProposer(row).message };
  const mail = await mailOf(trx, approved);
  const [sifted] = await siftRecipients(trx, [{ organizationId: row.organization_id, mail }]);
  if (!sifted || sifted.isEmpty) {
    const message = 'No recipient is left: all of them are blocked or malformed';
    return { _tag: 'ForbiddenError', message };
  }
  const outgoing = { caller, mailboxId: mailbox.id, mail, content, delaySeconds };
  const delayed = delaySeconds > 0 ? delayedOf(caller, approved, mail) : null;
  if (delayed) await requireRoomToUndo(app, trx, delayed);
  if (editedDigest !== null) {
    await requireSendable(app, trx, { ...outgoing, caller: approver, sifted });
  }
  const [place = { threadId: null, isAnswer: false }] = await placesOf(trx, [outgoing]);
  const [sent] = await acceptMails(app, trx, [{ ...outgoing, ...place, sifted }]);
  if (!sent) throw new Error(`${row.id} was left without an answer`);
  if ('error' in sent) {
    if (passes(sent.error)) throw sent.error;
    return { _tag: sent.error._tag, message: sent.error.message };
  }
  if (delayed) {
    await keepDelayed(app, trx, { ...delayed, messageId: sent.message.id, actionId: row.id });
  }
  if (mail.draft) await endDraft(trx, mail.draft);
  const skippedRecipients = [...approved.skipped, ...sifted.skipped];
  const { to, cc, bcc } = sifted;
  const summary = {
    ...summaryOf({ ...frozen.mail, to, cc, bcc }),
    ...(skippedRecipients.length > 0 && { skippedRecipients }),
  };
  return { messageId: sent.message.id, threadId: sent.threadId, summary };
}

/** Returns the data for an undo. The undo of an edited mail does not restore the proposed draft. */
function delayedOf(caller: Caller, { row, frozen, editedDigest }: Approved, mail: Mail): Delayed {
  const { attachments } = frozen.mail;
  const draft = editedDigest === null ? mail.draft : null;
  const fileBytes = attachments.reduce((sum, { size }) => sum + size, 0);
  return { caller, mailboxId: row.mailbox_id, mail: { ...mail, draft, attachments }, fileBytes };
}

async function executionOf(app: App, trx: Db, approved: Approved): Promise<Execution> {
  const { row, frozen, editedDigest } = approved;
  const outcome = await execute(app, trx, approved);
  if ('summary' in outcome) return { ...outcome, failure: null, editedDigest };
  const { thread_id: threadId } = row;
  const summary = summaryOf(frozen.mail);
  return { messageId: null, threadId, summary, failure: outcome, editedDigest };
}

/**
 * Approves a proposal and sends the frozen bytes, or a newly frozen mail if the person edits it.
 * The action records the result.
 * @throws ForbiddenError for a service, and for edited mail that the approver may not send;
 * ResourceNotFoundError; ConflictError (decided, expired, paused mailbox); ValidationError if the
 * edited mail is empty; PaymentRequiredError (quota).
 */
export async function approveAction(
  app: App,
  caller: Caller,
  at: ActionPlace,
  { edits, note = null, delaySeconds = 0 }: ApproveAction,
): Promise<MailboxAction> {
  requirePerson(caller);
  const { organizationId } = caller;
  const frozen = await readFrozen<FrozenMail>(app, caller, at);
  const approved = frozen && (await withEdits(app, organizationId, frozen, edits));
  if (approved) requireSameRecipients(approved.frozen);
  const content = approved && frozenContent(organizationId, approved.frozen);
  if (content) await stageContent(app, organizationId, content);
  const action = await app.store.write(async (trx) => {
    if (content) await openAccept(app, trx, [{ caller, mailboxId: at.mailboxId, content }]);
    const row = await decide(app, trx, caller, at, { state: 'approved', note });
    if (!approved || !content) throw new Error(`${row.id} was decided without its content`);
    const approval = { ...approved, row, content, approver: caller, delaySeconds };
    const execution = await executionOf(app, trx, approval);
    const settled = await settleAction(trx, row, execution);
    const { changes } = approved;
    const kind = mailboxActionApproved;
    return recordDecision(app, trx, caller, settled, { action: 'action.approved', kind, changes });
  });
  if (action.messageId !== null) countTaken(app, { ...caller, keyId: action.actor.id }, 'api', 1);
  return action;
}
