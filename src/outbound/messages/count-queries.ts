// All SQL on `message_counts` and `message_slots`: how many messages an organization keeps, by day and
// status, and by ten seconds. Rows only; counts.ts decides on changes.
import { type Kysely, sql } from 'kysely';
import { type Db, type ParameterOf, statement, tables } from '../../platform/store/db.ts';
import type { MessageStatus } from '../deliveries/status.ts';

/** Messages accepted or received on one day (UTC) that have this status now. */
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
  message_counts: DayCountRow;
  message_slots: SlotCountRow;
}

const addDay = statement((db: Kysely<CountTables>, parameter: ParameterOf<DayCountRow>) =>
  db
    .insertInto('message_counts')
    .values({
      organization_id: parameter('organization_id'),
      direction: parameter('direction'),
      status: parameter('status'),
      day: parameter('day'),
      count: parameter('count'),
    })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'direction', 'status', 'day']).doUpdateSet((set) => ({
        count: set('message_counts.count', '+', set.ref('excluded.count')),
      })),
    ),
);

const addSlot = statement((db: Kysely<CountTables>, parameter: ParameterOf<SlotCountRow>) =>
  db
    .insertInto('message_slots')
    .values({
      organization_id: parameter('organization_id'),
      direction: parameter('direction'),
      slot: parameter('slot'),
      count: parameter('count'),
    })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'direction', 'slot']).doUpdateSet((set) => ({
        count: set('message_slots.count', '+', set.ref('excluded.count')),
      })),
    ),
);

/** Hot. Adds to the rows. The caller sorts them, so that two transactions cannot deadlock. */
export async function addDayCounts(db: Db, rows: readonly DayCountRow[]): Promise<void> {
  for (const row of rows) await addDay(db, row);
}

/** Hot. Adds to the rows, sorted as for `addDayCounts`. */
export async function addSlotCounts(db: Db, rows: readonly SlotCountRow[]): Promise<void> {
  for (const row of rows) await addSlot(db, row);
}

/** Filter of the counts to add up. Times in ms since 1970, `to` excluded. */
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
