// Scheduled jobs: each of their ticks is run by one daemon.
import type { Migration } from '../migration.ts';

export const scheduledJobs: Migration = {
  name: '0015-scheduled-jobs',
  sql: ({ clustered }) => `
-- Scheduled jobs: their next ticks, their holders, and their last runs.
create table scheduled_jobs (
  name text primary key,
  next_at bigint not null,
  -- The daemon that runs the job, until this time unless it extends its lease.
  holder text, until bigint,
  -- Begin of the last run that ended, and its error.
  last_run_at bigint, last_error text
) ${clustered};
`,
};
