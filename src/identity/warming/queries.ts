// All SQL on `warming_plans`, `warming_batches`, `warming_decisions` and `warming_changes`. Reads
// and writes rows, decides nothing.
import { type SqlBool, sql } from 'kysely';
import { type Db, isOneOf, tables } from '../../platform/store/db.ts';
import { ownTables } from '../../platform/store/own-tables.ts';
import type { BatchState, DecisionKind, PlanStatus, StartWarming } from './schema.ts';

export interface PlanRow {
  id: string;
  organization_id: string;
  domain_id: string;
  /** Name of the domain. */
  domain: string;
  status: PlanStatus;
  identity: StartWarming['identity'];
  initial_daily_recipients: number;
  daily_growth_percent: number;
  target_daily_recipients: number;
  direct: NonNullable<StartWarming['direct']>;
  /** First attempts in the open window of a plan that defers; 0 for plans that do not defer. */
  taken_recipients: number;
  /**
   * Results before this time do not count as evidence, ms since 1970; 0 until a held plan is
   * resumed.
   */
  evidence_since: number;
  hold_reason: string | null;
  held_at: number | null;
  paused_at: number | null;
  completed_at: number | null;
  created_at: number;
  updated_at: number;
}

/** A window of a plan. */
export interface BatchRow {
  id: string;
  plan_id: string;
  domain_id: string;
  sequence: number;
  state: BatchState;
  starts_at: number;
  ends_at: number;
  allowance_recipients: number;
  reserved_recipients: number;
  accepted_recipients: number;
  cancelled_at: number | null;
  created_at: number;
}

export interface DecisionRow {
  id: string;
  plan_id: string;
  kind: DecisionKind;
  batch_id: string | null;
  actor: string;
  note: string | null;
  created_at: number;
}

interface WarmingTables {
  warming_plans: PlanRow;
  warming_batches: BatchRow;
  warming_decisions: DecisionRow;
  warming_changes: { counter: number };
}

const own = ownTables<WarmingTables>();

const on = tables<WarmingTables>;

/** Condition in the exact words of the index `warming_plans_live`, as the engines require. */
const isLive = sql<SqlBool>`status in ('active', 'paused', 'held')`;

/** Inserts a plan. Returns false if the domain has a plan that is active, paused or held. */
export async function insertPlan(db: Db, row: PlanRow): Promise<boolean> {
  const inserted = await on(db)
    .insertInto('warming_plans')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'domain_id']).where(isLive).doNothing(),
    )
    .returning('id')
    .execute();
  return inserted.length > 0;
}

/** Finds the live plan of a domain, or the newest ended plan. */
export function findPlanOf(db: Db, domainId: string): Promise<PlanRow | undefined> {
  return on(db)
    .selectFrom('warming_plans')
    .selectAll()
    .where('domain_id', '=', domainId)
    .orderBy(({ eb }) => eb.case().when(isLive).then(0).else(1).end())
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

const lockPlans = own.lockerOf('warming_plans');

/** Locks the plan until the transaction ends, and returns it. */
export async function lockPlan(trx: Db, id: string): Promise<PlanRow | undefined> {
  await lockPlans(trx, [id]);
  return on(trx).selectFrom('warming_plans').selectAll().where('id', '=', id).executeTakeFirst();
}

type PlanChanges = Partial<Omit<PlanRow, 'id'>>;

export function updatePlan(trx: Db, id: string, changes: PlanChanges): Promise<PlanRow> {
  return on(trx)
    .updateTable('warming_plans')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Returns the ids of an organization's domains with a live plan: active, paused or held. */
export const selectWarmedDomains = own.all(
  (db, organizationId: string) =>
    db
      .selectFrom('warming_plans')
      .select('domain_id')
      .where('organization_id', '=', organizationId)
      .where(isLive),
  (rows) => rows.map(({ domain_id }) => domain_id),
);

/** Condition in the exact words of the index `warming_plans_deferring`. */
const defers = sql<SqlBool>`direct = 'defer'`;

/** Lists the live plans that defer direct sends, of all organizations. */
export const selectDeferringPlans = own.all((db) =>
  db
    .selectFrom('warming_plans')
    .select(['id', 'organization_id', 'domain'])
    .where(defers)
    .where(isLive),
);

/**
 * Returns the recipients that the open windows of these plans still allow, by plan id: 0 without an
 * open window. Ended plans and plans that do not defer are absent.
 */
export const selectPlaces = own.all(
  (db, planIds: readonly string[]) =>
    db
      .selectFrom('warming_plans')
      .leftJoin('warming_batches', (join) =>
        join
          .onRef('warming_batches.plan_id', '=', 'warming_plans.id')
          .on('warming_batches.state', '=', sql.lit('open')),
      )
      .select(['warming_plans.id', 'taken_recipients', 'allowance_recipients'])
      .where('warming_plans.id', ...isOneOf(db, planIds))
      .where(defers)
      .where(isLive),
  (rows) =>
    new Map(
      rows.map(({ id, taken_recipients, allowance_recipients }) => [
        id,
        Math.max(0, (allowance_recipients ?? 0) - taken_recipients),
      ]),
    ),
);

/** Returns the free places like `selectPlaces`. They cannot change until the transaction ends. */
export async function lockPlaces(
  trx: Db,
  planIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  await lockPlans(trx, planIds);
  return selectPlaces(trx, planIds);
}

/** Adds first attempts to the count of a locked plan. */
export const takePlaces = own.run((db, planId: string, count: number) =>
  db
    .updateTable('warming_plans')
    .set((eb) => ({ taken_recipients: eb('taken_recipients', '+', count) }))
    .where('id', '=', planId),
);

export async function insertBatch(trx: Db, row: BatchRow): Promise<void> {
  await on(trx).insertInto('warming_batches').values(row).execute();
}

type BatchChanges = Partial<Pick<BatchRow, 'state' | 'starts_at' | 'ends_at' | 'cancelled_at'>>;

export async function updateBatch(trx: Db, id: string, changes: BatchChanges): Promise<void> {
  await on(trx).updateTable('warming_batches').set(changes).where('id', '=', id).execute();
}

/** Returns the last windows of a plan, the newest last. */
export async function selectBatches(db: Db, planId: string, limit: number): Promise<BatchRow[]> {
  const newest = await on(db)
    .selectFrom('warming_batches')
    .selectAll()
    .where('plan_id', '=', planId)
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute();
  return newest.reverse();
}

/** Returns the next end of an open window; null without an open window. Ms since 1970. */
export async function nextWindowEnd(db: Db): Promise<number | null> {
  const row = await on(db)
    .selectFrom('warming_batches')
    .select((eb) => eb.fn.min('ends_at').as('at'))
    .where('state', '=', sql.lit('open'))
    .executeTakeFirst();
  return row?.at ?? null;
}

/**
 * Finds plans with an open window that has ended by `endedBy`, in the order of ids after `after`.
 * Also finds windows that end after `endsAfter`, which happens only if the clock was set back.
 */
export async function selectDuePlans(
  db: Db,
  { endedBy, endsAfter, after }: { endedBy: number; endsAfter: number; after: string },
  limit: number,
): Promise<string[]> {
  const rows = await on(db)
    .selectFrom('warming_batches')
    .select('plan_id')
    .where('state', '=', sql.lit('open'))
    .where((eb) => eb.or([eb('ends_at', '<=', endedBy), eb('ends_at', '>', endsAfter)]))
    .where('plan_id', '>', after)
    .orderBy('plan_id')
    .limit(limit)
    .execute();
  return rows.map(({ plan_id }) => plan_id);
}

/** Recipients to count in the open window of a domain. */
type InWindow = { domainId: string } & { count: number };

const addToOpen = own.change((db, row: InWindow) =>
  db
    .updateTable('warming_batches')
    .set((eb) => ({ accepted_recipients: eb('accepted_recipients', '+', row.count) }))
    .where('domain_id', '=', row.domainId)
    .where('state', '=', sql.lit('open')),
);

/**
 * Counts recipients in the open windows of domains. Hot. Runs twice if no window was open: on
 * PostgreSQL the first statement may have waited for a transaction that closed a window and opened
 * the next, which it does not see.
 */
export const accepted = own.counterBy(
  'warming_windows',
  ['domainId'],
  ['count'],
  async (trx, row: InWindow) => (await addToOpen(trx, row)) || addToOpen(trx, row),
);

const reserveInOpen = own.change((db, row: InWindow) =>
  db
    .updateTable('warming_batches')
    .set((eb) => ({
      reserved_recipients: eb('reserved_recipients', '+', row.count),
      accepted_recipients: eb('accepted_recipients', '+', row.count),
    }))
    .where('domain_id', '=', row.domainId)
    .where('state', '=', sql.lit('open')),
);

/**
 * Counts recipients of runs in the open windows of domains. The caller has locked the plans, so
 * these windows stay open and a single statement for each is enough.
 */
export const reserved = own.counterBy(
  'warming_windows_of_runs',
  ['domainId'],
  ['count'],
  reserveInOpen,
);

export async function insertDecisions(trx: Db, rows: readonly DecisionRow[]): Promise<void> {
  await on(trx).insertInto('warming_decisions').values(rows).execute();
}

/** Returns the last decisions on a plan, the newest last. */
export async function selectDecisions(
  db: Db,
  planId: string,
  limit: number,
): Promise<DecisionRow[]> {
  const newest = await on(db)
    .selectFrom('warming_decisions')
    .selectAll()
    .where('plan_id', '=', planId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return newest.reverse();
}

/** Counter that grows when a plan begins or ends, or when a plan that defers opens a window. */
export const warmingChanges = own.changeCounter('warming_changes');
