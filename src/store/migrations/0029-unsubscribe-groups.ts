// Kinds of mail that one can leave. A delivery names the group that its message was sent with; the target
// of a mailed link outlives the delivery in `unsubscribe_addresses`.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const unsubscribeGroups: Migration = {
  name: '0029-unsubscribe-groups',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      `create table unsubscribe_groups (
        id text primary key, organization_id text not null references organizations (id),
        name text not null, description text, created_at bigint not null,
        updated_at bigint not null)`,
      'create index unsubscribe_groups_organization on unsubscribe_groups (organization_id, id)',
      'alter table deliveries add column unsubscribe_group_id text',
      // Named, not referenced: the address outlives the group, as its blocks do.
      `create table unsubscribe_addresses (
        delivery_id text primary key, organization_id text not null,
        unsubscribe_group_id text not null, address text not null) ${compact}`,
    ];
  },
};
