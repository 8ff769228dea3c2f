// SQL on `deliveries` for mail that waits because no server could be connected to.
import { type SqlBool, sql } from 'kysely';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { DeliveryRow, DeliveryTables } from './queries.ts';
import type { QueueRow } from './queue-queries.ts';

const own = ownTables<DeliveryTables>();

export type UnreachedRow = QueueRow &
  Pick<DeliveryRow, 'attempts' | 'attempt_count' | 'early_attempts'>;

/** A part of the unreached mail: ids above `after`, with a last attempt up to `before`. */
export interface UnreachedRange {
  after: string;
  before: number;
  limit: number;
}

/** Finds mail that waits for a retry after a failed look-up or connection, in the order of ids. */
export const findUnreached = own.all((db, { after, before, limit }: UnreachedRange) =>
  db
    .selectFrom('deliveries')
    .select(['id', 'message_id', 'recipient_id', 'organization_id', 'sender_domain', 'email'])
    .select(['status', 'campaign_run_id', 'attempts', 'attempt_count', 'early_attempts'])
    // Repeats the predicate of the index `deliveries_unreached` as SQL text.
    .where(sql<SqlBool>`error_code = 'connection' and wait_reason = 'retry'`)
    .where('due_at', 'is not', null)
    .where('id', '>', after)
    .where(sql<SqlBool>`(error_message like 'connect:%' or error_message like 'dns:%')`)
    .where('last_attempt_at', '<=', before)
    .orderBy('id')
    .limit(limit),
);
