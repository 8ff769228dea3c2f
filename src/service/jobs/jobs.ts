// The scheduled jobs of the store, as operators see them.

import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import { selectJobs } from './queries.ts';

export interface JobStatus {
  name: string;
  nextAt: string;
  lastRunAt: string | null;
  /** Whether a daemon runs the job now. */
  isRunning: boolean;
  /** Error of the last run that ended. */
  lastError: string | null;
}

/** Lists the scheduled jobs by name. Empty before the first start of a daemon. */
export async function listJobs(db: Db, now: number): Promise<JobStatus[]> {
  const rows = await selectJobs(db);
  return rows.map(({ name, next_at, until, last_run_at, last_error }) => ({
    name,
    nextAt: isoTime(next_at),
    lastRunAt: isoTime(last_run_at),
    isRunning: until !== null && until > now,
    lastError: last_error,
  }));
}
