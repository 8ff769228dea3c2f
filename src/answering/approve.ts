// A person approves what a key proposed: all is asked again as of now, the mail goes, and the action ends,
// in one transaction. A refusal that passes by itself (a paused mailbox, a spent quota) leaves the proposal
// as it was; one that does not, ends it.
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { changesOf, type Details } from '../audit/audit.ts';
import { ForbiddenError, type ServiceError } from '../errors.ts';
import { standingFor } from '../keys/keys.ts';
import {
  decide,
  type Execution,
  requirePerson,
  settleAction,
  tellDecision,
} from '../mailbox-actions/actions.ts';
import { mailboxActionApproved } from '../mailbox-actions/events.ts';
import type { ActionRow } from '../mailbox-actions/queries.ts';
import { findProposal } from '../mailbox-actions/queries.ts';
import type { MailboxAction } from '../mailbox-actions/schema.ts';
import { getMailboxRow } from '../mailboxes/mailboxes.ts';
import { prepareContent, type SendContent } from '../sending/content.ts';
import { countTaken } from '../sending/send.ts';
import { type Db, fromJson } from '../store/db.ts';
import { endDraft } from '../threads/draft-queries.ts';
import { acceptMails, openAccept, placesOf } from './accept.ts';
import { type Mail, payloadOf, siftRecipients, summaryOf } from './mail.ts';
import type { ApproveAction } from './schema.ts';
import { requireActive, requireWhole } from './send.ts';

interface At {
  mailboxId: string;
  actionId: string;
}

/** The mail as it is approved, and what of it is another. */
function edited(mail: Mail, edits: ApproveAction['edits']): { mail: Mail; changes: Details } {
  const given = Object.entries(edits ?? {}).filter(([, value]) => value !== undefined);
  const whenNull = {
    to: [],
    cc: [],
    bcc: [],
    attachments: [],
    subject: '',
    text: null,
    html: null,
  };
  const values = given.map(([name, value]) => [
    name,
    value ?? whenNull[name as keyof typeof whenNull],
  ]);
  const after: Mail = { ...mail, ...Object.fromEntries(values) };
  const shown = ({ to, cc, bcc, subject }: Mail) => ({ to, cc, bcc, subject });
  const words = (['text', 'html', 'attachments'] as const).filter(
    (name) => JSON.stringify(mail[name]) !== JSON.stringify(after[name]),
  );
  const changes = { ...changesOf(shown(mail), shown(after)), ...(words.length > 0 && { words }) };
  return { mail: after, changes };
}

/** Whether the same send may be let go later. */
function passes(error: ServiceError): boolean {
  if (error instanceof ForbiddenError) return error.reason === 'paused';
  return error.status !== 404 && error.status !== 422;
}

function failed(row: ActionRow, mail: Mail, _tag: string, message: string): Execution {
  const { thread_id: threadId } = row;
  return { messageId: null, threadId, summary: summaryOf(mail), failure: { _tag, message } };
}

/** Who proposed it, with what its key may do now; null where that is revoked. */
async function proposerOf(trx: Db, row: ActionRow): Promise<Caller | null> {
  const standing = await standingFor(trx, row.actor_id);
  return standing && { ...standing, keyId: row.actor_id, keyName: row.actor_name };
}

/** An approved mail, ready to go. */
interface Approved {
  row: ActionRow;
  mail: Mail;
  content: SendContent;
}

async function execute(app: App, trx: Db, { row, mail, content }: Approved): Promise<Execution> {
  const mailbox = await getMailboxRow(trx, row.organization_id, row.mailbox_id);
  requireActive(mailbox);
  const caller = await proposerOf(trx, row);
  if (!caller) {
    return failed(row, mail, 'ForbiddenError', `The API key ${row.actor_id} is revoked`);
  }
  const [sifted] = await siftRecipients(trx, [{ organizationId: row.organization_id, mail }]);
  if (!sifted || sifted.isEmpty) {
    const text = 'Nobody is left to send it to: all its recipients are blocked or malformed';
    return failed(row, mail, 'ForbiddenError', text);
  }
  const outgoing = { caller, mailboxId: mailbox.id, mail, content };
  const [place = { threadId: null, isAnswer: false }] = await placesOf(trx, [outgoing]);
  const [sent] = await acceptMails(app, trx, [{ ...outgoing, ...place, sifted }]);
  if (!sent) throw new Error(`${row.id} was left without an answer`);
  if ('error' in sent) {
    if (passes(sent.error)) throw sent.error;
    return failed(row, mail, sent.error._tag, sent.error.message);
  }
  if (mail.draft) await endDraft(trx, mail.draft);
  const { skipped } = sifted;
  const summary = {
    ...summaryOf({ ...mail, ...sifted }),
    ...(skipped.length > 0 && { skippedRecipients: skipped }),
  };
  return { messageId: sent.message.id, threadId: sent.threadId, summary, failure: null };
}

/**
 * Approves a proposal, as it is or with edits; what becomes of it is in the action.
 * @throws ForbiddenError for a service; ResourceNotFoundError; ConflictError (decided, expired, paused
 * mailbox); ValidationError where the edits leave nothing to send; PaymentRequiredError (quota).
 */
export async function approveAction(
  app: App,
  caller: Caller,
  at: At,
  { edits, note = null }: ApproveAction,
): Promise<MailboxAction> {
  requirePerson(caller);
  const text = await findProposal(app.store.db, at.actionId);
  const proposed = text === undefined ? null : edited(fromJson<Mail>(text), edits);
  if (proposed) requireWhole(proposed.mail);
  const content =
    proposed && (await prepareContent(app, caller.organizationId, payloadOf(proposed.mail)));
  const action = await app.store.write(async (trx) => {
    if (content) await openAccept(app, trx, [{ caller, mailboxId: at.mailboxId, content }]);
    const { row } = await decide(app, trx, caller, at, { state: 'approved', note });
    if (!proposed || !content) throw new Error(`${row.id} was decided without its content`);
    const { mail, changes } = proposed;
    const execution = await execute(app, trx, { row, mail, content });
    const settled = await settleAction(trx, row, execution);
    const kind = mailboxActionApproved;
    return tellDecision(app, trx, caller, settled, { action: 'action.approved', kind, changes });
  });
  if (action.messageId !== null) countTaken(app, { ...caller, keyId: action.actor.id }, 'api', 1);
  return action;
}
