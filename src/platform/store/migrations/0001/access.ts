// Tables of access: organizations, API keys, and the limits of sending.
import type { EngineWords } from '../../migration.ts';

export const access = ({ clustered }: EngineWords) => `
-- Organizations: name, plan, sending status.
create table organizations (
  id text primary key,
  name text not null unique,
  plan text not null,
  payment_method_on_file integer not null,
  timezone text not null,
  sending_status text not null, paused_at bigint, pause_reason text,
  -- Each new application adds one to the generation.
  onboarding_status text not null, onboarding_generation integer not null,
  created_at bigint not null, updated_at bigint not null,
  -- Defaults of a send that does not say whether to track.
  track_opens integer not null default 0, track_clicks integer not null default 0
) ${clustered};
-- Every claim reads the paused organizations.
create index organizations_sending on organizations (sending_status);

-- A counter of changes to organizations.
-- Every process polls it.
create table organization_changes (counter bigint not null);
insert into organization_changes (counter) values (0);

-- API keys: hashes, permissions and constraints.
create table api_keys (
  id text primary key,
  organization_id text not null references organizations,
  name text, description text,
  hash text not null unique,
  -- First characters of the key, by which people recognize it.
  start text not null,
  role_name text not null,
  -- JSON.
  permissions text,
  owner text not null,
  is_active integer not null,
  expires_at bigint, last_used_at bigint,
  created_at bigint not null,
  -- JSON: allowed networks and senders; null for a key without constraints.
  constraints text,
  -- Id of the first key in a chain of rotations. At most one key of a chain is active.
  lineage text,
  -- Whether its mail is sent or waits for approval.
  send_mode text not null default 'send'
);
create index api_keys_of_organization on api_keys (organization_id, id);
-- A scheduled message finds the active key that replaced its own.
create index api_keys_of_lineage on api_keys (lineage);

-- A counter of changes that remove rights from keys, which every process polls.
create table key_changes (counter bigint not null);
insert into key_changes (counter) values (0);

-- Accepted emails and messages by organization and UTC day.
-- The quota of a month is the sum of at most 31 rows.
create table daily_usage (
  organization_id text not null,
  day bigint not null,
  emails bigint not null, messages bigint not null,
  primary key (organization_id, day)
) ${clustered};

-- Heartbeats of daemons, on PostgreSQL only.
create table daemons (id text primary key, beats bigint not null);

-- Rate limits that several daemons share.
create table rate_buckets (
  -- Id of an organization or of a key.
  id text primary key,
  -- Millionths of a request.
  level bigint not null,
  at bigint not null
) ${clustered};
`;
