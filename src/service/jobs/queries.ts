// All SQL on `scheduled_jobs`.
import { ownTables } from '../../platform/store/own-tables.ts';

export interface ScheduledJobRow {
  name: string;
  /** Time of the next tick. */
  next_at: number;
  /** Milliseconds between two ticks; null for a job of an earlier version. */
  period_ms: number | null;
  holder: string | null;
  until: number | null;
  last_run_at: number | null;
  last_error: string | null;
}

interface JobTables {
  scheduled_jobs: ScheduledJobRow;
}

const own = ownTables<JobTables>();

/** Returns all jobs by name, including jobs of other versions. */
export const selectJobs = own.all((db) =>
  db.selectFrom('scheduled_jobs').selectAll().orderBy('name'),
);

/** Inserts a job with the time of the first tick, or updates the period of a known job. */
export const addJob = own.run((db, job: { name: string; nextAt: number; periodMs: number }) =>
  db
    .insertInto('scheduled_jobs')
    .values({
      name: job.name,
      next_at: job.nextAt,
      period_ms: job.periodMs,
      holder: null,
      until: null,
      last_run_at: null,
      last_error: null,
    })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ period_ms: job.periodMs })),
);

/** Ends all leases. */
export const freeJobs = own.run((db) =>
  db
    .updateTable('scheduled_jobs')
    .set({ holder: null, until: null })
    .where('holder', 'is not', null),
);

export const deleteJob = own.run((db, name: string) =>
  db.deleteFrom('scheduled_jobs').where('name', '=', name),
);

/** Ends leases dated after `latest`, because a clock ran ahead. */
export const bringJobLeasesToPresent = own.toPresent('scheduled_jobs', 'until');

export interface JobClaim {
  name: string;
  holder: string;
  now: number;
  /** Leases that end at this time or earlier count as ended. */
  endedTo: number;
  /** End of the new lease. */
  until: number;
}

/**
 * Claims the next tick of a job if it is due, or if it is more than a period ahead, which only a
 * wrong clock causes. Returns 0 if it is neither, or if a daemon has claimed it.
 */
export const claimJob = own.change((db, { name, holder, now, endedTo, until }: JobClaim) =>
  db
    .updateTable('scheduled_jobs')
    .set({ holder, until })
    .where('name', '=', name)
    .where((is) =>
      is.or([is('next_at', '<=', now), is(is('next_at', '-', is.ref('period_ms')), '>', now)]),
    )
    .where((is) => is.or([is('until', 'is', null), is('until', '<=', endedTo)])),
);

/** Extends a lease. Returns 0 if another daemon has taken the job. */
export const extendJob = own.change(
  (db, { name, holder, until }: Pick<JobClaim, 'name' | 'holder' | 'until'>) =>
    db
      .updateTable('scheduled_jobs')
      .set({ until })
      .where('name', '=', name)
      .where('holder', '=', holder),
);

export interface JobEnd {
  name: string;
  holder: string;
  ranAt: number;
  nextAt: number;
  error: string | null;
}

/** Records the end of a run, unless another daemon has taken the job. */
export const endJob = own.run((db, { name, holder, ranAt, nextAt, error }: JobEnd) =>
  db
    .updateTable('scheduled_jobs')
    .set({ holder: null, until: null, next_at: nextAt, last_run_at: ranAt, last_error: error })
    .where('name', '=', name)
    .where('holder', '=', holder),
);

/** Releases a claimed tick without a run, so that it stays due. */
export const giveBackJob = own.run((db, { name, holder }: Pick<JobClaim, 'name' | 'holder'>) =>
  db
    .updateTable('scheduled_jobs')
    .set({ holder: null, until: null })
    .where('name', '=', name)
    .where('holder', '=', holder),
);
