// Reviews of the health of a sending domain beside those of its organization: which domains are held
// and why, and since when their mail counts again (src/usage/domain-holds.ts).
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const domainHolds: Migration = {
  name: '0011-domain-holds',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      // `scope` as in `health_counters`: '' (all), or 'from:…'. Neither engine changes a primary key
      // in place alike, so the table is made anew.
      'alter table health_reviews rename to health_reviews_before',
      `create table health_reviews (
        organization_id text not null, scope text not null, since bigint not null,
        warned_at bigint, held_at bigint, hold_reason text,
        primary key (organization_id, scope)) ${compact}`,
      `insert into health_reviews (organization_id, scope, since, warned_at)
        select organization_id, '', since, warned_at from health_reviews_before`,
      'drop table health_reviews_before',
      // Every claim asks which domains are held.
      'create index health_reviews_held on health_reviews (held_at) where held_at is not null',
    ];
  },
};
