// Drafts: mails that are being written (specification 2.5 `hasDraft`). One that answers is in the thread of
// what it answers; any other begins a thread.
//
//   state     moved by                         to
//   (none)    create                           open
//   open      update                           open
//   open      send                             (none): it is a message
//   open      send by a key that only proposes proposed: neither changed, sent nor deleted
//   proposed  approved                         (none): it is a message
//   proposed  rejected, expired, failed        open
//   open      delete                           (none)
import { cursorAfter, readCursor } from '../api/cursor.ts';
import type { Deleted } from '../api/resource-schema.ts';
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { ResourceNotFoundError, ValidationError } from '../errors.ts';
import { record } from '../events/record.ts';
import { isProposed } from '../mailbox-actions/queries.ts';
import { getMailboxRow } from '../mailboxes/mailboxes.ts';
import { lockMailboxes } from '../mailboxes/queries.ts';
import { isoTime } from '../runtime/clock.ts';
import { timeOfId } from '../runtime/ids.ts';
import { type Db, fromJson } from '../store/db.ts';
import { type DraftRow, drafts, selectDrafts } from '../threads/draft-queries.ts';
import { beginDraftThread, endDraftThread } from '../threads/drafted.ts';
import { answerTo, defaultFrom } from './answers.ts';
import { findAnswered } from './found.ts';
import { refuseAutoReply } from './loops.ts';
import type { Mail } from './mail.ts';
import { resultBefore } from './repeats.ts';
import type {
  Attachment,
  CreateDraft,
  Draft,
  ListDrafts,
  ReplyResult,
  UpdateDraft,
} from './schema.ts';
import { requireActive, sendMail } from './send.ts';
import { proposedError } from './together.ts';

/** What a row keeps. */
interface Content {
  to: string[];
  cc: string[];
  bcc: string[];
  subject: string | null;
  text: string | null;
  html: string | null;
  attachments: Attachment[];
}

const empty: Content = {
  to: [],
  cc: [],
  bcc: [],
  subject: null,
  text: null,
  html: null,
  attachments: [],
};

function isGiven(value: unknown): boolean {
  return value !== undefined;
}

/** What is given in the place of what was there; null empties it. */
function changed(before: Content, wanted: UpdateDraft): Content {
  const given = Object.entries(wanted).filter(([, value]) => isGiven(value));
  const values = given.map(([name, value]) => [name, value ?? empty[name as keyof Content]]);
  return { ...before, ...Object.fromEntries(values) };
}

async function proposalOf(db: Db, { state }: DraftRow): Promise<string | null> {
  return state !== 'open' && (await isProposed(db, state)) ? state : null;
}

async function present(db: Db, row: DraftRow): Promise<Draft> {
  const { attachments, ...content } = fromJson<Content>(row.content);
  return {
    id: row.id,
    mailboxId: row.mailbox_id,
    threadId: row.thread_id ?? '',
    inReplyToMessageId: row.in_reply_to_message_id,
    ...content,
    attachments: attachments.map(({ filename, contentType }) => ({
      filename,
      contentType: contentType ?? null,
    })),
    actionId: await proposalOf(db, row),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

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

/** The same, where nobody decides on it yet. @throws ConflictError. */
async function getOpenRow(db: Db, organizationId: string, at: At): Promise<DraftRow> {
  const row = await getDraftRow(db, organizationId, at);
  const actionId = await proposalOf(db, row);
  if (actionId === null) return row;
  throw proposedError(row.id, actionId);
}

/** The drafts of a mailbox, newest first. @throws ResourceNotFoundError, ValidationError (cursor). */
export async function listDrafts(
  app: App,
  { organizationId }: Caller,
  mailboxId: string,
  { limit, cursor }: ListDrafts,
): Promise<{ items: Draft[]; nextCursor: string | null }> {
  const { db } = app.store;
  await getMailboxRow(db, organizationId, mailboxId);
  const scope = ['drafts', mailboxId];
  const before = cursor === undefined ? undefined : readCursor(scope, cursor).id;
  const rows = await selectDrafts(db, mailboxId, before, limit + 1);
  const items: Draft[] = [];
  for (const row of rows.slice(0, limit)) items.push(await present(db, row));
  const last = rows.length > limit ? items.at(-1)?.id : undefined;
  const nextCursor = last ? cursorAfter(scope, { at: timeOfId(last), id: last }) : null;
  return { items, nextCursor };
}

/** @throws ResourceNotFoundError. */
export async function getDraft(app: App, { organizationId }: Caller, at: At): Promise<Draft> {
  const { db } = app.store;
  return present(db, await getDraftRow(db, organizationId, at));
}

/** What an answer begins with. */
async function answerOf(app: App, caller: Caller, mailboxId: string, messageId: string) {
  const found = await findAnswered(app, caller, { mailboxId, messageId });
  const { to, cc, subject, threadId } = await answerTo(app, found, false);
  return { begun: { to, cc, subject }, threadId };
}

/** What of it was changed is nobody else's before it is sent. */
function changeOf(row: DraftRow, action: 'draft.created' | 'draft.updated' | 'draft.deleted') {
  return { subject: row.id, action, details: { mailboxId: row.mailbox_id } };
}

/** @throws ResourceNotFoundError (mailbox, message). */
export async function createDraft(
  app: App,
  caller: Caller,
  mailboxId: string,
  { inReplyToMessageId, ...wanted }: CreateDraft,
): Promise<Draft> {
  const { organizationId } = caller;
  const answer = inReplyToMessageId
    ? await answerOf(app, caller, mailboxId, inReplyToMessageId)
    : { begun: {}, threadId: null };
  const content = changed({ ...empty, ...answer.begun }, wanted);
  return app.store.write(async (trx) => {
    const mailbox = await getMailboxRow(trx, organizationId, mailboxId);
    const { subject } = content;
    const begun = { organizationId, mailboxId, subject, from: defaultFrom(mailbox) };
    const now = app.clock.now();
    const row: DraftRow = {
      id: app.newId('draft'),
      organization_id: organizationId,
      mailbox_id: mailboxId,
      thread_id: answer.threadId ?? (await beginDraftThread(app, trx, begun)),
      in_reply_to_message_id: inReplyToMessageId ?? null,
      content: JSON.stringify(content),
      state: 'open',
      created_at: now,
      updated_at: now,
    };
    await drafts.insert(trx, row);
    await record(app, trx, caller, changeOf(row, 'draft.created'));
    return present(trx, row);
  });
}

/** Changes what is given. @throws ResourceNotFoundError, ConflictError (proposed). */
export function updateDraft(app: App, caller: Caller, at: At, wanted: UpdateDraft): Promise<Draft> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    const row = await getOpenRow(trx, organizationId, at);
    const change = {
      content: JSON.stringify(changed(fromJson<Content>(row.content), wanted)),
      state: 'open',
      // Of two changes within a millisecond the second is another one.
      updated_at: Math.max(app.clock.now(), row.updated_at + 1),
    };
    await record(app, trx, caller, changeOf(row, 'draft.updated'));
    return present(trx, await drafts.update(trx, organizationId, row.id, change));
  });
}

/** @throws ResourceNotFoundError, ConflictError (proposed). */
export function deleteDraft(app: App, caller: Caller, at: At): Promise<Deleted> {
  const { organizationId } = caller;
  return app.store.write(async (trx) => {
    const row = await getOpenRow(trx, organizationId, at);
    // Before the draft, as a send of it does.
    await lockMailboxes(trx, [row.mailbox_id]);
    await drafts.remove(trx, organizationId, row.id);
    await record(app, trx, caller, changeOf(row, 'draft.deleted'));
    if (row.thread_id !== null) await endDraftThread(trx, row.mailbox_id, row.thread_id);
    return { success: true, message: `Draft ${row.id} is deleted` };
  });
}

function requireRecipients({ to, cc, bcc }: Content): void {
  if (to.length + cc.length + bcc.length > 0) return;
  throw ValidationError.of('to', 'needs at least one recipient: update the draft first');
}

/**
 * Sends a draft. @throws ResourceNotFoundError; ValidationError where it has no recipient, or nothing
 * to say; ConflictError (proposed, paused mailbox); what `sendMail` does.
 */
export async function sendDraft(
  app: App,
  caller: Caller,
  at: At,
  key: string | null,
): Promise<ReplyResult> {
  const { organizationId } = caller;
  const { db } = app.store;
  const path = `/v1/mailboxes/${at.mailboxId}/drafts/${at.draftId}/send`;
  const again = await resultBefore(app, caller, { path, body: {}, key });
  if (again) return again;
  const row = await getOpenRow(db, organizationId, at);
  const content = fromJson<Content>(row.content);
  requireRecipients(content);
  const mailbox = await getMailboxRow(db, organizationId, at.mailboxId);
  requireActive(mailbox);
  const answered = row.in_reply_to_message_id;
  const found =
    answered && (await findAnswered(app, caller, { mailboxId: at.mailboxId, messageId: answered }));
  if (found) refuseAutoReply(caller, found.message.id, found.kind);
  const mail: Mail = {
    ...content,
    type: found ? 'reply' : 'sendMessage',
    threadId: row.thread_id,
    inReplyToMessageId: answered,
    draft: { id: row.id, updatedAt: row.updated_at },
    from: found ? (await answerTo(app, found, false)).from : defaultFrom(mailbox),
    subject: content.subject ?? '',
  };
  return sendMail(app, caller, at.mailboxId, mail, { path, body: {}, key });
}
