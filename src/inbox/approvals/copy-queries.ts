// SQL on the copies of mail in actions and proposals: finds actions by message, thread or mailbox,
// and empties or deletes them. Rows only, no decisions.
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import type { ActionRow } from './queries.ts';

interface CopyTables {
  mailbox_actions: ActionRow;
  mailbox_proposals: { action_id: string; content: string };
}

/** Tells whether the thread has an open proposal made at or before `madeBy`, ms since 1970. */
export async function isProposedIn(trx: Db, threadId: string, madeBy: number): Promise<boolean> {
  const row = await tables<CopyTables>(trx)
    .selectFrom('mailbox_actions')
    .select('id')
    .where('thread_id', '=', threadId)
    .where('message_id', 'is', null)
    .where('state', '=', 'proposed')
    .where('created_at', '<=', madeBy)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Moves actions of a thread to the thread `to`, except actions that sent a message. */
export async function moveActionsOfThread(trx: Db, from: string, to: string): Promise<void> {
  await tables<CopyTables>(trx)
    .updateTable('mailbox_actions')
    .set({ thread_id: to })
    .where('thread_id', '=', from)
    .where('message_id', 'is', null)
    .execute();
}

export type ActionCopy = Pick<
  ActionRow,
  'id' | 'organization_id' | 'mailbox_id' | 'created_at' | 'decided_at'
>;

const copyColumns = ['id', 'organization_id', 'mailbox_id', 'created_at', 'decided_at'] as const;

/** Returns the actions that sent a message. */
export function selectActionsOfMessage(trx: Db, messageId: string): Promise<ActionCopy[]> {
  return tables<CopyTables>(trx)
    .selectFrom('mailbox_actions')
    .select(copyColumns)
    .where('message_id', '=', messageId)
    .execute();
}

/**
 * Returns up to `limit` actions of a thread: rejected, expired and failed proposals; with `areAll`,
 * actions in every state but `proposed`. Leaves out emptied actions, and actions that sent a
 * message.
 */
export function selectActionsOfThread(
  trx: Db,
  threadId: string,
  areAll: boolean,
  limit: number,
): Promise<ActionCopy[]> {
  return tables<CopyTables>(trx)
    .selectFrom('mailbox_actions')
    .select(copyColumns)
    .where('thread_id', '=', threadId)
    .where('message_id', 'is', null)
    .where('summary', '<>', emptySummary)
    .where('state', '<>', 'proposed')
    .$if(!areAll, (query) => query.where('state', 'in', ['rejected', 'expired', 'failed']))
    .limit(limit)
    .execute();
}

export function selectActionsOfMailbox(
  trx: Db,
  mailboxId: string,
  limit: number,
): Promise<ActionCopy[]> {
  return tables<CopyTables>(trx)
    .selectFrom('mailbox_actions')
    .select(copyColumns)
    .where('mailbox_id', '=', mailboxId)
    .orderBy('id')
    .limit(limit)
    .execute();
}

const emptySummary = '{"deleted":true}';

/** Removes summary, note and failure from actions, as they may quote the mail. */
export async function emptyActions(trx: Db, ids: readonly string[]): Promise<void> {
  await tables<CopyTables>(trx)
    .updateTable('mailbox_actions')
    .set({ summary: emptySummary, note: null, failure: null })
    .where('id', ...isOneOf(trx, ids))
    .execute();
}

/** Deletes actions with their proposals. */
export async function deleteActions(trx: Db, ids: readonly string[]): Promise<void> {
  await tables<CopyTables>(trx)
    .deleteFrom('mailbox_actions')
    .where('id', ...isOneOf(trx, ids))
    .execute();
}

/** Deletes up to `limit` of the oldest closed actions made before `before`. Returns their count. */
export async function deleteOldActions(trx: Db, before: number, limit: number): Promise<number> {
  const old = await tables<CopyTables>(trx)
    .selectFrom('mailbox_actions')
    .select('id')
    .where('created_at', '<', before)
    .where('state', '<>', 'proposed')
    .orderBy('created_at')
    .limit(limit)
    .execute();
  await deleteActions(
    trx,
    old.map(({ id }) => id),
  );
  return old.length;
}
