// Proposals: mails in a mailbox on which a person decides. A mail is stored whole and never
// changes, so the approver sees exactly the bytes that leave. Lists never read these bytes; a
// request reads a single mail or file.
import type { Caller, FileAnswer } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { eventToRecord, record } from '../../history/events/record.ts';
import {
  ForbiddenError,
  MalformedRequestError,
  RateLimitedError,
  ResourceNotFoundError,
} from '../../platform/errors.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { type ActionOf, getActionRow, presentAction, rowOf } from './actions.ts';
import { mailboxActionProposed } from './events.ts';
import { pictureOf } from './picture.ts';
import { findProposal, findProposalPart, insertProposal } from './proposal-queries.ts';
import { type ActionRow, countOpen, insertActions, selectDecisionTimes } from './queries.ts';
import type { MailboxAction, ShownAction } from './schema.ts';

const keptMs = 7 * 24 * 3_600_000;
const mostOpen = 100;
const mostOpenBytes = 2 ** 30;
const decisionsAsked = 50;
const fewestDecisions = 5;
const reviewMs = 24 * 3_600_000;

/** The content of a proposal; it never changes. */
export interface ProposedMail extends Omit<NonNullable<ShownAction['content']>, 'notes'> {
  attachments: ProposedFile[];
}

/** An attachment of a proposed mail; the bytes are the part `n`. */
export interface ProposedFile {
  n: number;
  filename: string;
  contentType: string;
  contentId: string | null;
  size: number;
  digest: string;
}

/** The bytes and content of a mail; they never change. */
export interface FrozenBytes<Content extends ProposedMail = ProposedMail> {
  mail: Content;
  /** SHA-256 of `mime`: `sha256:` and hexadecimal digits. */
  digest: string;
  /** The whole mail, without the header fields that are added when it is sent. */
  mime: Buffer;
  /** Bytes of each attachment, in the order of the mail. */
  files: Buffer[];
}

/** A stored proposal. */
export interface Proposal {
  action: MailboxAction;
  /** Expected time of the decision, ms since 1970. */
  reviewExpectedAt: number;
}

/**
 * Stores a mail as a proposal. The caller has locked the mailbox.
 * @throws RateLimitedError if 100 are open; MalformedRequestError (413) if the open proposals would
 * be too large; ForbiddenError for the operator and for members.
 */
export async function storeProposal(
  app: App,
  trx: Db,
  caller: Caller,
  action: Omit<ActionOf, 'messageId'>,
  { mail, digest, mime, files }: FrozenBytes,
): Promise<Proposal> {
  const { by } = caller;
  if (by.kind === 'operator' || by.kind === 'member') {
    throw new ForbiddenError('Only a key proposes');
  }
  const now = app.clock.now();
  const content = JSON.stringify(mail);
  const parts = [mime, ...files];
  const bytes = parts.reduce((sum, { length }) => sum + length, Buffer.byteLength(content));
  await requireRoom(trx, action.mailboxId, bytes, now);
  const row: ActionRow = {
    ...rowOf(app, caller, by.keyId, { ...action, messageId: null }),
    state: 'proposed',
    expires_at: now + keptMs,
    digest,
    proposal_bytes: bytes,
  };
  await insertActions(trx, [row]);
  await insertProposal(trx, row.id, content, parts);
  const shown = presentAction(row);
  const event = eventToRecord(mailboxActionProposed, shown);
  await record(app, trx, caller, { subject: row.mailbox_id, event });
  const reviewExpectedAt = now + (await expectedReviewMs(trx, row.mailbox_id));
  return { action: shown, reviewExpectedAt };
}

async function requireRoom(trx: Db, mailboxId: string, bytes: number, now: number): Promise<void> {
  const open = await countOpen(trx, mailboxId);
  if (open.count >= mostOpen) {
    const waitMs = Math.max(1_000, (open.firstExpiry ?? now) - now);
    throw new RateLimitedError('proposeAction', Math.ceil(waitMs / 1_000));
  }
  if (open.bytes + bytes <= mostOpenBytes) return;
  const text = `The proposals of ${mailboxId} would exceed ${mostOpenBytes} bytes`;
  throw new MalformedRequestError(`${text}: decide on some (svc mailboxes review)`, 413);
}

/** Returns the median time of the last decisions, or a day if there were few decisions. */
async function expectedReviewMs(trx: Db, mailboxId: string): Promise<number> {
  const times = await selectDecisionTimes(trx, mailboxId, decisionsAsked);
  if (times.length < fewestDecisions) return reviewMs;
  const sorted = times.sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? reviewMs;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? reviewMs;
  return Math.round((lower + upper) / 2);
}

/** Ids in the path of an action. */
export interface ActionPlace {
  mailboxId: string;
  actionId: string;
}

/** Returns an action with the proposed content. @throws ResourceNotFoundError. */
export async function getAction(
  app: App,
  { organizationId }: Caller,
  { mailboxId, actionId }: ActionPlace,
): Promise<ShownAction> {
  const { db } = app.store;
  const row = await getActionRow(db, organizationId, mailboxId, actionId);
  const mail = fromJson<ProposedMail>((await findProposal(db, actionId)) ?? null);
  if (!mail) return { ...presentAction(row), content: null };
  return { ...presentAction(row), content: await pictureOf(app, organizationId, mail) };
}

/**
 * Returns the whole mail of a proposal; null once it is decided. Checks the organization first.
 * @throws ResourceNotFoundError.
 */
export async function readFrozen<Content extends ProposedMail>(
  { store: { db } }: App,
  { organizationId }: Caller,
  { mailboxId, actionId }: ActionPlace,
): Promise<FrozenBytes<Content> | null> {
  const { digest } = await getActionRow(db, organizationId, mailboxId, actionId);
  const mail = fromJson<Content>((await findProposal(db, actionId)) ?? null);
  const mime = await findProposalPart(db, actionId, 0);
  if (!mail || !mime || digest === null) return null;
  const files: Buffer[] = [];
  for (const { n } of mail.attachments) {
    const data = await findProposalPart(db, actionId, n);
    if (!data) return null;
    files.push(data);
  }
  return { mail, digest, mime, files };
}

/**
 * Returns the MIME of a proposal; the digest is the SHA-256 of these bytes. @throws
 * ResourceNotFoundError.
 */
export async function readProposedMime(
  { store: { db } }: App,
  { organizationId }: Caller,
  { mailboxId, actionId }: ActionPlace,
): Promise<FileAnswer> {
  await getActionRow(db, organizationId, mailboxId, actionId);
  const bytes = await findProposalPart(db, actionId, 0);
  if (!bytes) throw new ResourceNotFoundError('proposal', actionId);
  return { contentType: 'message/rfc822', filename: `${actionId}.eml`, bytes, isMail: true };
}

/** Returns an attachment of a proposal, counted from 1. @throws ResourceNotFoundError. */
export async function readProposedFile(
  { store: { db } }: App,
  { organizationId }: Caller,
  { mailboxId, actionId, n }: ActionPlace & { n: number },
): Promise<FileAnswer> {
  await getActionRow(db, organizationId, mailboxId, actionId);
  const mail = fromJson<ProposedMail>((await findProposal(db, actionId)) ?? null);
  const file = mail?.attachments.find((one) => one.n === n);
  const bytes = file && (await findProposalPart(db, actionId, n));
  if (!bytes) throw new ResourceNotFoundError('attachment', String(n));
  return { contentType: file.contentType, filename: file.filename, bytes };
}
