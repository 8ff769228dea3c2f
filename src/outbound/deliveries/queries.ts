// All SQL on `deliveries`. The row is the queue entry:
//
// | state   | turn | due_at       | claimed_by | lane | waits for                                |
// |---------|------|--------------|------------|------|------------------------------------------|
// | ready   | set  | past         | null       | null | a claim, in the order of turns           |
// | waiting | null | due time     | null       | null | the due time (retry, schedule)           |
// | in lane | null | an estimate  | null       | set  | room in the lane, at the latest due_at   |
// | claimed | null | lease's end  | worker     | null | the end of the attempt                   |
// | ended   | null | null         | null       | null | nothing                                  |
import { type NotNull, sql } from 'kysely';
import { invitationMails } from '../../access/members/queries.ts';
import { serviceOrganizationId } from '../../platform/runtime/ids.ts';
import { type Db, engineOf, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import { columnsOf } from '../../platform/store/rows/bulk-insert.ts';
import type { MessageStatus, WaitReason } from './status.ts';

export class DeliveryRow {
  id!: string;
  message_id!: string;
  recipient_id!: string;
  organization_id!: string;
  /** Domain of the From address. Sending domains share the turns of their organization. */
  sender_domain!: string;
  email!: string;
  domain!: string;
  /** Lane in which the delivery waits; null outside of a lane. */
  lane!: string | null;
  /**
   * Place among ready deliveries (src/outbound/queue/claiming/delivery-turns.ts); null unless
   * ready.
   */
  turn!: number | null;
  status!: MessageStatus;
  attempt_count!: number;
  max_attempts!: number;
  due_at!: number | null;
  claimed_by!: string | null;
  wait_reason!: WaitReason | null;
  queued_at!: number | null;
  claimed_at!: number | null;
  last_attempt_at!: number | null;
  sent_at!: number | null;
  delivered_at!: number | null;
  read_at!: number | null;
  failed_at!: number | null;
  terminal_at!: number | null;
  expires_at!: number;
  error_code!: string | null;
  error_message!: string | null;
  error_details!: string | null;
  attempts!: string | null;
  /** Time of the planned retry that an early attempt precedes (settling/retry.ts). */
  planned_at!: number | null;
  /** Attempts before the planned time: by hand, or because the server could be reached again. */
  early_attempts!: number;
  /**
   * Name of the SMTP transaction of the last attempt
   * (src/outbound/queue/attempting/return-path.ts); null if it is the id of this delivery.
   */
  transaction_id!: string | null;
  /**
   * Unsubscribe group of the mail (src/outbound/unsubscribe-links). With a group, each recipient
   * gets a separate copy.
   */
  unsubscribe_group_id!: string | null;
  /** The campaign run that made the message; null for mail without a run. */
  campaign_run_id!: string | null;
  created_at!: number;
  updated_at!: number;
}

export interface DeliveryTables {
  deliveries: DeliveryRow;
}

const own = ownTables<DeliveryTables>();

export const deliveryIdsEnding = own.idsEnding('deliveries');

export const insertDeliveries = own.bulkInsert('deliveries', DeliveryRow);

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
  'campaign_run_id',
  'created_at',
] as const satisfies readonly (keyof DeliveryRow)[];

/** Columns that opens and clicks need. Reading all columns would double the cost. */
export type EngagedDelivery = Pick<DeliveryRow, (typeof engagedColumns)[number]>;

/** Finds deliveries by id, in no particular order. Hot. */
export const findEngagedDeliveries = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('deliveries')
    .select(engagedColumns)
    .where('id', ...isOneOf(db, ids)),
);

export const findDeliveries = own.all((db, messageIds: readonly string[]) =>
  db
    .selectFrom('deliveries')
    .selectAll()
    .where('message_id', ...isOneOf(db, messageIds))
    .orderBy('id'),
);

const historyColumns = ['error_message', 'error_details', 'attempts'] as const;
type History = Pick<DeliveryRow, (typeof historyColumns)[number]>;

const isHistory = (column: keyof DeliveryRow) => historyColumns.some((one) => one === column);
const briefColumns = columnsOf(DeliveryRow).filter((column) => !isHistory(column));

/** A delivery without errors and attempts; `bytes` is their size. */
type Brief = Omit<DeliveryRow, keyof History> & { bytes: number };

const selectBriefs = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('deliveries')
    .select(briefColumns)
    .select(
      sql<number>`coalesce(octet_length(error_message), 0)
        + coalesce(octet_length(error_details), 0) + coalesce(octet_length(attempts), 0)`.as(
        'bytes',
      ),
    )
    .where('message_id', ...isOneOf(db, ids))
    .orderBy('id')
    .$castTo<Brief>(),
);

const selectHistories = own.all((db, ids: readonly string[]) =>
  db
    .selectFrom('deliveries')
    .select(['id', ...historyColumns])
    .where('id', ...isOneOf(db, ids)),
);

/** Most bytes of errors and attempts in a list: the histories of 100 messages may have 550 MB. */
const mostHistoryBytes = 6_291_456;
const noHistory: History = { error_message: null, error_details: null, attempts: null };

/** Returns the ids of the newest deliveries, as long as their histories fit into a list. */
function idsWithHistory(rows: readonly Brief[]): string[] {
  let left = mostHistoryBytes;
  return rows.toReversed().flatMap(({ id, bytes }) => {
    if (bytes === 0) return [];
    left -= bytes;
    return left < 0 ? [] : [id];
  });
}

/**
 * Finds the deliveries of the messages in a list. Beyond 6 MB of errors and attempts in total,
 * older deliveries come without them.
 */
export async function findListedDeliveries(
  db: Db,
  messageIds: readonly string[],
): Promise<DeliveryRow[]> {
  const rows = await selectBriefs(db, messageIds);
  const ids = idsWithHistory(rows);
  const found = ids.length > 0 ? await selectHistories(db, ids) : [];
  const histories = new Map(found.map(({ id, ...history }) => [id, history]));
  return rows.map(({ bytes: _, ...row }) => ({ ...row, ...(histories.get(row.id) ?? noHistory) }));
}

/** Finds deliveries of these messages that name an unsubscribe group. */
export const findLeavable = own.all((db, messageIds: readonly string[]) =>
  db
    .selectFrom('deliveries')
    .select(['id', 'organization_id', 'unsubscribe_group_id', 'email'])
    .where('message_id', ...isOneOf(db, messageIds))
    .where('unsubscribe_group_id', 'is not', null)
    .$narrowType<{ unsubscribe_group_id: NotNull }>(),
);

/** Reads the statuses of all deliveries of these messages. */
export const findDeliveryStatuses = own.all((db, messageIds: readonly string[]) =>
  db
    .selectFrom('deliveries')
    .select(['id', 'message_id', 'status', 'domain'])
    .where('message_id', ...isOneOf(db, messageIds)),
);

/** Reads the name of the last SMTP transaction of each delivery of a message. */
export const findTransactions = own.all((db, messageId: string) =>
  db.selectFrom('deliveries').select(['id', 'transaction_id']).where('message_id', '=', messageId),
);

/** Locks rows until the transaction ends; must run before their messages are locked. */
export const lockDeliveries = own.lockerOf('deliveries');

/** Locks all deliveries of these messages, like `lockDeliveries`. */
export const lockDeliveriesOf = own.lockerOf('deliveries', { by: 'message_id' });

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
  | 'planned_at'
  | 'early_attempts'
  | 'transaction_id'
  | 'updated_at'
>;

/** Writes the end of an attempt. Returns false if the worker has lost the claim. */
export const settleDelivery = own.change(
  (db, id: string, worker: string, end: DeliveryChange) =>
    db
      .updateTable('deliveries')
      .set({
        claimed_by: null,
        status: end.status,
        due_at: end.due_at,
        wait_reason: end.wait_reason,
        sent_at: end.sent_at,
        delivered_at: end.delivered_at,
        read_at: end.read_at,
        failed_at: end.failed_at,
        terminal_at: end.terminal_at,
        error_code: end.error_code,
        error_message: end.error_message,
        error_details: end.error_details,
        attempts: end.attempts,
        planned_at: end.planned_at,
        early_attempts: end.early_attempts,
        transaction_id: end.transaction_id,
        updated_at: end.updated_at,
      })
      .where('id', '=', id)
      .where('claimed_by', '=', worker),
  (count) => count > 0,
);

/** Replaces the recorded attempts of a delivery. The caller has locked the row. */
export const setAttempts = own.run((db, id: string, attempts: string) =>
  db.updateTable('deliveries').set({ attempts }).where('id', '=', id),
);

/**
 * Marks deliveries that a relay accepted up to `sentBefore` as delivered, as no bounce has come.
 * Returns the changed rows, at most `limit`.
 */
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
    // Skips rows that a second daemon confirms, or that a report changes, at the same moment.
    .$if(engineOf(db) === 'postgres', (rows) => rows.forUpdate().skipLocked())
    .execute();
  if (quiet.length === 0) return [];
  const ids = quiet.map(({ id }) => id);
  return q
    .updateTable('deliveries')
    .set({ status: 'delivered', delivered_at: now, terminal_at: now, updated_at: now })
    .where('id', ...isOneOf(db, ids))
    .returningAll()
    .execute();
}

/** Returns the earliest `sent_at` of the deliveries with the status `sent`, or null. */
export const oldestSentAt = own.first(
  (db) =>
    db
      .selectFrom('deliveries')
      .select('sent_at')
      // The status is part of the SQL text: with a bound value SQLite would plan the statement at
      // each run, to see whether the index fits.
      .where('status', '=', sql.lit<MessageStatus>('sent'))
      .orderBy('sent_at')
      .limit(1),
  (row) => row?.sent_at ?? null,
);

/** Returns the latest `sent_at` of the deliveries with the status `sent`, or null. */
export const lastSentAt = own.first(
  (db) =>
    db
      .selectFrom('deliveries')
      .select('sent_at')
      .where('status', '=', sql.lit<MessageStatus>('sent'))
      .orderBy('sent_at', 'desc')
      .limit(1),
  (row) => row?.sent_at ?? null,
);

export function findDelivery(db: Db, id: string): Promise<DeliveryRow | undefined> {
  return tables<DeliveryTables>(db)
    .selectFrom('deliveries')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
}

/**
 * Marks a delivery as read by a person. Hot. The caller has locked the row, and found it sent or
 * delivered.
 */
export const readDelivery = own.run((db, id: string, now: number) =>
  db
    .updateTable('deliveries')
    .set({
      status: 'read' as const,
      read_at: now,
      delivered_at: sql<number>`coalesce(delivered_at, ${now})`,
      terminal_at: sql<number>`coalesce(terminal_at, ${now})`,
      updated_at: now,
    })
    .where('id', '=', id),
);

/** Columns that a late outcome (a bounce by mail, a complaint, a success notification) changes. */
export type LateChange = Partial<
  Pick<
    DeliveryRow,
    'delivered_at' | 'failed_at' | 'terminal_at' | 'error_code' | 'error_message' | 'error_details'
  >
> & { status: MessageStatus; updated_at: number };

/** Changes a delivery if `from` includes the status. Returns the changed row, or undefined. */
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

/**
 * SQL that deletes mail of the service that has not ended, in a restored or copied store: the links
 * in it are void. Invitations stay in the queue, because their links still work.
 */
export const mailToPersonsOfRestored = {
  table: 'deliveries',
  sql: `delete from deliveries
    where organization_id = '${serviceOrganizationId}' and terminal_at is null
      and message_id not in (${invitationMails})`,
};
