// A draft as callers see it: the fields, and the picture of the mail as it would be sent now.
import { hash } from 'node:crypto';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { findHostedSender } from '../../identity/mailboxes/addresses.ts';
import { getMailboxRow } from '../../identity/mailboxes/mailbox-rows.ts';
import { resolveSender } from '../../identity/senders/resolve.ts';
import { ForbiddenError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { pictureOf } from '../approvals/picture.ts';
import { isProposed } from '../approvals/queries.ts';
import { presentAuthors } from '../threads/authors.ts';
import type { DraftRow, ListedDraft, ListedFile } from '../threads/drafts/draft-queries.ts';
import { answerTo } from './answers.ts';
import { findAnswered } from './found.ts';
import type { Mail } from './mail.ts';
import type { Draft, ShownDraft } from './schema.ts';
import { defaultFrom } from './senders.ts';

type Recipients = Pick<Mail, 'to' | 'cc' | 'bcc'>;

/** Returns the id of the open proposal to send a draft; null without a proposal. */
export async function proposalOf(db: Db, { state }: { state: string }): Promise<string | null> {
  return state !== 'open' && (await isProposed(db, state)) ? state : null;
}

/** Presents a draft without the parts that the mailbox and the sender add to the mail. */
export async function presentDraft(
  db: Db,
  row: ListedDraft,
  files: readonly ListedFile[],
): Promise<Draft> {
  return {
    id: row.id,
    mailboxId: row.mailbox_id,
    threadId: row.thread_id ?? '',
    inReplyToMessageId: row.in_reply_to_message_id,
    ...fromJson<Recipients>(row.recipients),
    subject: row.subject,
    text: row.text,
    html: row.html,
    contentOmitted: false,
    attachments: files.map(({ filename, content_type, size }) => ({
      filename,
      contentType: content_type,
      size,
    })),
    ...presentAuthors(row),
    actionId: await proposalOf(db, row),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

/** A draft with attached files. */
export interface WithFiles {
  row: DraftRow;
  files: readonly ListedFile[];
}

/** Presents a draft with everything that would be sent, and with a digest. */
export async function showDraft(
  app: App,
  caller: Caller,
  { row, files }: WithFiles,
): Promise<ShownDraft> {
  const draft = await presentDraft(app.store.db, row, files);
  const attachments = files.map(({ n, filename, content_type, content_id, size }) => ({
    n,
    filename,
    contentType: content_type,
    contentId: content_id,
    size,
  }));
  const sender = await senderOf(app, caller, row);
  const picture = await pictureOf(app, caller.organizationId, { ...draft, ...sender, attachments });
  return { ...draft, ...picture, digest: digestOf(draft, picture) };
}

/**
 * Returns the digest of a draft, without the notes. Files count by name, size and the time of the
 * last change, not by their bytes.
 */
function digestOf(
  { updatedAt }: Pick<Draft, 'updatedAt'>,
  { notes, ...seen }: Awaited<ReturnType<typeof pictureOf>>,
): string {
  return `sha256:${hash('sha256', JSON.stringify([updatedAt, seen]))}`;
}

/** Returns the From and Reply-To that would be sent; a From that may not send has no Reply-To. */
async function senderOf(
  app: App,
  caller: Caller,
  row: DraftRow,
): Promise<Pick<ShownDraft, 'from' | 'replyTo'>> {
  const { db } = app.store;
  const { organizationId } = caller;
  const from = await fromOf(app, caller, row);
  try {
    const sender = await resolveSender(db, organizationId, from, findHostedSender);
    const { email, name } = sender;
    return { from: { email, name }, replyTo: sender.replyToEmails ?? [] };
  } catch (error) {
    if (!(error instanceof ForbiddenError)) throw error;
    return { from, replyTo: [] };
  }
}

/** Returns the From that the draft would have: of an answer, or the default From. */
export async function fromOf(app: App, caller: Caller, row: DraftRow): Promise<Mail['from']> {
  const { mailbox_id: mailboxId, in_reply_to_message_id: messageId } = row;
  const found = messageId && (await findAnswered(app, caller, { mailboxId, messageId }));
  if (found) return (await answerTo(app, found, false)).from;
  return defaultFrom(await getMailboxRow(app.store.db, caller.organizationId, mailboxId));
}
