// SQL for recent messages of a thread. Automatic answers check it to learn whether a person wrote lately.
import type { Kysely } from 'kysely';
import {
  type Db,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../../platform/store/db.ts';
import type { ThreadMessageRow } from './queries.ts';

interface MessageTables {
  thread_messages: ThreadMessageRow;
}

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

interface Sends {
  threadIds: unknown;
  at: number;
  sends: number;
}

const busy = statement((db: Kysely<MessageTables>, parameter: ParameterOf<Sends>) =>
  db
    .selectFrom('thread_messages')
    .select('thread_id')
    .where(isOneOf(db, 'thread_id', parameter('threadIds')))
    .where('at', '>=', parameter('at'))
    .where('kind', '=', 'sent')
    .groupBy('thread_id')
    .having(({ fn }) => fn.countAll(), '>=', parameter('sends')),
);

/** Returns those of these threads that gained at least this many messages since `at` (ms since 1970). */
export async function selectBusy(
  db: Db,
  threadIds: readonly string[],
  at: number,
  sends: number,
): Promise<Set<string>> {
  if (threadIds.length === 0) return new Set();
  const rows = await busy(db, { threadIds: idList(db, threadIds), at, sends });
  return new Set(rows.map(({ thread_id }) => thread_id));
}
