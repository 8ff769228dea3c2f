// All SQL on `message_counts` and `message_slots`: the number of messages of an organization, by
// day and status, and by slots of ten seconds. Rows only; counts.ts decides on changes.
import { sql } from 'kysely';
import { type Db, tables } from '../../../platform/store/db.ts';
import { ownTables } from '../../../platform/store/own-tables.ts';
import type { MessageStatus } from '../../deliveries/status.ts';

/** Number of messages accepted or received on a day (UTC) that now have the status. */
export interface DayCountRow {
  organization_id: string;
  direction: 'outbound' | 'inbound';
  status: MessageStatus;
  /** First millisecond of the day. */
  day: number;
  count: number;
}

/** Messages accepted or received within ten seconds, in any status. */
export interface SlotCountRow {
  organization_id: string;
  direction: 'outbound' | 'inbound';
  /** First millisecond of the slot. */
  slot: number;
  count: number;
}

interface CountTables {
  message_counts: DayCountRow & { shard: number };
  message_slots: SlotCountRow;
}

const own = ownTables<CountTables>();

/** Counter of messages by day and status, in shards. Hot. */
export const dayCounts = own.counter(
  'message_counts',
  ['organization_id', 'direction', 'status', 'day', 'shard'],
  ['count'],
);

/** Counter of messages by slots of ten seconds. Hot. */
export const slotCounts = own.counter(
  'message_slots',
  ['organization_id', 'direction', 'slot'],
  ['count'],
);

/** Selects the counts to sum. Times in ms since 1970, `to` excluded. */
export interface CountScope {
  organizationId: string;
  direction?: 'outbound' | 'inbound' | undefined;
  status?: MessageStatus | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

const total = sql<number>`cast(coalesce(sum(count), 0) as bigint)`.as('total');

/** Counts the messages of whole days: `from` and `to` must be day boundaries. */
export async function sumDayCounts(db: Db, scope: CountScope): Promise<number> {
  const { organizationId, direction, status, from, to } = scope;
  const row = await tables<CountTables>(db)
    .selectFrom('message_counts')
    .select(total)
    .where('organization_id', '=', organizationId)
    .$if(direction !== undefined, (q) => q.where('direction', '=', direction ?? 'outbound'))
    .$if(status !== undefined, (q) => q.where('status', '=', status ?? 'pending'))
    .$if(from !== undefined, (q) => q.where('day', '>=', from ?? 0))
    .$if(to !== undefined, (q) => q.where('day', '<', to ?? 0))
    .executeTakeFirstOrThrow();
  return row.total;
}

/** Counts the messages of whole slots in any status: `from` and `to` must be slot boundaries. */
export async function sumSlotCounts(
  db: Db,
  { organizationId, direction, from = 0, to = 0 }: CountScope,
): Promise<number> {
  const row = await tables<CountTables>(db)
    .selectFrom('message_slots')
    .select(total)
    .where('organization_id', '=', organizationId)
    .where('direction', 'in', direction ? [direction] : ['outbound', 'inbound'])
    .where('slot', '>=', from)
    .where('slot', '<', to)
    .executeTakeFirstOrThrow();
  return row.total;
}
