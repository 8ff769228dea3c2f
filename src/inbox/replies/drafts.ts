// Drafts: unsent mails (specification 2.5 `hasDraft`). A draft that answers a message is in the
// thread of that message; any other draft begins a thread.
//
//   state     moved by                         to
//   (none)    create                           open
//   open      update                           open
//   open      send                             (none): it became a message
//   open      send by a key that only proposes proposed: no change, send or delete
//   proposed  approved                         (none): it became a message
//   proposed  rejected, expired, failed        open
//   open      delete                           (none)
import { type CursorPage, cutPage, positionOfId, readCursor } from '../../core/api/cursor.ts';
import type { Deleted } from '../../core/api/resource-schema.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { AuditAction } from '../../history/audit/schema.ts';
import { record } from '../../history/events/record.ts';
import { getMailboxRow } from '../../identity/mailboxes/mailbox-rows.ts';
import { lockMailboxes } from '../../identity/mailboxes/queries.ts';
import { ConflictError, ResourceNotFoundError, ValidationError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { createdWithin } from '../../platform/store/rows/rows.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { authoredBy, editedBy, presentAuthors, requireOwn } from '../threads/authors.ts';
import {
  type DraftFileRow,
  type DraftRow,
  drafts,
  listDraftFiles,
  readDraftFiles,
  replaceDraftFiles,
  selectDrafts,
} from '../threads/drafts/draft-queries.ts';
import { beginDraftThread, endDraftThread } from '../threads/drafts/drafted.ts';
import { answerTo } from './answers.ts';
import { fromOf, presentDraft, proposalOf, showDraft, type WithFiles } from './draft-picture.ts';
import { bytesOf, type Given, requireRoom } from './draft-room.ts';
import { findAnswered } from './found.ts';
import { refuseAutoReply } from './loops.ts';
import { type Mail, wordsAfter } from './mail.ts';
import { resultBefore } from './repeats.ts';
import {
  type Attachment,
  type CreateDraft,
  type Draft,
  draftNoun,
  type ListDrafts,
  type ReplyResult,
  type SendDraft,
  type ShownDraft,
  type UpdateDraft,
} from './schema.ts';
import { requireActive, sendMail } from './send.ts';
import { defaultFrom } from './senders.ts';
import { proposedError } from './together.ts';

/** Bytes of a draft above which a list leaves out the texts. */
const mostListedBytes = 64 * 1024;

type Recipients = Pick<Mail, 'to' | 'cc' | 'bcc'>;

const empty: Given = {
  recipients: JSON.stringify({ to: [], cc: [], bcc: [] } satisfies Recipients),
  subject: null,
  text: null,
  html: null,
};

/** Returns the columns after an update: given fields replace old fields, null empties a field. */
function changed(before: Given, wanted: Omit<UpdateDraft, 'attachments'>): Given {
  const { to, cc, bcc, subject, text, html } = wanted;
  const recipients = fromJson<Recipients>(before.recipients);
  return {
    recipients: JSON.stringify({
      to: to === undefined ? recipients.to : (to ?? []),
      cc: cc === undefined ? recipients.cc : (cc ?? []),
      bcc: bcc === undefined ? recipients.bcc : (bcc ?? []),
    } satisfies Recipients),
    subject: subject === undefined ? before.subject : subject,
    ...wordsAfter(before, { text, html }),
  };
}

function filesOf(draftId: string, attachments: readonly Attachment[]): DraftFileRow[] {
  return attachments.map(({ filename, content, contentType, contentId }, index) => ({
    draft_id: draftId,
    n: index + 1,
    filename,
    content,
    content_type: contentType ?? null,
    content_id: contentId ?? null,
    size: Buffer.byteLength(content, 'base64'),
  }));
}

const sizeOf = (files: readonly { size: number }[]) =>
  files.reduce((bytes, { size }) => bytes + size, 0);

interface At {
  mailboxId: string;
  draftId: string;
}

async function getDraftRow(db: Db, organizationId: string, at: At): Promise<DraftRow> {
  await getMailboxRow(db, organizationId, at.mailboxId);
  const row = await drafts.find(db, organizationId, at.draftId);
  if (row?.mailbox_id !== at.mailboxId) throw new ResourceNotFoundError('draft', at.draftId);
  return row;
}

/** Returns a draft that has no open proposal. @throws ConflictError, ResourceNotFoundError. */
async function getOpenRow(db: Db, organizationId: string, at: At): Promise<DraftRow> {
  const row = await getDraftRow(db, organizationId, at);
  const actionId = await proposalOf(db, row);
  if (actionId === null) return row;
  throw proposedError(row.id, actionId);
}

/**
 * Returns a page of drafts, newest first. @throws ResourceNotFoundError, ValidationError (cursor).
 */
export async function listDrafts(
  app: App,
  { organizationId }: Caller,
  mailboxId: string,
  { limit, cursor, ...times }: ListDrafts,
): Promise<CursorPage<Draft>> {
  const { db } = app.store;
  await getMailboxRow(db, organizationId, mailboxId);
  const { from, to } = boundsOf(times);
  const scope = ['drafts', mailboxId, from, to];
  const before = cursor === undefined ? undefined : readCursor(scope, cursor).id;
  const within = createdWithin(times);
  const bounds = { limit: limit + 1, mostBytes: mostListedBytes, within };
  const rows = await selectDrafts(db, mailboxId, before, bounds);
  const { shown, nextCursor } = cutPage(scope, rows, limit, positionOfId);
  const files = await listDraftFiles(
    db,
    shown.map(({ id }) => id),
  );
  const byDraft = Map.groupBy(files, ({ draft_id }) => draft_id);
  const items: Draft[] = [];
  for (const row of shown) {
    const draft = await presentDraft(db, row, byDraft.get(row.id) ?? []);
    items.push({ ...draft, contentOmitted: row.byte_count > mostListedBytes });
  }
  return { items, nextCursor };
}

/** Returns a draft with everything that would be sent. @throws ResourceNotFoundError. */
export async function getDraft(app: App, caller: Caller, at: At): Promise<ShownDraft> {
  const { db } = app.store;
  const row = await getDraftRow(db, caller.organizationId, at);
  return showDraft(app, caller, { row, files: await listDraftFiles(db, [row.id]) });
}

/** Returns the initial recipients, subject and thread of a draft that answers a message. */
async function answerOf(app: App, caller: Caller, mailboxId: string, messageId: string) {
  const found = await findAnswered(app, caller, { mailboxId, messageId });
  const { to, cc, subject, threadId } = await answerTo(app, found, false);
  return { begun: { to, cc, subject }, threadId };
}

/**
 * Returns the audit entry of a change, without the changed fields: unsent text stays private.
 */
function changeOf(row: DraftRow, action: AuditAction) {
  return { subject: row.id, action, details: { mailboxId: row.mailbox_id } };
}

/** Creates a draft. @throws ResourceNotFoundError (mailbox, message), ConflictError (no room). */
export async function createDraft(
  app: App,
  caller: Caller,
  mailboxId: string,
  { inReplyToMessageId, attachments, ...wanted }: CreateDraft,
): Promise<ShownDraft> {
  const { organizationId } = caller;
  const answer = inReplyToMessageId
    ? await answerOf(app, caller, mailboxId, inReplyToMessageId)
    : { begun: {}, threadId: null };
  const content = changed(changed(empty, answer.begun), wanted);
  const id = app.newId(draftNoun);
  const files = filesOf(id, attachments ?? []);
  const bytes = bytesOf(content, sizeOf(files));
  const made = await app.store.write(async (trx): Promise<WithFiles> => {
    await lockMailboxes(trx, [mailboxId]);
    const mailbox = await getMailboxRow(trx, organizationId, mailboxId);
    await requireRoom(app, trx, mailboxId, { count: 1, bytes });
    const { subject } = content;
    const begun = { organizationId, mailboxId, subject, from: defaultFrom(mailbox) };
    const now = app.clock.now();
    const row: DraftRow = {
      id,
      organization_id: organizationId,
      mailbox_id: mailboxId,
      thread_id: answer.threadId ?? (await beginDraftThread(app, trx, begun)),
      in_reply_to_message_id: inReplyToMessageId ?? null,
      state: 'open',
      ...authoredBy(caller),
      byte_count: bytes,
      created_at: now,
      updated_at: now,
      ...content,
    };
    await drafts.insert(trx, row);
    await replaceDraftFiles(trx, id, files);
    await record(app, trx, caller, changeOf(row, draftNoun.created));
    return { row, files };
  });
  return showDraft(app, caller, made);
}

/**
 * Refuses a change based on an old version. @throws ConflictError with the time of the last change.
 */
function requireUnchanged(row: DraftRow, expectedUpdatedAt: string | undefined): void {
  if (expectedUpdatedAt === undefined || Date.parse(expectedUpdatedAt) === row.updated_at) return;
  const text = `${row.id} was changed at ${isoTime(row.updated_at)}: read it again before you change it`;
  throw new ConflictError('draft', text);
}

/**
 * Changes the given fields.
 * @throws ResourceNotFoundError; ConflictError (proposed, changed meanwhile, no room);
 * ForbiddenError (a key that only proposes, on a draft of another author).
 */
export async function updateDraft(
  app: App,
  caller: Caller,
  at: At,
  { expectedUpdatedAt, attachments, ...wanted }: UpdateDraft,
): Promise<ShownDraft> {
  const { organizationId } = caller;
  const after = await app.store.write(async (trx): Promise<WithFiles> => {
    // Locks the mailbox before the draft, in the same order as a send. Also serializes two changes.
    await lockMailboxes(trx, [at.mailboxId]);
    const row = await getOpenRow(trx, organizationId, at);
    requireOwn(caller, row, 'draft');
    requireUnchanged(row, expectedUpdatedAt);
    const content = changed(row, wanted);
    const given = attachments === undefined ? null : filesOf(row.id, attachments ?? []);
    const files = given ?? (await listDraftFiles(trx, [row.id]));
    const byte_count = bytesOf(content, sizeOf(files));
    const bytes = byte_count - row.byte_count;
    if (bytes > 0) await requireRoom(app, trx, at.mailboxId, { count: 0, bytes });
    if (given) await replaceDraftFiles(trx, row.id, given);
    const change = {
      ...content,
      ...editedBy(caller),
      byte_count,
      state: 'open',
      // Makes `updatedAt` differ for two changes within a millisecond.
      updated_at: Math.max(app.clock.now(), row.updated_at + 1),
    };
    await record(app, trx, caller, changeOf(row, draftNoun.updated));
    return { row: await drafts.update(trx, organizationId, row.id, change), files };
  });
  return showDraft(app, caller, after);
}

/**
 * Deletes a draft. @throws ResourceNotFoundError, ConflictError (proposed), ForbiddenError as
 * `updateDraft`.
 */
export function deleteDraft(app: App, caller: Caller, at: At): Promise<Deleted> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    // Locks the mailbox before the draft is read, in the same order as a change and a send.
    await lockMailboxes(trx, [at.mailboxId]);
    const row = await getOpenRow(trx, organizationId, at);
    requireOwn(caller, row, 'draft');
    await drafts.remove(trx, organizationId, row.id);
    await record(app, trx, caller, changeOf(row, draftNoun.deleted));
    if (row.thread_id !== null) await endDraftThread(trx, row.mailbox_id, row.thread_id);
    return { success: true, message: `Draft ${row.id} is deleted` };
  });
}

function requireRecipients({ to, cc, bcc }: Recipients): void {
  if (to.length + cc.length + bcc.length > 0) return;
  throw ValidationError.of('to', 'needs at least one recipient: update the draft first');
}

function attachmentOf({ filename, content, content_type, content_id }: DraftFileRow): Attachment {
  return {
    filename,
    content,
    ...(content_type !== null && { contentType: content_type }),
    ...(content_id !== null && { contentId: content_id }),
  };
}

/**
 * Refuses a draft if the digest of the mail that would be sent now differs from `expected`, the
 * digest that the caller has read. @throws ConflictError
 */
async function requireSeen(app: App, caller: Caller, row: DraftRow, expected: string) {
  const files = await listDraftFiles(app.store.db, [row.id]);
  if ((await showDraft(app, caller, { row, files })).digest === expected) return;
  const text = `Another mail than you read would leave as ${row.id} now: read it again`;
  throw new ConflictError('draft', text);
}

/**
 * Sends a draft; with `expectedUpdatedAt` only that version, with `expectedDigest` only the mail
 * that the caller has read. @throws ResourceNotFoundError; ValidationError without recipient or
 * content; ConflictError (proposed, changed meanwhile, paused mailbox); the errors of `sendMail`.
 */
export async function sendDraft(
  app: App,
  caller: Caller,
  at: At,
  { expectedUpdatedAt, expectedDigest, delaySeconds }: SendDraft,
  key: string | null,
): Promise<ReplyResult> {
  const { organizationId } = caller;
  const { db } = app.store;
  const path = `/v1/mailboxes/${at.mailboxId}/drafts/${at.draftId}/send`;
  const again = await resultBefore(app, caller, { path, body: {}, key });
  if (again) return again;
  const row = await getOpenRow(db, organizationId, at);
  requireUnchanged(row, expectedUpdatedAt);
  if (expectedDigest !== undefined) await requireSeen(app, caller, row, expectedDigest);
  const recipients = fromJson<Recipients>(row.recipients);
  requireRecipients(recipients);
  const mailbox = await getMailboxRow(db, organizationId, at.mailboxId);
  requireActive(mailbox);
  const answered = row.in_reply_to_message_id;
  const found =
    answered && (await findAnswered(app, caller, { mailboxId: at.mailboxId, messageId: answered }));
  if (found) refuseAutoReply(caller, found.message.id, found.kind);
  const mail: Mail = {
    ...recipients,
    text: row.text,
    html: row.html,
    attachments: (await readDraftFiles(db, row.id)).map(attachmentOf),
    type: found ? 'reply' : 'sendMessage',
    threadId: row.thread_id,
    inReplyToMessageId: answered,
    draft: { id: row.id, updatedAt: row.updated_at, ...presentAuthors(row) },
    from: await fromOf(app, caller, row),
    subject: row.subject ?? '',
  };
  return sendMail(app, caller, at.mailboxId, mail, { path, body: {}, key, delaySeconds });
}
