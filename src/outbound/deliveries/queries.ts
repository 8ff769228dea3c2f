// All SQL on `deliveries`. The row is the queue entry:
//
// | state   | turn | due_at       | claimed_by | lane | waits for                                |
// |---------|------|--------------|------------|------|------------------------------------------|
// | ready   | set  | past         | null       | null | a claim, in the order of turns           |
// | waiting | null | its time     | null       | null | its time (retry, schedule)               |
// | in lane | null | its estimate | null       | set  | room in its lane, at the latest its time |
// | claimed | null | lease's end  | worker     | null | the end of its attempt                   |
// | ended   | null | null         | null       | null | nothing                                  |
import { type Kysely, sql } from 'kysely';
import {
  bulkInsert,
  change,
  type Db,
  engineOf,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../../platform/store/db.ts';
import { lockerOf } from '../../platform/store/locks.ts';
import type { MessageStatus, WaitReason } from './status.ts';

export interface DeliveryRow {
  id: string;
  message_id: string;
  recipient_id: string;
  organization_id: string;
  /** Domain of the From address. Sending domains share the turns of their organization. */
  sender_domain: string;
  email: string;
  domain: string;
  /** The lane it waits for, as long as it does. */
  lane: string | null;
  /** Its place among ready deliveries (src/outbound/queue/turns.ts); null for all others. */
  turn: number | null;
  status: MessageStatus;
  attempt_count: number;
  max_attempts: number;
  due_at: number | null;
  claimed_by: string | null;
  wait_reason: WaitReason | null;
  queued_at: number | null;
  claimed_at: number | null;
  last_attempt_at: number | null;
  sent_at: number | null;
  delivered_at: number | null;
  read_at: number | null;
  failed_at: number | null;
  terminal_at: number | null;
  expires_at: number;
  error_code: string | null;
  error_message: string | null;
  error_details: string | null;
  attempts: string | null;
  /**
   * The SMTP transaction of its last attempt, if another delivery began it (src/outbound/queue/return-path.ts); null
   * if it began its own.
   */
  transaction_id: string | null;
  /** Group of mail with an unsubscribe link (src/outbound/unsubscribe-links). Each recipient gets a separate copy. */
  unsubscribe_group_id: string | null;
  created_at: number;
  updated_at: number;
}

export interface DeliveryTables {
  deliveries: DeliveryRow;
}

const deliveryColumns = [
  'id',
  'message_id',
  'recipient_id',
  'organization_id',
  'sender_domain',
  'email',
  'domain',
  'lane',
  'turn',
  'status',
  'attempt_count',
  'max_attempts',
  'due_at',
  'claimed_by',
  'wait_reason',
  'queued_at',
  'claimed_at',
  'last_attempt_at',
  'sent_at',
  'delivered_at',
  'read_at',
  'failed_at',
  'terminal_at',
  'expires_at',
  'error_code',
  'error_message',
  'error_details',
  'attempts',
  'transaction_id',
  'unsubscribe_group_id',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof DeliveryRow)[];

export const insertDeliveries = bulkInsert<DeliveryTables>('deliveries', deliveryColumns);

type IdList = { ids: unknown };

const engagedColumns = [
  'id',
  'message_id',
  'recipient_id',
  'organization_id',
  'email',
  'domain',
  'status',
  'sent_at',
  'delivered_at',
  'read_at',
  'created_at',
] as const satisfies readonly (keyof DeliveryRow)[];

/** Columns that opens and clicks need. The other twenty cost as much as the rest of their work. */
export type EngagedDelivery = Pick<DeliveryRow, (typeof engagedColumns)[number]>;

const selectEngaged = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('deliveries')
    .select(engagedColumns)
    .where(isOneOf(db, 'id', parameter('ids'))),
);

/** Finds deliveries in no order. Hot. */
export function findEngagedDeliveries(db: Db, ids: readonly string[]): Promise<EngagedDelivery[]> {
  return selectEngaged(db, { ids: idList(db, ids) });
}

const selectDeliveries = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('deliveries')
    .selectAll()
    .where(isOneOf(db, 'message_id', parameter('ids')))
    .orderBy('id'),
);

export function findDeliveries(db: Db, messageIds: readonly string[]): Promise<DeliveryRow[]> {
  return selectDeliveries(db, { ids: idList(db, messageIds) });
}

const historyColumns = ['error_message', 'error_details', 'attempts'] as const;
type History = Pick<DeliveryRow, (typeof historyColumns)[number]>;

const isHistory = (column: keyof DeliveryRow) => historyColumns.some((one) => one === column);
const briefColumns = deliveryColumns.filter((column) => !isHistory(column));

/** A delivery without what is told of its attempts: `bytes` is the size of that. */
type Brief = Omit<DeliveryRow, keyof History> & { bytes: number };

const selectBriefs = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('deliveries')
    .select(briefColumns)
    .select(
      sql<number>`coalesce(octet_length(error_message), 0)
        + coalesce(octet_length(error_details), 0) + coalesce(octet_length(attempts), 0)`.as(
        'bytes',
      ),
    )
    .where(isOneOf(db, 'message_id', parameter('ids')))
    .orderBy('id')
    .$castTo<Brief>(),
);

const selectHistories = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('deliveries')
    .select(['id', ...historyColumns])
    .where(isOneOf(db, 'id', parameter('ids'))),
);

/** Limit for the errors and attempts of one list: those of 100 messages may be 550 MB. */
const mostHistoryBytes = 6_291_456;
const noHistory: History = { error_message: null, error_details: null, attempts: null };

/** Returns the newest deliveries whose histories fit into one list. */
function idsWithHistory(rows: readonly Brief[]): string[] {
  let left = mostHistoryBytes;
  return rows.toReversed().flatMap(({ id, bytes }) => {
    if (bytes === 0) return [];
    left -= bytes;
    return left < 0 ? [] : [id];
  });
}

/** Finds the deliveries of the messages of a list. Above 6 MB of errors and attempts, older ones come without. */
export async function findListedDeliveries(
  db: Db,
  messageIds: readonly string[],
): Promise<DeliveryRow[]> {
  const rows = await selectBriefs(db, { ids: idList(db, messageIds) });
  const ids = idsWithHistory(rows);
  const found = ids.length > 0 ? await selectHistories(db, { ids: idList(db, ids) }) : [];
  const histories = new Map(found.map(({ id, ...history }) => [id, history]));
  return rows.map(({ bytes: _, ...row }) => ({ ...row, ...(histories.get(row.id) ?? noHistory) }));
}

const selectLeavable = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('deliveries')
    .select(['id', 'organization_id', 'unsubscribe_group_id', 'email'])
    .where(isOneOf(db, 'message_id', parameter('ids')))
    .where('unsubscribe_group_id', 'is not', null),
);

/** Finds deliveries of these messages that name an unsubscribe group. */
export function findLeavable(
  db: Db,
  messageIds: readonly string[],
): Promise<Pick<DeliveryRow, 'id' | 'organization_id' | 'unsubscribe_group_id' | 'email'>[]> {
  return selectLeavable(db, { ids: idList(db, messageIds) });
}

const selectStatuses = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('deliveries')
    .select(['id', 'message_id', 'status'])
    .where(isOneOf(db, 'message_id', parameter('ids'))),
);

/** Locks rows until the transaction ends; must run before their messages are locked. */
export const lockDeliveries = lockerOf<DeliveryTables>('deliveries');

/** Locks all deliveries of these messages in the same way. */
export const lockDeliveriesOf = lockerOf<DeliveryTables>('deliveries', { by: 'message_id' });

/** Reads the statuses of all deliveries of these messages. */
export function findDeliveryStatuses(
  db: Db,
  messageIds: readonly string[],
): Promise<Pick<DeliveryRow, 'id' | 'message_id' | 'status'>[]> {
  return selectStatuses(db, { ids: idList(db, messageIds) });
}

/** Columns that the end of an attempt changes. */
export type DeliveryChange = Pick<
  DeliveryRow,
  | 'status'
  | 'due_at'
  | 'wait_reason'
  | 'sent_at'
  | 'delivered_at'
  | 'read_at'
  | 'failed_at'
  | 'terminal_at'
  | 'error_code'
  | 'error_message'
  | 'error_details'
  | 'attempts'
  | 'transaction_id'
  | 'updated_at'
>;

type SettleValues = DeliveryChange & { id: string; worker: string };

const settle = change((db: Kysely<DeliveryTables>, parameter: ParameterOf<SettleValues>) =>
  db
    .updateTable('deliveries')
    .set({
      claimed_by: null,
      status: parameter('status'),
      due_at: parameter('due_at'),
      wait_reason: parameter('wait_reason'),
      sent_at: parameter('sent_at'),
      delivered_at: parameter('delivered_at'),
      read_at: parameter('read_at'),
      failed_at: parameter('failed_at'),
      terminal_at: parameter('terminal_at'),
      error_code: parameter('error_code'),
      error_message: parameter('error_message'),
      error_details: parameter('error_details'),
      attempts: parameter('attempts'),
      transaction_id: parameter('transaction_id'),
      updated_at: parameter('updated_at'),
    })
    .where('id', '=', parameter('id'))
    .where('claimed_by', '=', parameter('worker')),
);

/** Writes the end of an attempt. Returns false if the worker has lost the claim. */
export async function settleDelivery(
  db: Db,
  id: string,
  worker: string,
  values: DeliveryChange,
): Promise<boolean> {
  return (await settle(db, { ...values, id, worker })) > 0;
}

/** Relay mode: marks mail sent before `sentBefore` without a bounce as delivered. */
export async function confirmSent(
  db: Db,
  sentBefore: number,
  now: number,
  limit: number,
): Promise<DeliveryRow[]> {
  const q = tables<DeliveryTables>(db);
  const quiet = await q
    .selectFrom('deliveries')
    .select('id')
    .where('status', '=', 'sent')
    .where('sent_at', '<=', sentBefore)
    .orderBy('sent_at')
    .limit(limit)
    // Skips rows that another daemon confirms or a report changes now.
    .$if(engineOf(db) === 'postgres', (rows) => rows.forUpdate().skipLocked())
    .execute();
  if (quiet.length === 0) return [];
  const ids = quiet.map(({ id }) => id);
  return q
    .updateTable('deliveries')
    .set({ status: 'delivered', delivered_at: now, terminal_at: now, updated_at: now })
    .where(isOneOf(db, 'id', idList(db, ids)))
    .returningAll()
    .execute();
}

const selectOldestSent = statement((db: Kysely<DeliveryTables>) =>
  db
    .selectFrom('deliveries')
    .select('sent_at')
    // Inlined: with a bound value SQLite plans anew at each run, to know whether its index fits.
    .where('status', '=', sql.lit<MessageStatus>('sent'))
    .orderBy('sent_at')
    .limit(1),
);

/** Returns the time of the oldest unconfirmed `sent`, or null. */
export async function oldestSentAt(db: Db): Promise<number | null> {
  return (await selectOldestSent(db, {}))[0]?.sent_at ?? null;
}

/** Returns the time when the latest delivery was accepted, or null. Reads one index entry. */
export async function newestCreatedAt(db: Db): Promise<number | null> {
  const row = await tables<DeliveryTables>(db)
    .selectFrom('deliveries')
    .select('created_at')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.created_at ?? null;
}

export function findDelivery(db: Db, id: string): Promise<DeliveryRow | undefined> {
  return tables<DeliveryTables>(db)
    .selectFrom('deliveries')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
}

const setRead = change(
  (db: Kysely<DeliveryTables>, parameter: ParameterOf<{ id: string; now: number }>) =>
    db
      .updateTable('deliveries')
      .set({
        status: 'read' as const,
        read_at: parameter('now'),
        delivered_at: sql<number>`coalesce(delivered_at, ${parameter('now')})`,
        terminal_at: sql<number>`coalesce(terminal_at, ${parameter('now')})`,
        updated_at: parameter('now'),
      })
      .where('id', '=', parameter('id')),
);

/** Marks a delivery as read by a person. Hot. The caller holds the row and found it sent or delivered. */
export async function readDelivery(db: Db, id: string, now: number): Promise<void> {
  await setRead(db, { id, now });
}

/** Columns that a late outcome (a bounce by mail, a complaint, a success notification) changes. */
export type LateChange = Partial<
  Pick<
    DeliveryRow,
    'delivered_at' | 'failed_at' | 'terminal_at' | 'error_code' | 'error_message' | 'error_details'
  >
> & { status: MessageStatus; updated_at: number };

/** Changes a delivery if its status is one of `from`. Returns it as it is then. */
export async function moveDelivery(
  db: Db,
  id: string,
  from: readonly MessageStatus[],
  change: LateChange,
): Promise<DeliveryRow | undefined> {
  return tables<DeliveryTables>(db)
    .updateTable('deliveries')
    .set(change)
    .where('id', '=', id)
    .where('status', 'in', from)
    .returningAll()
    .executeTakeFirst();
}
