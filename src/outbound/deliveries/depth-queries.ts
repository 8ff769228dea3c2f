// SQL on `deliveries` to measure the queue. Reads waiting deliveries page by page, by an index of
// waiting deliveries only. The states are at the head of queries.ts.
import { sql } from 'kysely';
import { type Db, tables } from '../../platform/store/db.ts';
import type { DeliveryTables } from './queries.ts';
import type { QueueHalf } from './queue-queries.ts';
import type { MessageStatus, WaitReason } from './status.ts';

/** The fields of an entry that a measurement needs. */
export interface WaitingRow {
  /** Turn of a ready entry, due time of a waiting entry: entries are read in this order. */
  at: number;
  status: MessageStatus;
  lane: string | null;
  wait_reason: WaitReason | null;
  due_at: number | null;
  /** Time when the delivery entered the queue, ms since 1970. */
  since: number;
}

/** Start of a page: the first `skip` entries from `at` on were read before. */
export interface PageStart {
  at: number;
  skip: number;
}

/**
 * Returns the next unclaimed deliveries of a half of the queue: ready deliveries by turn, or
 * the remaining deliveries by due time.
 */
export function selectWaitingFrom(
  db: Db,
  half: QueueHalf,
  start: PageStart | null,
  limit: number,
): Promise<WaitingRow[]> {
  const order = half === 'ready' ? 'turn' : 'due_at';
  return (
    tables<DeliveryTables>(db)
      .selectFrom('deliveries')
      .select([`${order} as at`, 'status', 'lane', 'wait_reason', 'due_at'])
      .select(sql<number>`coalesce(queued_at, created_at)`.as('since'))
      .$narrowType<{ at: number }>()
      .where('claimed_by', 'is', null)
      .where(order, 'is not', null)
      .$if(half === 'due', (q) => q.where('turn', 'is', null))
      .$if(start !== null, (q) => q.where(order, '>=', start?.at ?? 0))
      .orderBy(order)
      // The limit is SQL text: for an unknown limit PostgreSQL plans for a tenth of the table.
      .limit(sql.lit(limit))
      .offset(sql.lit(start?.skip ?? 0))
      .execute()
  );
}
