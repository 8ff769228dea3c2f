// SQL on `deliveries` to view the queue and change it by hand: pages, counts, walks, and changes
// that leave claimed deliveries alone. The states are at the head of queries.ts; a lane named `held
// <hold id>` is a hold (src/outbound/queue/desk/holds.ts).
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { amongOf, type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { Postponement } from './claim-queries.ts';
import type { DeliveryRow, DeliveryTables } from './queries.ts';
import type { WaitReason } from './status.ts';

const own = ownTables<DeliveryTables>();

export const queueStates = ['ready', 'waiting', 'in-lane', 'held', 'claimed'] as const;
export type QueueState = (typeof queueStates)[number];

/** Selects entries of the queue; an undefined field matches any entry. */
export interface QueueFilter {
  organizationId?: string | undefined;
  domain?: string | undefined;
  waitReason?: WaitReason | undefined;
  lane?: string | undefined;
  /** Only entries queued before this time. */
  queuedBefore?: number | undefined;
}

/**
 * The two halves in which the queue is read, each in the order of an index: by turn, then by time.
 */
export type QueueHalf = 'ready' | 'due';

/** Part of a half: the entries of a state, or with null all entries. */
export interface QueuePart {
  half: QueueHalf;
  state: QueueState | null;
  /** Values of the column `lane` for deliveries that a hold of the operator keeps back. */
  heldStops: readonly string[];
}

function entriesOf(db: Db, half: QueueHalf) {
  const q = tables<DeliveryTables>(db).selectFrom('deliveries');
  return half === 'ready'
    ? q.where('turn', 'is not', null)
    : q.where('turn', 'is', null).where('due_at', 'is not', null);
}

function filtered(db: Db, half: QueueHalf, filter: QueueFilter) {
  const { organizationId, domain, waitReason, lane, queuedBefore } = filter;
  return entriesOf(db, half)
    .$if(organizationId !== undefined, (q) => q.where('organization_id', '=', organizationId ?? ''))
    .$if(domain !== undefined, (q) => q.where('domain', '=', domain ?? ''))
    .$if(waitReason !== undefined, (q) => q.where('wait_reason', '=', waitReason ?? 'retry'))
    .$if(lane !== undefined, (q) => q.where('lane', '=', lane ?? ''))
    .$if(queuedBefore !== undefined, (q) =>
      q.where(({ fn }) => fn.coalesce('queued_at', 'created_at'), '<', queuedBefore ?? 0),
    );
}

function partOf(db: Db, { half, state, heldStops }: QueuePart, filter: QueueFilter) {
  const held = amongOf(db, 'lane', heldStops);
  return filtered(db, half, filter)
    .$if(state === 'waiting', (q) => q.where('lane', 'is', null).where('claimed_by', 'is', null))
    .$if(state === 'claimed', (q) => q.where('claimed_by', 'is not', null))
    .$if(state === 'held', (q) => q.where(held))
    .$if(state === 'in-lane', (q) =>
      q.where('lane', 'is not', null).where(sql<SqlBool>`not ${held}`),
    );
}

/** Returns a range of the entries in a part, the next attempt first. */
export function selectQueue(
  db: Db,
  part: QueuePart,
  filter: QueueFilter,
  range: { limit: number; offset: number },
): Promise<DeliveryRow[]> {
  return partOf(db, part, filter)
    .selectAll()
    .orderBy(part.half === 'ready' ? 'turn' : 'due_at')
    .orderBy('id')
    .limit(range.limit)
    .offset(range.offset)
    .execute();
}

export async function countQueue(db: Db, part: QueuePart, filter: QueueFilter): Promise<number> {
  const { count } = await partOf(db, part, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * Finds the delivery with this id, or all deliveries of the message with this id. Includes ended
 * deliveries.
 */
export function findNamedDeliveries(db: Db, id: string): Promise<DeliveryRow[]> {
  return tables<DeliveryTables>(db)
    .selectFrom('deliveries')
    .selectAll()
    .where(id.startsWith('dlv_') ? 'id' : 'message_id', '=', id)
    .orderBy('id')
    .execute();
}

/** Number of entries by state. */
export type QueueCounts = Record<QueueState, number>;

/** Counts the entries of each state, each up to `most`. Reads index entries only. */
export async function countStates(
  db: Db,
  heldStops: readonly string[],
  most: number,
): Promise<QueueCounts> {
  const held = amongOf(db, 'lane', heldStops);
  const upTo = (condition: RawBuilder<SqlBool>) =>
    sql`(select count(*) from (select 1 from deliveries where ${condition} limit ${most}) a)`;
  const { rows } = await sql<QueueCounts>`select
    ${upTo(sql`turn is not null`)} as ready,
    ${upTo(sql`turn is null and due_at is not null and lane is null and claimed_by is null`)} as waiting,
    ${upTo(sql`lane is not null and not ${held}`)} as "in-lane",
    ${upTo(sql`lane is not null and ${held}`)} as held,
    ${upTo(sql`claimed_by is not null`)} as claimed`.execute(db);
  return rows[0] ?? { ready: 0, waiting: 0, 'in-lane': 0, held: 0, claimed: 0 };
}

/** Counts the deliveries that wait in each of these lanes. Leaves out empty lanes. */
export async function countInLanes(db: Db, lanes: readonly string[]): Promise<Map<string, number>> {
  const rows = await tables<DeliveryTables>(db)
    .selectFrom('deliveries')
    .select(['lane', ({ fn }) => fn.countAll<number>().as('count')])
    .where('lane', 'is not', null)
    .where('lane', ...isOneOf(db, lanes))
    .groupBy('lane')
    .execute();
  return new Map(rows.map(({ lane, count }) => [lane ?? '', count]));
}

/** Counts the deliveries with an earlier turn, up to `most`. */
export async function countBefore(db: Db, turn: number, most: number): Promise<number> {
  const before = tables<DeliveryTables>(db)
    .selectFrom('deliveries')
    .select('id')
    .where('turn', '<', turn)
    .limit(most)
    .as('before');
  const { count } = await tables<DeliveryTables>(db)
    .selectFrom(before)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** The fields of an entry that turns and events need. */
export type QueueRow = Pick<
  DeliveryRow,
  | 'id'
  | 'message_id'
  | 'recipient_id'
  | 'organization_id'
  | 'sender_domain'
  | 'email'
  | 'status'
  | 'campaign_run_id'
>;

/**
 * An entry read by a walk. `at` is the turn of a ready entry, else the due time; the walk follows
 * this order.
 */
export interface WalkRow extends QueueRow {
  at: number;
}

export interface Walk {
  half: QueueHalf;
  filter: QueueFilter;
  /** Lanes to leave out. */
  exceptStops: readonly string[];
  /** Whether the walk includes deliveries that are scheduled for later. */
  withScheduled: boolean;
  /** Last entry of the previous batch. */
  after: Pick<WalkRow, 'id' | 'at'> | null;
  /** Turn or time of the last entry when the walk began. Later entries are left out. */
  until: number;
}

/** The unclaimed entries that a walk changes. */
export type WalkScope = Pick<Walk, 'half' | 'filter' | 'exceptStops' | 'withScheduled'>;

function unclaimed(db: Db, { half, filter, exceptStops, withScheduled }: WalkScope) {
  const excepted = amongOf(db, 'lane', exceptStops);
  return filtered(db, half, filter)
    .where('claimed_by', 'is', null)
    .$if(exceptStops.length > 0, (q) =>
      q.where((where) => where.or([where('lane', 'is', null), sql<SqlBool>`not ${excepted}`])),
    )
    .$if(!withScheduled, (q) => q.where('status', '<>', 'scheduled'));
}

/** Counts the entries that a walk would meet now. */
export async function countWalk(db: Db, scope: WalkScope): Promise<number> {
  const { count } = await unclaimed(db, scope)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns the next unclaimed entries of a walk over a half of the queue. */
export async function walkQueue(db: Db, walk: Walk, limit: number): Promise<WalkRow[]> {
  const { half, after, until } = walk;
  const order = half === 'ready' ? 'turn' : 'due_at';
  const rows = await unclaimed(db, walk)
    .select(['id', 'message_id', 'recipient_id', 'organization_id', 'sender_domain', 'email'])
    .select(['status', 'campaign_run_id'])
    .select(`${order} as at`)
    .where(order, '<=', until)
    .$if(after !== null, (q) =>
      q
        .where(order, '>=', after?.at ?? 0)
        .where((where) =>
          where.or([where(order, '>', after?.at ?? 0), where('id', '>', after?.id ?? '')]),
        ),
    )
    .orderBy(order)
    .orderBy('id')
    // The limit is SQL text: for an unknown limit PostgreSQL plans for a tenth of the table.
    .limit(sql.lit(limit))
    .execute();
  return rows.map((row) => ({ ...row, at: row.at ?? 0 }));
}

/**
 * Returns the last turn or due time of a half, or null if the half is empty. Reads an index entry.
 */
export async function lastOf(db: Db, half: QueueHalf): Promise<number | null> {
  const order = half === 'ready' ? 'turn' : 'due_at';
  const row = await entriesOf(db, half)
    .select(`${order} as at`)
    .orderBy(order, 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.at ?? null;
}

type TurnGift = { id: string; turn: number; now: number };

/**
 * Makes a waiting entry of any state ready, and keeps the time of a planned retry. Returns false if
 * it has a turn, is claimed or has ended.
 */
export const makeReadyNow = own.all(
  (db, gift: TurnGift) =>
    db
      .updateTable('deliveries')
      .set({
        turn: gift.turn,
        due_at: gift.now,
        lane: null,
        wait_reason: null,
        planned_at: sql<number | null>`case when wait_reason = 'retry' and due_at > ${gift.now}
          then due_at else planned_at end`,
      })
      .where('id', '=', gift.id)
      .where('turn', 'is', null)
      .where('due_at', 'is not', null)
      .where('claimed_by', 'is', null)
      .returning('id'),
  (rows) => rows.length > 0,
);

/** Holds an entry. Returns false if it is claimed or has ended. */
export const holdDelivery = own.all(
  (db, holding: Postponement) =>
    db
      .updateTable('deliveries')
      .set({
        turn: null,
        lane: holding.lane,
        due_at: holding.dueAt,
        wait_reason: holding.waitReason,
      })
      .where('id', '=', holding.id)
      .where('due_at', 'is not', null)
      .where('claimed_by', 'is', null)
      .returning('id'),
  (rows) => rows.length > 0,
);

/** Columns of an entry that ends without an attempt. */
export type UnclaimedEnd = Pick<
  DeliveryRow,
  'status' | 'failed_at' | 'terminal_at' | 'error_code' | 'error_message' | 'updated_at'
> &
  Partial<Pick<DeliveryRow, 'queued_at' | 'error_details'>>;

/** Ends an entry. Returns false if it is claimed or has ended. */
export async function endUnclaimed(db: Db, id: string, end: UnclaimedEnd): Promise<boolean> {
  const { numUpdatedRows } = await tables<DeliveryTables>(db)
    .updateTable('deliveries')
    .set({ ...end, turn: null, due_at: null, lane: null, wait_reason: null })
    .where('id', '=', id)
    .where('due_at', 'is not', null)
    .where('claimed_by', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Ends an entry as failed, with code `cancelled`. Returns false if it is claimed or has ended. */
export function cancelDelivery(
  db: Db,
  id: string,
  errorMessage: string,
  now: number,
): Promise<boolean> {
  return endUnclaimed(db, id, {
    status: 'failed',
    failed_at: now,
    terminal_at: now,
    error_code: 'cancelled',
    error_message: errorMessage,
    updated_at: now,
  });
}
