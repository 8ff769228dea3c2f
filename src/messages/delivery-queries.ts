// All SQL on `deliveries`. The row is the queue entry: `due_at` is when it wants attention next,
// which for a claimed one is the end of its lease, and null once it is ended.
import type { Kysely } from 'kysely';
import {
  bulkInsert,
  type Db,
  engineOf,
  idList,
  isOneOf,
  type ParameterOf,
  statement,
  tables,
} from '../store/db.ts';
import type { WaitReason } from './schema.ts';
import type { MessageStatus } from './status.ts';

export interface DeliveryRow {
  id: string;
  message_id: string;
  recipient_id: string;
  organization_id: string;
  email: string;
  domain: string;
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
  'email',
  'domain',
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
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof DeliveryRow)[];

export const insertDeliveries = bulkInsert<DeliveryTables>('deliveries', deliveryColumns);

type IdList = { ids: unknown };

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

const selectStatuses = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<IdList>) =>
  db
    .selectFrom('deliveries')
    .select(['id', 'message_id', 'status'])
    .where(isOneOf(db, 'message_id', parameter('ids'))),
);

/** The statuses of all deliveries of these messages. */
export function findDeliveryStatuses(
  db: Db,
  messageIds: readonly string[],
): Promise<Pick<DeliveryRow, 'id' | 'message_id' | 'status'>[]> {
  return selectStatuses(db, { ids: idList(db, messageIds) });
}

/** When the next delivery wants attention, or null with an empty queue. A read of one index entry. */
export async function nextDueAt(db: Db): Promise<number | null> {
  return (await selectNextDue(db, {}))[0]?.due_at ?? null;
}

const selectNextDue = statement((db: Kysely<DeliveryTables>) =>
  db
    .selectFrom('deliveries')
    .select('due_at')
    .where('due_at', 'is not', null)
    .orderBy('due_at')
    .limit(1),
);

export interface ClaimRequest {
  worker: string;
  now: number;
  leaseUntil: number;
  limit: number;
}

const claim = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<ClaimRequest>) => {
  const due = db
    .selectFrom('deliveries')
    .select('id')
    .where('due_at', '<=', parameter('now'))
    .orderBy('due_at')
    .limit(parameter('limit'));
  return db
    .updateTable('deliveries')
    .set((set) => ({
      status: 'processing' as const,
      claimed_by: parameter('worker'),
      claimed_at: parameter('now'),
      last_attempt_at: parameter('now'),
      attempt_count: set('attempt_count', '+', 1),
      due_at: parameter('leaseUntil'),
      wait_reason: null,
      updated_at: parameter('now'),
    }))
    .where('id', 'in', engineOf(db) === 'postgres' ? due.forUpdate().skipLocked() : due)
    .returningAll();
});

/**
 * Takes up to `limit` due deliveries for `worker` until `leaseUntil`. A lease that ran out is due
 * again by itself. Other daemons' rows are skipped on PostgreSQL, not waited for.
 */
export function claimDue(db: Db, request: ClaimRequest): Promise<DeliveryRow[]> {
  return claim(db, request);
}

/** Prolongs all leases of a worker that is alive. */
export async function renewLeases(db: Db, worker: string, leaseUntil: number): Promise<void> {
  await tables<DeliveryTables>(db)
    .updateTable('deliveries')
    .set({ due_at: leaseUntil })
    .where('claimed_by', '=', worker)
    .execute();
}

/** Hands claims back, due now: at SIGTERM our own, at start those of a daemon that died. */
export async function releaseClaims(db: Db, worker: string | null, now: number): Promise<number> {
  const released = await tables<DeliveryTables>(db)
    .updateTable('deliveries')
    .set({ claimed_by: null, due_at: now })
    .where('claimed_by', worker === null ? 'is not' : '=', worker)
    .executeTakeFirst();
  return Number(released.numUpdatedRows);
}

/** What an attempt left behind. */
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
  | 'updated_at'
>;

type SettleValues = DeliveryChange & { id: string; worker: string };

const settle = statement((db: Kysely<DeliveryTables>, parameter: ParameterOf<SettleValues>) =>
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
      updated_at: parameter('updated_at'),
    })
    .where('id', '=', parameter('id'))
    .where('claimed_by', '=', parameter('worker'))
    .returning('id'),
);

/** Writes the end of an attempt; false where the claim is no longer this worker's. */
export async function settleDelivery(
  db: Db,
  id: string,
  worker: string,
  change: DeliveryChange,
): Promise<boolean> {
  return (await settle(db, { ...change, id, worker })).length > 0;
}

/** Relay mode: what was sent before `sentBefore` and has not bounced counts as delivered. */
export function confirmSent(
  db: Db,
  sentBefore: number,
  now: number,
  limit: number,
): Promise<DeliveryRow[]> {
  const q = tables<DeliveryTables>(db);
  const quiet = q
    .selectFrom('deliveries')
    .select('id')
    .where('status', '=', 'sent')
    .where('sent_at', '<=', sentBefore)
    .orderBy('sent_at')
    .limit(limit);
  return q
    .updateTable('deliveries')
    .set({ status: 'delivered', delivered_at: now, terminal_at: now, updated_at: now })
    .where('id', 'in', quiet)
    .returningAll()
    .execute();
}

/** When the oldest unconfirmed `sent` was sent, or null. */
export async function oldestSentAt(db: Db): Promise<number | null> {
  const row = await tables<DeliveryTables>(db)
    .selectFrom('deliveries')
    .select('sent_at')
    .where('status', '=', 'sent')
    .orderBy('sent_at')
    .limit(1)
    .executeTakeFirst();
  return row?.sent_at ?? null;
}
