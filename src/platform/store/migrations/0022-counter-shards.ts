// Several rows for each counter that every accept changes, so that daemons do not wait for each
// other. No older version goes on beside it, as it would find no row to add to.
import type { Migration } from '../migration.ts';

const metrics = [
  ...['accepted', 'emails', 'attempted', 'sent', 'delivered', 'bounced', 'failed', 'complained'],
  ...['opened', 'clicked', 'open_eligible', 'click_eligible', 'inbound'],
];

export const counterShards: Migration = {
  name: '0022-counter-shards',
  sql: ({ clustered }) => `
alter table daily_usage rename to daily_usage_before;
-- Sends of an organization by day, in shards.
create table daily_usage (
  organization_id text not null,
  day bigint not null,
  -- 0 for an organization with a quota, whose transactions wait for each other.
  shard integer not null,
  emails bigint not null, messages bigint not null,
  primary key (organization_id, day, shard)
) ${clustered};
insert into daily_usage (organization_id, day, shard, emails, messages)
  select organization_id, day, 0, emails, messages from daily_usage_before;
drop table daily_usage_before;

alter table counters rename to counters_before;
-- Mail of an organization by the hour of its acceptance, in shards.
create table counters (
  organization_id text not null, bucket_start bigint not null, shard integer not null,
  ${metrics.map((metric) => `${metric} bigint not null default 0`).join(', ')},
  primary key (organization_id, bucket_start, shard)
) ${clustered};
insert into counters (organization_id, bucket_start, shard, ${metrics.join(', ')})
  select organization_id, bucket_start, 0, ${metrics.join(', ')} from counters_before;
drop table counters_before;

alter table domain_counters rename to domain_counters_before;
-- Mail of an organization by recipient domain and day of acceptance.
create table domain_counters (
  organization_id text not null, bucket_start bigint not null,
  -- '*' for all domains beyond the bound.
  domain text not null,
  shard integer not null,
  ${metrics.map((metric) => `${metric} bigint not null default 0`).join(', ')},
  primary key (organization_id, bucket_start, domain, shard)
) ${clustered};
insert into domain_counters (organization_id, bucket_start, domain, shard, ${metrics.join(', ')})
  select organization_id, bucket_start, domain, 0, ${metrics.join(', ')} from domain_counters_before;
drop table domain_counters_before;
`,
};
