// SQL of `retention.messagesDays` and `retention.contentDays`, and of the removal of contents. Rows only.
import { type Db, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { MessageStatus } from '../deliveries/status.ts';
import type { MessageRow, MessageTables } from './queries.ts';

const own = ownTables<MessageTables>();

/** Statuses without another attempt. */
const ended = ['sent', 'delivered', 'read', 'failed', 'bounced', 'complained'] as const;

/** Tells whether a message in this status gets no further attempt. */
export function isEnded(status: MessageStatus): boolean {
  return ended.some((one) => one === status);
}

/** Returns the first `limit` ended messages between the ids `after` and `before`. */
export function findEnded(
  db: Db,
  { after, before, limit }: { after: string; before: string; limit: number },
): Promise<Pick<MessageRow, 'id' | 'content_id' | 'raw_blob_id'>[]> {
  return tables<MessageTables>(db)
    .selectFrom('messages')
    .select(['id', 'content_id', 'raw_blob_id'])
    .where('id', '>', after)
    .where('id', '<', before)
    .where('status', 'in', ended)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Takes content and raw mail from a message; the caller deletes their rows. */
export const dropContent = own.run((db, id: string) =>
  db.updateTable('messages').set({ content_id: null, raw_blob_id: null }).where('id', '=', id),
);
