// Blocks (suppressions): the addresses that an organization sends nothing to. Two partial unique
// indexes instead of one over the nullable group: a null equals nothing, and the first of them is all
// that a send looks into.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const blocks: Migration = {
  name: '0002-blocks',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      // The message is named, not referenced: its block outlives it.
      `create table blocks (
        id text primary key, organization_id text not null references organizations,
        address text not null, folded_address text not null, reason text not null,
        unsubscribe_group_id text, message_id text, created_at bigint not null) ${compact}`,
      `create unique index blocks_of_all_mail on blocks (organization_id, folded_address)
        where unsubscribe_group_id is null`,
      `create unique index blocks_of_groups
        on blocks (organization_id, folded_address, unsubscribe_group_id)
        where unsubscribe_group_id is not null`,
      // Pages and counts by reason are answered from the index alone.
      'create index blocks_of_organization on blocks (organization_id, id, reason)',
    ];
  },
};
