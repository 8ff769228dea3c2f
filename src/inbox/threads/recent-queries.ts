// SQL for the recent messages of threads: the newest messages, and threads with many sends.
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { ThreadMessageRow } from './queries.ts';

interface MessageTables {
  thread_messages: ThreadMessageRow;
}

const own = ownTables<MessageTables>();

/** Returns the messages of a thread since `at` (ms since 1970), newest first. */
export function selectRecent(
  db: Db,
  threadId: string,
  at: number,
  limit: number,
): Promise<ThreadMessageRow[]> {
  return tables<MessageTables>(db)
    .selectFrom('thread_messages')
    .selectAll()
    .where('thread_id', '=', threadId)
    .where('at', '>=', at)
    .orderBy('at', 'desc')
    .orderBy('message_id', 'desc')
    .limit(limit)
    .execute();
}

const busy = own.all((db, threadIds: readonly string[], at: number, sends: number) =>
  db
    .selectFrom('thread_messages')
    .select('thread_id')
    .where('thread_id', ...isOneOf(db, threadIds))
    .where('at', '>=', at)
    .where('kind', '=', 'sent')
    .groupBy('thread_id')
    .having(({ fn }) => fn.countAll(), '>=', sends),
);

/** Returns the ids of threads with at least `sends` sent messages since `at`, ms since 1970. */
export async function selectBusy(
  db: Db,
  threadIds: readonly string[],
  at: number,
  sends: number,
): Promise<Set<string>> {
  if (threadIds.length === 0) return new Set();
  const rows = await busy(db, threadIds, at, sends);
  return new Set(rows.map(({ thread_id }) => thread_id));
}
