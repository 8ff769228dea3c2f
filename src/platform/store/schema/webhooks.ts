// Tables of webhooks: endpoints, deliveries and bodies.
import type { EngineWords } from '../migration.ts';

export const webhooks = ({ clustered }: EngineWords) => `
-- Endpoints to which events are posted.
create table webhook_endpoints (
  id text primary key,
  organization_id text not null references organizations,
  name text, url text not null,
  -- JSON.
  events text not null, channels text not null, headers text,
  status text not null, disabled_reason text,
  -- Signing keys. The previous one stays valid for a time after a rotation.
  secret text not null, previous_secret text, previous_until bigint,
  -- First failure after the last success.
  failing_since bigint,
  -- Older deliveries are cancelled when they come due: the endpoint was disabled at this time.
  cancel_before bigint,
  created_at bigint not null, updated_at bigint not null,
  -- The installation that an endpoint belongs to; null for all other endpoints.
  installation_id text,
  -- JSON, for an endpoint of an installation: the mailboxes whose events it gets, and the
  -- permissions whose resources its bodies show; null for all.
  reach text,
  permissions text
);
create index webhook_endpoints_organization on webhook_endpoints (organization_id, id);
-- Lists of endpoints leave out those of installations.
create index webhook_endpoints_by_hand on webhook_endpoints (organization_id, id)
  where installation_id is null;

-- A counter of changes to endpoints, which every process polls.
create table webhook_changes (counter bigint not null);
insert into webhook_changes (counter) values (0);

-- The queue of posts: one row for each event and endpoint.
create table webhook_deliveries (
  id text primary key,
  organization_id text not null,
  endpoint_id text not null,
  event_id text not null, event_type text not null, message_id text,
  status text not null,
  attempt_count integer not null,
  -- Time of the next attempt, or end of the lease while it is claimed; null once it has ended.
  due_at bigint, claimed_by text,
  is_replay integer not null,
  last_attempt_at bigint,
  created_at bigint not null, updated_at bigint not null
) ${clustered};
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, is_replay, due_at, id)
  where due_at is not null;
-- Lists by status and kind read only the rows that they show; other lists merge these ranges.
create index webhook_deliveries_status on webhook_deliveries (endpoint_id, status, id);
create index webhook_deliveries_kind on webhook_deliveries (endpoint_id, event_type, status, id);
-- For retention.
create index webhook_deliveries_created on webhook_deliveries (created_at);
-- An erasure finds the deliveries of an event by its message, or else by its id.
create index webhook_deliveries_message on webhook_deliveries (message_id)
  where message_id is not null;
create index webhook_deliveries_event on webhook_deliveries (event_id) where message_id is null;
-- A daemon finds its own leases.
create index webhook_deliveries_claimed on webhook_deliveries (claimed_by)
  where claimed_by is not null;

-- Posts and their responses.
create table webhook_attempts (
  id text primary key,
  delivery_id text not null,
  -- Quoted: a word of SQL.
  "trigger" text not null,
  at bigint not null, duration_ms integer not null,
  outcome text not null, status_code integer, error_class text, response text
) ${clustered};
create index webhook_attempts_delivery on webhook_attempts (delivery_id, id);
-- For retention.
create index webhook_attempts_at on webhook_attempts (at);

-- Bodies of posts, one for each event.
create table webhook_bodies (
  event_id text primary key,
  organization_id text not null,
  message_id text,
  body text not null,
  created_at bigint not null
);
-- An erasure finds the bodies of a message.
create index webhook_bodies_message on webhook_bodies (message_id) where message_id is not null;
-- For retention.
create index webhook_bodies_created on webhook_bodies (created_at);

-- Deliveries, counted by quarter hour.
create table webhook_counters (
  endpoint_id text not null,
  quarter bigint not null,
  pending integer not null, delivered integer not null,
  exhausted integer not null, cancelled integer not null,
  primary key (endpoint_id, quarter)
) ${clustered};
-- For retention.
create index webhook_counters_quarter on webhook_counters (quarter);
`;
