// Tables of the service: clock, scheduled jobs, root keys and findings.
import type { EngineWords } from '../migration.ts';

export const service = ({ clustered }: EngineWords) => `
-- What each check found last.
create table service_findings (
  name text primary key,
  status text not null,
  found text not null,
  changed_at bigint not null
) ${clustered};

-- Scheduled jobs: their next ticks, their holders, and their last runs.
create table scheduled_jobs (
  name text primary key,
  next_at bigint not null,
  -- The daemon that runs the job, until this time unless it extends its lease.
  holder text, until bigint,
  -- Begin of the last run that ended, and its error.
  last_run_at bigint, last_error text,
  -- Milliseconds between two ticks. A next tick that is further away was set by a wrong clock. Null
  -- for a job of an earlier version.
  period_ms bigint
) ${clustered};

-- Ids of the root keys, and the times of their use. The keys lie outside the store.
create table root_keys (
  id text primary key,
  added_at bigint not null,
  -- Null until the daemons know the key. Tokens from this time on use it.
  used_from bigint,
  -- Null for the key in force.
  replaced_at bigint,
  -- Time at which every encrypted row had this key. Null during a rotation.
  rows_done_at bigint
) ${clustered};

-- The last heartbeat of the daemons by the clock, and the last jump of the clock.
create table clock_state (
  beat_at bigint not null,
  -- Milliseconds in which wall and steady time have agreed since that jump.
  agreed_ms bigint not null,
  jumped_at bigint, jump_ms bigint,
  -- Earliest time after a jump back: rows from then on may be younger than their times say.
  behind_from bigint
);
insert into clock_state (beat_at, agreed_ms) values (0, 3600000);
`;
