// SQL of `retention.messagesDays` and `retention.contentDays`, and of the removal of contents. Rows
// only.
import { sql } from 'kysely';
import { firstIdAt } from '../../../platform/runtime/ids.ts';
import { type Db, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';
import { mergedRanges } from '../../../platform/store/rows/merged-ranges.ts';
import type { MessageStatus } from '../../deliveries/status.ts';
import type { MessageRow, MessageTables } from '../queries.ts';

const own = ownTables<MessageTables>();

/** Statuses without a further attempt. */
const ended = ['sent', 'delivered', 'read', 'failed', 'bounced', 'complained'] as const;

/** Tells whether a message in this status gets no further attempt. */
export function isEnded(status: MessageStatus): boolean {
  return ended.some((one) => one === status);
}

export type EndedRow = Pick<MessageRow, 'id' | 'content_id' | 'raw_blob_id' | 'created_at'>;

/** A part of the ended messages, in the order of their acceptance. */
export interface EndedRange {
  /** Message after which the range begins; null at the start. */
  after: Pick<EndedRow, 'id' | 'created_at'> | null;
  /** Only messages accepted before this time, ms since 1970. */
  beforeMs: number;
  limit: number;
}

/** Returns the first ended messages of the range, of all organizations. */
export function findEnded(db: Db, { after, beforeMs, limit }: EndedRange): Promise<EndedRow[]> {
  return tables<MessageTables>(db)
    .selectFrom('messages')
    .select(['id', 'content_id', 'raw_blob_id', 'created_at'])
    .where('id', '>', after?.id ?? '')
    .where('id', '<', firstIdAt('message', beforeMs))
    .where('status', 'in', ended)
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Returns the first ended messages of the range, of a single organization. */
export async function findEndedOf(
  db: Db,
  organizationId: string,
  { after, beforeMs, limit }: EndedRange,
): Promise<EndedRow[]> {
  const kinds = ['outbound', 'inbound'].flatMap((direction) =>
    ended.map((status) => ({ direction, status })),
  );
  const { created_at: createdAt, id } = after ?? { created_at: -1, id: '' };
  const ranges = kinds.map(
    ({ direction, status }) => sql`select id, content_id, raw_blob_id, created_at from messages
      where organization_id = ${organizationId} and direction = ${direction} and status = ${status}
      and (created_at, id) > (${createdAt}, ${id}) and created_at < ${beforeMs}`,
  );
  const page = mergedRanges(db, ranges, sql`order by created_at, id`, { limit, offset: 0 });
  return (await sql<EndedRow>`${page}`.execute(db)).rows;
}

/**
 * Removes content and raw mail from a message. The caller deletes the rows of both. `linksId` is
 * the content with the link targets, which stays.
 */
export const dropContent = own.run((db, id: string, linksId: string | null) =>
  db.updateTable('messages').set({ content_id: linksId, raw_blob_id: null }).where('id', '=', id),
);
