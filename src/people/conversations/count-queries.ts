// All SQL on `conversation_counts`: number of conversations of an organization by status, updated
// in the transactions that create, delete or change them.
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { ConversationStatus } from './schema.ts';

interface ConversationCountRow {
  organization_id: string;
  status: ConversationStatus;
  count: number;
}

interface CountTables {
  conversation_counts: ConversationCountRow;
}

const own = ownTables<CountTables>();

const counts = own.counter('conversation_counts', ['organization_id', 'status'], ['count']);

/** Records that a conversation entered this status (`by` 1) or left it (-1). */
export function recordConversation(
  trx: Db,
  { organization_id, status }: Omit<ConversationCountRow, 'count'>,
  by: 1 | -1,
): void {
  counts.add(trx, { organization_id, status }, { count: by });
}

/** Counts the conversations with the status, or all conversations without a status. */
export async function countOfStatus(
  db: Db,
  organizationId: string,
  status: ConversationStatus | undefined,
): Promise<number> {
  const rows = await tables<CountTables>(db)
    .selectFrom('conversation_counts')
    .select(['status', 'count'])
    .where('organization_id', '=', organizationId)
    .execute();
  const wanted = rows.filter((row) => status === undefined || row.status === status);
  return wanted.reduce((sum, { count }) => sum + count, 0);
}
