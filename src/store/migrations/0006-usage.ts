// Counters (src/usage): mail by hour and by recipient domain, data for the health of an organization, and the
// progress of its reviews.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

const metrics = [
  'accepted',
  'emails',
  'attempted',
  'sent',
  'delivered',
  'bounced',
  'failed',
  'complained',
  'opened',
  'clicked',
  'open_eligible',
  'click_eligible',
  'inbound',
]
  .map((name) => `${name} bigint not null default 0`)
  .join(', ');

export const usage: Migration = {
  name: '0006-usage',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      // `bucket_start` is the hour (UTC) in which the mail was accepted, whenever its outcome came.
      `create table counters (
        organization_id text not null, bucket_start bigint not null, ${metrics},
        primary key (organization_id, bucket_start)) ${compact}`,
      // The same by recipient domain and day (UTC); domains beyond the bound share the row '*'.
      `create table domain_counters (
        organization_id text not null, bucket_start bigint not null, domain text not null, ${metrics},
        primary key (organization_id, bucket_start, domain)) ${compact}`,
      // By the hour in which the outcome came. `scope` is '' (all), 'sender:…' or 'from:…'.
      `create table health_counters (
        organization_id text not null, scope text not null, bucket_start bigint not null,
        attempted bigint not null, hard_bounced bigint not null, complained bigint not null,
        primary key (organization_id, scope, bucket_start)) ${compact}`,
      'create index health_counters_age on health_counters (bucket_start)',
      // The window begins at `since` at the earliest: a resume forgives what was before.
      `create table health_reviews (
        organization_id text primary key, since bigint not null, warned_at bigint) ${compact}`,
      // Every claim reads the paused organizations.
      'create index organizations_sending on organizations (sending_status)',
    ];
  },
};
