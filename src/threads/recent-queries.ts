// SQL for what was said lately in a thread: who answers by itself asks it, to know whether a person did.
import { type Db, tables } from '../store/db.ts';
import type { ThreadMessageRow } from './queries.ts';

interface MessageTables {
  thread_messages: ThreadMessageRow;
}

/** The messages of a thread since `at` (ms since 1970), newest first. */
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
