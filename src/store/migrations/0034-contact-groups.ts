// Groups of contacts, and search keys of contacts besides their tags: words of their names, the beginning of
// an address, the time of the last change, and whether they are archived.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const contactGroups: Migration = {
  name: '0034-contact-groups',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    // A prefix is a range of values in the order of their bytes, as SQLite has it.
    const bytewise = engine === 'postgres' ? 'collate "C"' : '';
    return [
      'create index contacts_changed on contacts (organization_id, updated_at, id)',
      'create index contacts_archived on contacts (organization_id, id) where is_archived = 1',
      // In the order of bytes SQLite's key is already.
      ...(engine === 'postgres'
        ? [
            `create index contact_identities_first on contact_identities
              (organization_id, folded_identifier collate "C") where position = 0`,
          ]
        : []),

      // A contact knows its words: they follow from its names (src/contacts/words.ts).
      `create table contact_words (
        organization_id text not null, word text ${bytewise} not null, contact_id text not null,
        primary key (organization_id, word, contact_id)) ${compact}`,
      fillWords(engine),

      `create table contact_groups (
        id text primary key, organization_id text not null references organizations (id),
        name text not null, description text, member_count bigint not null,
        created_at bigint not null, updated_at bigint not null) ${compact}`,
      'create index contact_groups_of_organization on contact_groups (organization_id, id)',
      `create table contact_group_members (
        group_id text not null references contact_groups (id) on delete cascade,
        contact_id text not null references contacts (id) on delete cascade,
        primary key (group_id, contact_id)) ${compact}`,
      'create index contact_group_members_contact on contact_group_members (contact_id)',
    ];
  },
};

/** Fills the words of existing contacts by splitting at spaces, which covers nearly all of them. */
function fillWords(engine: StoreKind): string {
  const names = `lower(coalesce(name, '') || ' ' || coalesce(display_name, ''))`;
  if (engine === 'postgres') {
    return `insert into contact_words (organization_id, word, contact_id)
      select distinct organization_id, left(word, 40), id
      from contacts, regexp_split_to_table(${names}, '[^[:alnum:]]+') word where word <> ''`;
  }
  return `insert or ignore into contact_words (organization_id, word, contact_id)
    with recursive parts (organization_id, id, word, rest) as (
      select organization_id, id, '', ${names} || ' ' from contacts
      union all
      select organization_id, id, substr(rest, 1, instr(rest, ' ') - 1),
        substr(rest, instr(rest, ' ') + 1) from parts where rest <> '')
    select organization_id, substr(word, 1, 40), id from parts where word <> ''`;
}
