// SQL of rehearsals (src/service/rehearsal): the status of each recipient, and the reasons for
// which mail waits. The queries read a whole store, so no request may call them.
import { sql } from 'kysely';
import { type Db, tables } from '../../platform/store/db.ts';
import type { DeliveryRow, DeliveryTables } from './queries.ts';

export type LedgerRow = Pick<
  DeliveryRow,
  | 'id'
  | 'message_id'
  | 'organization_id'
  | 'email'
  | 'status'
  | 'created_at'
  | 'sent_at'
  | 'terminal_at'
  | 'due_at'
  | 'error_message'
  | 'wait_reason'
>;

/**
 * Returns deliveries with an id after `after`, in the order of ids: accepted or ended since `from`,
 * or not ended.
 */
export function selectLedger(
  db: Db,
  { from, after, limit }: { from: number; after: string; limit: number },
): Promise<LedgerRow[]> {
  return tables<DeliveryTables>(db)
    .selectFrom('deliveries')
    .select(['id', 'message_id', 'organization_id', 'email', 'status', 'created_at', 'sent_at'])
    .select(['terminal_at', 'due_at', 'error_message', 'wait_reason'])
    .where('id', '>', after)
    .where((eb) =>
      eb.or([
        eb('created_at', '>=', from),
        eb('terminal_at', '>=', from),
        eb('terminal_at', 'is', null),
      ]),
    )
    .orderBy('id')
    .limit(limit)
    .execute();
}

export interface HeldBack {
  /** First word of the lane's name, such as `held`. */
  kind: string;
  until: number | null;
}

/**
 * Returns the kinds of lanes in which deliveries wait, each with the latest due time. Only for
 * SQLite.
 */
export function selectHeldBack(db: Db): Promise<HeldBack[]> {
  const kind = sql<string>`substr(lane, 1, instr(lane, ' ') - 1)`;
  return tables<DeliveryTables>(db)
    .selectFrom('deliveries')
    .select([kind.as('kind'), (eb) => eb.fn.max('due_at').as('until')])
    .where('lane', 'is not', null)
    .where('claimed_by', 'is', null)
    .where('turn', 'is', null)
    .groupBy(kind)
    .execute();
}

/** Returns the scheduled deliveries with the latest due times, the latest first. */
export function selectScheduledLast(
  db: Db,
  limit: number,
): Promise<Pick<LedgerRow, 'message_id' | 'due_at'>[]> {
  return tables<DeliveryTables>(db)
    .selectFrom('deliveries')
    .select(['message_id', 'due_at'])
    .where('status', '=', 'scheduled')
    .where('turn', 'is', null)
    .where('due_at', 'is not', null)
    .orderBy('due_at', 'desc')
    .limit(limit)
    .execute();
}
