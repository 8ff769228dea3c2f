// Webhook endpoints, their queued deliveries, and their attempts.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const webhooks: Migration = {
  name: '0019-webhooks',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      // `failing_since`: the first failure after the last success. Deliveries made before
      // `cancel_before` are cancelled as they are met: the endpoint was disabled then.
      `create table webhook_endpoints (
        id text primary key, organization_id text not null references organizations (id),
        name text, url text not null, events text not null, channels text not null, headers text,
        status text not null, disabled_reason text, secret text not null, previous_secret text,
        previous_until bigint, failing_since bigint, cancel_before bigint,
        created_at bigint not null, updated_at bigint not null)`,
      'create index webhook_endpoints_organization on webhook_endpoints (organization_id, id)',

      'create table webhook_changes (counter bigint not null)',
      'insert into webhook_changes (counter) values (0)',

      // `due_at`: of the next attempt, of the end of the lease while `claimed_by` is set; null: ended.
      `create table webhook_deliveries (
        id text primary key, organization_id text not null, endpoint_id text not null,
        event_id text not null, event_type text not null, message_id text, status text not null,
        attempt_count integer not null, due_at bigint, claimed_by text, is_replay integer not null,
        last_attempt_at bigint, created_at bigint not null, updated_at bigint not null) ${compact}`,
      `create index webhook_deliveries_due on webhook_deliveries
        (endpoint_id, is_replay, due_at, id) where due_at is not null`,
      'create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, id)',
      'create index webhook_deliveries_created on webhook_deliveries (created_at)',
      `create index webhook_deliveries_message on webhook_deliveries (message_id)
        where message_id is not null`,
      `create index webhook_deliveries_claimed on webhook_deliveries (claimed_by)
        where claimed_by is not null`,

      // "trigger" is a word of SQL.
      `create table webhook_attempts (
        id text primary key, delivery_id text not null, "trigger" text not null, at bigint not null,
        duration_ms integer not null, outcome text not null, status_code integer, error_class text,
        response text) ${compact}`,
      'create index webhook_attempts_delivery on webhook_attempts (delivery_id, id)',
      'create index webhook_attempts_at on webhook_attempts (at)',

      `create table webhook_bodies (
        event_id text primary key, organization_id text not null, message_id text,
        body text not null, created_at bigint not null)`,
      `create index webhook_bodies_message on webhook_bodies (message_id)
        where message_id is not null`,
      'create index webhook_bodies_created on webhook_bodies (created_at)',

      `create table webhook_counters (
        endpoint_id text not null, quarter bigint not null, pending integer not null,
        delivered integer not null, exhausted integer not null, cancelled integer not null,
        primary key (endpoint_id, quarter)) ${compact}`,
    ];
  },
};
