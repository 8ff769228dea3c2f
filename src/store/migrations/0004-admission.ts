// Limits of sending (src/admission): accepted mail by day and, for several daemons on one store, their
// heartbeats and shared rate buckets.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const admission: Migration = {
  name: '0004-admission',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      // Counts what changed in organizations, so that every process learns within a second.
      'create table organization_changes (counter bigint not null)',
      'insert into organization_changes (counter) values (0)',

      // `day` is the midnight (UTC) it began with. One row per organization and day of sending: the
      // quota of today, and the usage of a month as the sum of at most 31 rows.
      `create table daily_usage (
        organization_id text not null, day bigint not null, emails bigint not null,
        messages bigint not null, primary key (organization_id, day)) ${compact}`,

      'create table daemons (id text primary key, beats bigint not null)',
      // `id` is that of an organization or of a key; `level` is in millionths of a request.
      `create table rate_buckets (
        id text primary key, level bigint not null, at bigint not null) ${compact}`,
    ];
  },
};
