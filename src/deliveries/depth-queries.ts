// SQL on `deliveries` for measuring the queue: what waits, page by page in the order of an index that
// holds nothing else. The states are those at the head of queries.ts.
import { sql } from 'kysely';
import { type Db, tables } from '../store/db.ts';
import type { DeliveryTables } from './queries.ts';
import type { QueueHalf } from './queue-queries.ts';
import type { MessageStatus, WaitReason } from './status.ts';

/** What a measure needs to know of an entry. */
export interface WaitingRow {
  /** Its turn or its time, whichever its half is ordered by. */
  at: number;
  status: MessageStatus;
  lane: string | null;
  wait_reason: WaitReason | null;
  due_at: number | null;
  /** When it came into the queue, ms since 1970. */
  since: number;
}

/** From where a page goes on: after the `skip` first entries of those at `at`. */
export interface PageStart {
  at: number;
  skip: number;
}

/** The next entries of a half that nobody attempts at this moment. */
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
      // Written out: PostgreSQL plans a limit that it does not know as if it were a tenth of the table.
      .limit(sql.lit(limit))
      .offset(sql.lit(start?.skip ?? 0))
      .execute()
  );
}
