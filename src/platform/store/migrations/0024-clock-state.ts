// The heartbeat of the clock and its last jump, and the periods of scheduled jobs.
import type { Migration } from '../migration.ts';

export const clockState: Migration = {
  name: '0024-clock-state',
  compatibleFrom: '0023-retention-of-organizations',
  sql: () => `
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

-- Milliseconds between two ticks. A next tick that is further away was set by a wrong clock. Null for a job of an
-- earlier version.
alter table scheduled_jobs add column period_ms bigint;
`,
};
