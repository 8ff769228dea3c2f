// Contacts (src/contacts): names, addresses, tags, and counts.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const contacts: Migration = {
  name: '0028-contacts',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      // `tags`: as they are shown, in the order in which they came; contact_tags is how they are found.
      `create table contacts (
        id text primary key, organization_id text not null references organizations (id),
        name text, display_name text, avatar text, external_id text, is_archived integer not null,
        profile text, preferences text, tags text, metadata text,
        created_at bigint not null, updated_at bigint not null) ${compact}`,
      'create index contacts_of_organization on contacts (organization_id, created_at, id)',
      `create unique index contacts_external_id on contacts (organization_id, external_id)
        where external_id is not null`,

      // Position 0 is the first email, whose blocks tell the status.
      `create table contact_identities (
        organization_id text not null, folded_identifier text not null, id text not null,
        contact_id text not null references contacts (id) on delete cascade,
        position integer not null, identifier text not null, verified_at bigint,
        primary key (organization_id, folded_identifier)) ${compact}`,
      'create index contact_identities_contact on contact_identities (contact_id, position)',

      // An index by contact would be read for a page by tag, in its order: a contact knows its tags.
      `create table contact_tags (
        organization_id text not null, tag text not null, contact_id text not null,
        primary key (organization_id, tag, contact_id)) ${compact}`,

      // How many contacts there are with a tag; those of '' are all.
      `create table contact_counts (
        organization_id text not null, tag text not null, count bigint not null,
        primary key (organization_id, tag)) ${compact}`,
    ];
  },
};
