// SQL on the copies of mail that actions and proposals hold: found by message, by thread and by mailbox, emptied
// or deleted. Rows only, no decisions.
import { type Db, idList, isOneOf, tables } from '../store/db.ts';
import type { ActionRow } from './queries.ts';

interface CopyTables {
  mailbox_actions: ActionRow;
  mailbox_proposals: { action_id: string; content: string };
}

/** Whether a proposal in a thread made by then waits for a decision. */
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

/** The actions of one thread are another's: those that sent no message. */
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

/** The actions that sent a message. */
export function selectActionsOfMessage(trx: Db, messageId: string): Promise<ActionCopy[]> {
  return tables<CopyTables>(trx)
    .selectFrom('mailbox_actions')
    .select(copyColumns)
    .where('message_id', '=', messageId)
    .execute();
}

/**
 * Up to `limit` actions in a thread that sent no message, wait for nobody and are not empty yet; `areAll`: not
 * only the proposals that came to nothing.
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

/** Takes what actions say of their mail out of them. */
export async function emptyActions(trx: Db, ids: readonly string[]): Promise<void> {
  await tables<CopyTables>(trx)
    .updateTable('mailbox_actions')
    .set({ summary: emptySummary, note: null, failure: null })
    .where(isOneOf(trx, 'id', idList(trx, ids)))
    .execute();
}

/** Deletes actions with their proposals. */
export async function deleteActions(trx: Db, ids: readonly string[]): Promise<void> {
  await tables<CopyTables>(trx)
    .deleteFrom('mailbox_actions')
    .where(isOneOf(trx, 'id', idList(trx, ids)))
    .execute();
}

/** Deletes up to `limit` actions made before `before`, the oldest, that wait for nobody; how many went. */
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
