// Mailboxes made by users: namespaces, metadata of a mailbox, its allowed and blocked senders, and the
// catch-all mailbox of a domain.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const mailboxes: Migration = {
  name: '0031-mailboxes',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      `create table mailbox_namespaces (
        id text primary key, organization_id text not null references organizations,
        name text not null, created_at bigint not null, updated_at bigint not null,
        unique (organization_id, name)) ${compact}`,
      // The first of each organization has the characters of its id.
      `insert into mailbox_namespaces (id, organization_id, name, created_at, updated_at)
        select 'ns_' || substr(id, 5), id, 'default', created_at, created_at from organizations`,

      'alter table mailboxes add column namespace_id text references mailbox_namespaces',
      `update mailboxes set namespace_id = 'ns_' || substr(organization_id, 5)`,
      'alter table mailboxes add column description text',
      // JSON: texts by key; `{allow, block}`, each a list of addresses and domains.
      `alter table mailboxes add column metadata text not null default '{}'`,
      `alter table mailboxes add column filters text not null default '{"allow":[],"block":[]}'`,
      // Where mail from it comes from; null: its primary address, with its own name.
      'alter table mailboxes add column default_from text',
      'alter table mailboxes add column default_from_name text',
      'alter table mailboxes add column deleted_at bigint',
      `create index mailboxes_listed on mailboxes (organization_id, id)
        where status <> 'deleted'`,
      `create index mailboxes_deleted on mailboxes (deleted_at) where deleted_at is not null`,
      'create index mailbox_addresses_of_mailbox on mailbox_addresses (mailbox_id, id)',

      // One for a name over all organizations, as mail says no more than the name.
      `create table catch_alls (
        domain text primary key,
        domain_id text not null unique references domains on delete cascade,
        mailbox_id text not null references mailboxes on delete cascade,
        created_at bigint not null) ${compact}`,
      'create index catch_alls_of_mailbox on catch_alls (mailbox_id)',
      // The same as the domain tells it: its room stands below that of mailboxes.
      'alter table domains add column catch_all_mailbox_id text',
    ];
  },
};
