// SQL for the loop that works on runs: due runs, their leases, and the contacts of a failed run.
import { type Db, tables } from '../platform/store/db.ts';
import { ownTables } from '../platform/store/own-tables.ts';
import type { RunRow, RunTables } from './queries.ts';
import { type RunTrouble, runTroubles } from './schema.ts';

const own = ownTables<RunTables>();
const on = tables<RunTables>;

/** A worker that claims a run, and the present in ms since 1970. */
export interface Moment {
  worker: string;
  now: number;
}

export type DueRun = Pick<
  RunRow,
  'id' | 'organization_id' | 'status' | 'worker' | 'leased_until' | 'retry_of' | 'wait_reason'
>;

const dueColumns = [
  ...(['id', 'organization_id', 'status', 'worker', 'leased_until', 'retry_of'] as const),
  'wait_reason',
] as const satisfies readonly (keyof DueRun)[];

/**
 * Returns due runs that no other worker has leased: the longest due run of each organization, then
 * the second run of each, so that an organization with many runs does not delay the rest.
 */
export const selectDueRuns = own.all((db, { worker, now }: Moment, limit: number) =>
  db
    .selectFrom(
      db
        .selectFrom('campaign_runs')
        .select([...dueColumns, 'due_at'])
        .select(({ fn }) =>
          fn
            .agg<number>('row_number')
            .over((over) => over.partitionBy('organization_id').orderBy('due_at').orderBy('id'))
            .as('place'),
        )
        .where('due_at', '<=', now)
        .where((eb) =>
          eb.or([
            eb('worker', 'is', null),
            eb('worker', '=', worker),
            eb('leased_until', '<=', now),
          ]),
        )
        .as('due'),
    )
    .select(dueColumns)
    .orderBy('place')
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit),
);

/**
 * Returns the next time at which a run falls due, or the lease of a due run ends; undefined if no
 * run has such a time.
 */
export async function findNextDueRun(db: Db, now: number): Promise<number | undefined> {
  const dueAt = await on(db)
    .selectFrom('campaign_runs')
    .select(({ fn }) => fn.min('due_at').as('at'))
    .where('due_at', '>', now)
    .executeTakeFirst();
  const leasedUntil = await on(db)
    .selectFrom('campaign_runs')
    .select(({ fn }) => fn.min('leased_until').as('at'))
    .where('due_at', '<=', now)
    .where('leased_until', '>', now)
    .executeTakeFirst();
  const times = [dueAt?.at, leasedUntil?.at].flatMap((at) => at ?? []);
  return times.length > 0 ? Math.min(...times) : undefined;
}

/** Leases a run for a worker until `until`. Returns false if a different worker has the lease. */
export const leaseRun = own.change(
  (db, id: string, { worker, now }: Moment, until: number) =>
    db
      .updateTable('campaign_runs')
      .set({ worker, leased_until: until })
      .where('id', '=', id)
      .where((eb) =>
        eb.or([eb('worker', 'is', null), eb('worker', '=', worker), eb('leased_until', '<=', now)]),
      ),
  (count) => count > 0,
);

/** Renews the lease of a run that this worker holds. */
export const renewRun = own.run((db, id: string, worker: string, until: number) =>
  db
    .updateTable('campaign_runs')
    .set({ leased_until: until })
    .where('id', '=', id)
    .where('worker', '=', worker),
);

/** Ends the leases of a worker, or all leases if `worker` is null. */
export async function endLeases(db: Db, worker: string | null): Promise<void> {
  await on(db)
    .updateTable('campaign_runs')
    .set({ worker: null, leased_until: null })
    .where('due_at', 'is not', null)
    .where('worker', 'is not', null)
    .$if(worker !== null, (q) => q.where('worker', '=', worker))
    .execute();
}

/** Ends leases dated after `latest`, because a clock ran ahead. */
export const bringRunLeasesToPresent = own.toPresent('campaign_runs', 'leased_until');

/**
 * Makes runs due now that are dated after `latest`, because a clock ran ahead. Scheduled runs keep
 * their time.
 */
export const bringRunsToPresent = own.change((db, now: number, latest: number) =>
  db
    .updateTable('campaign_runs')
    .set({ due_at: now })
    .where('due_at', '>', latest)
    .where('status', '!=', 'scheduled'),
);

/**
 * Puts off a run until `dueAt` because of a trouble, unless the status has changed or the run is
 * due later. The run continues then.
 */
export const putOffRun = own.run(
  (
    db,
    { id, status }: Pick<RunRow, 'id' | 'status'>,
    dueAt: number,
    wait_reason: RunTrouble | null,
  ) =>
    db
      .updateTable('campaign_runs')
      .set({ due_at: dueAt, wait_reason, next_dispatch_at: null })
      .where('id', '=', id)
      .where('status', '=', status)
      .where('due_at', '<', dueAt),
);

/** Returns contacts of a ledger that were not skipped, from after `after` to `until`, by id. */
export const selectNotSkipped = own.all(
  (db, runId: string, { after, until, limit }: { after: string; until: string; limit: number }) =>
    db
      .selectFrom('campaign_recipients')
      .select(['contact_id', 'outcome', 'message_id'])
      .where('run_id', '=', runId)
      .where('contact_id', '>', after)
      .where('contact_id', '<=', until)
      .where('outcome', 'in', ['dispatched', 'failed'])
      .orderBy('contact_id')
      .limit(limit),
);

/** Returns the reason of the first failed contact of a run; null if no contact failed. */
export const findFailure = own.first(
  (db, runId: string) =>
    db
      .selectFrom('campaign_recipients')
      .select('reason')
      .where('run_id', '=', runId)
      .where('outcome', '=', 'failed')
      .orderBy('contact_id')
      .limit(1),
  (row) => row?.reason ?? null,
);

/** Returns the ids of all other runs of a campaign. */
export const findOtherRuns = own.all(
  (db, run: Pick<RunRow, 'id' | 'organization_id' | 'campaign_id'>) =>
    db
      .selectFrom('campaign_runs')
      .select('id')
      .where('organization_id', '=', run.organization_id)
      .where('campaign_id', '=', run.campaign_id)
      .where('id', '!=', run.id)
      .orderBy('id'),
  (rows) => rows.map(({ id }) => id),
);

/** Returns the ids of the further runs that repeat the same original run. */
export const findOtherRetries = own.all(
  (db, run: Pick<RunRow, 'id' | 'organization_id' | 'campaign_id' | 'retry_of'>) =>
    db
      .selectFrom('campaign_runs')
      .select('id')
      .where('organization_id', '=', run.organization_id)
      .where('campaign_id', '=', run.campaign_id)
      .where('retry_of', '=', run.retry_of)
      .where('id', '!=', run.id)
      .orderBy('id'),
  (rows) => rows.map(({ id }) => id),
);

/**
 * Pauses runs that would continue automatically in a restored store: a copy of a server must not
 * send a newsletter again.
 */
export const pauseOfRestored = {
  table: 'campaign_runs',
  sql: `update campaign_runs set status = 'paused', hold_reason = 'restored', hold_domain_id = null,
    hold_detail = null, wait_reason = null, next_dispatch_at = null, due_at = null, worker = null,
    leased_until = null
    where status in ('scheduled', 'running') or (status = 'held' and due_at is not null)`,
};

/**
 * Counts running runs that wait for no limit, but made no message and no progress since `before`.
 */
export const countStalledRuns = own.first(
  (db, before: number) =>
    db
      .selectFrom('campaign_runs')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('due_at', 'is not', null)
      .where('status', '=', 'running')
      .where((eb) =>
        eb.or([eb('wait_reason', 'is', null), eb('wait_reason', 'in', [...runTroubles])]),
      )
      .where('updated_at', '<', before)
      .where((eb) => eb.or([eb('dispatched_at', 'is', null), eb('dispatched_at', '<', before)])),
  (row) => row?.count ?? 0,
);

/** Returns runs that wait or are held, for a rehearsal. */
export function selectWaitingRuns(
  db: Db,
): Promise<Pick<RunRow, 'status' | 'wait_reason' | 'hold_reason' | 'next_dispatch_at'>[]> {
  return on(db)
    .selectFrom('campaign_runs')
    .select(['status', 'wait_reason', 'hold_reason', 'next_dispatch_at'])
    .where((eb) =>
      eb.or([
        eb('status', '=', 'held'),
        eb.and([eb('status', '=', 'running'), eb('wait_reason', 'is not', null)]),
      ]),
    )
    .execute();
}
