// Undoes the send of a delayed mail: the mail is cancelled, leaves the thread, and becomes a draft.
// A claim for delivery and an undo lock the deliveries, so only the first of both succeeds.
//
//   the mail was                          | after the undo
//   --------------------------------------+--------------------------------------------------------
//   a draft                               | that draft, as it was sent
//   any other send or reply               | a draft of the caller, in the thread
//   approved as it was proposed, or       | the same; the action is `failed` with the note `undone`
//   edited                                |
import type { Caller } from '../../../core/api/route.ts';
import type { App } from '../../../core/app.ts';
import { record } from '../../../history/events/record.ts';
import { lockMailboxes } from '../../../identity/mailboxes/queries.ts';
import { getMessage, getMessageRow } from '../../../outbound/messages/messages.ts';
import { findMessageRow, type MessageRow } from '../../../outbound/messages/queries.ts';
import type { Message } from '../../../outbound/messages/schema.ts';
import { cancelMessage, cancelWithin } from '../../../outbound/queue/schedule/cancel.ts';
import { type Db, fromJson } from '../../../platform/store/db.ts';
import { endUndone } from '../../approvals/actions.ts';
import { authoredBy } from '../../threads/authors.ts';
import {
  type DelayedRow,
  deleteDelayed,
  findDelayed,
} from '../../threads/drafts/delayed-queries.ts';
import {
  type DraftFileRow,
  type DraftRow,
  drafts,
  replaceDraftFiles,
} from '../../threads/drafts/draft-queries.ts';
import {
  deleteThreadMessage,
  findPlaced,
  findThreadMessages,
  firstOf,
} from '../../threads/queries.ts';
import { firstSubject, restateThread } from '../../threads/restate.ts';
import { removeDocuments } from '../../threads/search-queries.ts';
import { sentFiles } from '../original.ts';
import { draftNoun } from '../schema.ts';
import type { KeptDraft } from './delayed.ts';

/** Returns the mailbox of a message of the organization; null for other mail. */
export async function mailboxOfMessage(
  { store: { db } }: App,
  { organizationId }: Pick<Caller, 'organizationId'>,
  id: string,
): Promise<string | null> {
  const [placed] = await findPlaced(db, [id]);
  if (!placed) return null;
  const row = await findMessageRow(db, id);
  return row?.organization_id === organizationId ? placed.mailbox_id : null;
}

/**
 * Cancels a message. A delayed mail from a mailbox becomes a draft.
 * @throws the errors of `cancelMessage`
 */
export async function cancelOrUndo(app: App, caller: Caller, id: string): Promise<Message> {
  const { db } = app.store;
  const message = await getMessageRow(db, caller.organizationId, id);
  const delayed = await findDelayed(db, id);
  if (!delayed) return cancelMessage(app, caller, id);
  const kept = fromJson<KeptDraft>(delayed.draft);
  const bytes = (await sentFiles(app, message)).map(({ data }) => Buffer.from(data));
  await app.store.write(async (trx) => {
    if (!(await cancelWithin(app, trx, caller, id))) return;
    await deleteDelayed(trx, id);
    await putBack(app, trx, caller, { message, delayed, kept, bytes });
  });
  return getMessage(app, caller, id);
}

interface Undone {
  message: MessageRow;
  delayed: DelayedRow;
  kept: KeptDraft;
  /** Bytes of each file. */
  bytes: readonly Buffer[];
}

function rowOf(app: App, caller: Caller, threadId: string, undone: Undone): DraftRow {
  const { delayed, kept } = undone;
  const now = app.clock.now();
  const made = {
    id: app.newId(draftNoun),
    organization_id: caller.organizationId,
    mailbox_id: delayed.mailbox_id,
    in_reply_to_message_id: kept.inReplyToMessageId,
    ...authoredBy(caller),
    byte_count: delayed.byte_count,
    created_at: now,
    updated_at: now,
    ...kept.content,
  };
  return { ...(kept.before ?? made), thread_id: threadId, state: 'open' };
}

function filesOf(draftId: string, { kept, bytes }: Undone): DraftFileRow[] {
  return kept.files.flatMap((file, index) => {
    const data = bytes[index];
    if (!data) return [];
    const content = data.toString('base64');
    return { ...file, draft_id: draftId, n: index + 1, size: data.length, content };
  });
}

/**
 * Takes a cancelled mail out of the thread and the search, and stores it as a draft. The caller has
 * locked deliveries and message, which are locked before the mailbox.
 */
async function putBack(app: App, trx: Db, caller: Caller, undone: Undone): Promise<void> {
  const { message, delayed } = undone;
  await lockMailboxes(trx, [delayed.mailbox_id]);
  const [placed] = await findThreadMessages(trx, [message.id]);
  if (!placed) return;
  const { thread_id: threadId } = placed;
  await deleteThreadMessage(trx, message.id);
  await removeDocuments(trx, [message.id]);
  const row = rowOf(app, caller, threadId, undone);
  await drafts.insert(trx, row);
  await replaceDraftFiles(trx, row.id, filesOf(row.id, undone));
  const isLeft = (await firstOf(trx, threadId)) !== undefined;
  const { from_email: from_address, from_name } = message;
  const drafted = { folder: 'drafts', subject: row.subject, from_address, from_name } as const;
  const change = isLeft ? { subject: await firstSubject(trx, threadId) } : drafted;
  await restateThread(trx, threadId, app.clock.now(), change);
  if (delayed.action_id !== null) {
    await endUndone(trx, caller.organizationId, delayed.action_id);
  }
  const details = { mailboxId: row.mailbox_id, undone: message.id };
  await record(app, trx, caller, { subject: row.id, action: draftNoun.created, details });
}
