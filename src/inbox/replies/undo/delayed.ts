// Stores, when a delayed mail is accepted, the draft that an undo would make: the send deletes the
// original draft. The bytes of files are stored with the message, the names with the draft.
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { timeOfAge } from '../../../core/clock/age.ts';
import type { Db } from '../../../platform/store/db.ts';
import { sweep } from '../../../platform/store/rows/sweep.ts';
import {
  type DelayedRow,
  deleteDelayedBefore,
  insertDelayed,
} from '../../threads/drafts/delayed-queries.ts';
import { type DraftFileRow, type DraftRow, drafts } from '../../threads/drafts/draft-queries.ts';
import { bytesOf, type Given, requireRoom } from '../draft-room.ts';
import type { Mail } from '../mail.ts';

/** Time for which an undo finds the draft, in ms: longer than the longest delay. */
const keptMs = 3_600_000;

/** Name and type of a file. */
type KeptFile = Pick<DraftFileRow, 'filename' | 'content_type' | 'content_id'>;

/** The draft that an undo makes, as stored. */
export interface KeptDraft {
  /** The draft that was sent; null for a mail that was no draft. */
  before: DraftRow | null;
  content: Given;
  inReplyToMessageId: string | null;
  files: KeptFile[];
}

/** A file of a mail to send: of a request, or decoded. */
interface SentFile {
  filename: string;
  contentType?: string | null | undefined;
  contentId?: string | null | undefined;
}

type Words = Pick<
  Mail,
  'to' | 'cc' | 'bcc' | 'subject' | 'text' | 'html' | 'inReplyToMessageId' | 'draft'
>;

/** A mail to send after a delay. */
export interface Delayed {
  caller: Caller;
  mailboxId: string;
  mail: Words & { attachments: readonly SentFile[] };
  fileBytes: number;
}

/** A delayed mail that was accepted, with the approved action, if any. */
export interface AcceptedDelayed extends Delayed {
  messageId: string;
  actionId: string | null;
}

function contentOf({ to, cc, bcc, subject, text, html }: Words): Given {
  return { recipients: JSON.stringify({ to, cc, bcc }), subject, text, html };
}

/**
 * Refuses a delayed mail if the mailbox has no room for the draft that an undo would make. A mail
 * made from a draft always passes: the undo restores that draft. The caller has locked the mailbox.
 * @throws ConflictError
 */
export async function requireRoomToUndo(app: App, trx: Db, delayed: Delayed): Promise<void> {
  const { mailboxId, mail, fileBytes } = delayed;
  const isDraft = mail.draft !== null;
  const bytes = bytesOf(contentOf(mail), fileBytes);
  if (!isDraft) await requireRoom(app, trx, mailboxId, { count: 1, bytes });
}

/** Keeps the draft of an accepted mail. Runs before the send deletes the draft. */
export async function keepDelayed(app: App, trx: Db, accepted: AcceptedDelayed): Promise<void> {
  const { caller, mailboxId, mail, fileBytes, messageId, actionId } = accepted;
  const { draft } = mail;
  const before = draft && (await drafts.find(trx, caller.organizationId, draft.id));
  const kept: KeptDraft = {
    before: before ?? null,
    content: contentOf(mail),
    inReplyToMessageId: mail.inReplyToMessageId,
    files: mail.attachments.map(({ filename, contentType = null, contentId = null }) => ({
      filename,
      content_type: contentType,
      content_id: contentId,
    })),
  };
  const row: DelayedRow = {
    message_id: messageId,
    mailbox_id: mailboxId,
    action_id: actionId,
    created_at: app.clock.now(),
    byte_count: bytesOf(kept.content, fileBytes),
    draft: JSON.stringify(kept),
  };
  await insertDelayed(trx, [row]);
}

/** Deletes drafts an hour after the mail was accepted, for the hourly job. Returns their count. */
export async function sweepDelayed(app: App): Promise<number> {
  const before = await timeOfAge(app, keptMs);
  return sweep(app.store, (trx, limit) => deleteDelayedBefore(trx, before, limit));
}
