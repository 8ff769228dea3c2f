// Tables of people: blocks, contacts, unsubscribe groups and conversations.
import type { EngineWords } from '../migration.ts';

export const people = ({ engine, clustered, bytewise }: EngineWords) => `
-- Addresses that get no mail, one row for each reason.
create table blocks (
  id text primary key,
  organization_id text not null references organizations,
  -- As given, and in lower case for comparison.
  address text not null, folded_address text not null,
  reason text not null,
  -- Null: blocks all mail. Named: the block outlives its group.
  unsubscribe_group_id text,
  -- Named: the block outlives its message.
  message_id text,
  created_at bigint not null
) ${clustered};
-- Two partial indexes: a unique index over a nullable group would admit duplicates. Most sends read
-- only the first. An address may have several reasons: an unsubscribe outlives a lifted bounce.
create unique index blocks_of_all_mail on blocks (organization_id, folded_address, reason)
  where unsubscribe_group_id is null;
create unique index blocks_of_groups
  on blocks (organization_id, folded_address, unsubscribe_group_id)
  where unsubscribe_group_id is not null;
create index blocks_by_reason on blocks (organization_id, reason, id);

-- Blocks of an organization, counted by reason.
create table block_counts (
  organization_id text not null, reason text not null, count bigint not null,
  primary key (organization_id, reason)
) ${clustered};

-- Contacts: people, and facts about them.
create table contacts (
  id text primary key,
  organization_id text not null references organizations,
  name text, display_name text, avatar text, external_id text,
  is_archived integer not null,
  -- JSON. contact_tags finds contacts by tag; the tags here keep the order of the caller.
  profile text, preferences text, tags text, metadata text,
  created_at bigint not null, updated_at bigint not null
) ${clustered};
create index contacts_of_organization on contacts (organization_id, created_at, id);
create unique index contacts_external_id on contacts (organization_id, external_id)
  where external_id is not null;
create index contacts_changed on contacts (organization_id, updated_at, id);
create index contacts_archived on contacts (organization_id, id) where is_archived = 1;
-- Audiences are read in the order of ids.
create index contacts_by_id on contacts (organization_id, id);
-- Contacts that want no mail, in the words of src/people/contacts/fate-queries.ts.
create index contacts_without_mail on contacts (organization_id, id)
  where preferences like '%"email":false%';

-- Addresses of contacts. An address belongs to one contact of an organization.
create table contact_identities (
  organization_id text not null, folded_identifier text not null,
  id text not null,
  contact_id text not null references contacts on delete cascade,
  -- Blocks of the address at position 0 define the status of the contact.
  position integer not null,
  identifier text not null,
  verified_at bigint,
  primary key (organization_id, folded_identifier)
) ${clustered};
create index contact_identities_contact on contact_identities (contact_id, position);
${engine === 'postgres' ? firstAddress : ''}

-- Contacts by tag.
-- It has no index by contact, because plans would prefer that to the order of a page by tag.
create table contact_tags (
  organization_id text not null, tag text not null, contact_id text not null,
  primary key (organization_id, tag, contact_id)
) ${clustered};

-- Contacts of an organization, counted by tag.
create table contact_counts (
  organization_id text not null,
  -- '' for all contacts.
  tag text not null,
  count bigint not null,
  primary key (organization_id, tag)
) ${clustered};

-- Contacts by the words of their names.
create table contact_words (
  organization_id text not null,
  word text ${bytewise} not null,
  contact_id text not null,
  primary key (organization_id, word, contact_id)
) ${clustered};

-- Groups of contacts.
create table contact_groups (
  id text primary key,
  organization_id text not null references organizations,
  name text not null, description text,
  member_count bigint not null,
  created_at bigint not null, updated_at bigint not null,
  -- Groups by query: JSON of the conditions; null for a group with members by hand.
  query text
) ${clustered};
create index contact_groups_of_organization on contact_groups (organization_id, id);

-- Members of groups.
create table contact_group_members (
  group_id text not null references contact_groups on delete cascade,
  contact_id text not null references contacts on delete cascade,
  primary key (group_id, contact_id)
) ${clustered};
create index contact_group_members_contact on contact_group_members (contact_id);

-- Kinds of mail that a recipient can leave.
create table unsubscribe_groups (
  id text primary key,
  organization_id text not null references organizations,
  name text not null, description text,
  created_at bigint not null, updated_at bigint not null,
  -- Whether the unsubscribe page lists the group for every recipient of the organization.
  is_public integer not null default 0,
  -- Whether contacts must confirm the group.
  confirm integer not null default 0
);
create index unsubscribe_groups_organization on unsubscribe_groups (organization_id, id);
create index unsubscribe_groups_public on unsubscribe_groups (organization_id, name, id)
  where is_public = 1;

-- Recipients of deleted deliveries.
-- Their unsubscribe links still work.
create table unsubscribe_addresses (
  delivery_id text primary key,
  organization_id text not null,
  -- Named: the address outlives the group, as its blocks do.
  unsubscribe_group_id text not null,
  address text not null
) ${clustered};

-- Subjects with their messages and state.
create table conversations (
  id text primary key,
  organization_id text not null references organizations,
  status text not null, status_reason text,
  title text, external_id text, description text,
  -- Named: the parent may be deleted.
  parent_conversation_id text,
  priority integer not null, urgency text not null, complexity text,
  -- JSON. conversation_tags finds conversations by tag; the tags here keep the order of the caller.
  tags text, categories text, metadata text, context text,
  is_internal integer not null, is_private integer not null, is_test integer not null,
  -- The count and the times of activity change with each message.
  message_count bigint not null,
  started_at bigint, last_activity_at bigint, last_human_activity_at bigint,
  resolved_at bigint, resolution_type text, resolution_notes text,
  archived_at bigint,
  created_at bigint not null, updated_at bigint not null
) ${clustered};
create index conversations_of_organization on conversations (organization_id, created_at, id);
create index conversations_by_status
  on conversations (organization_id, status, created_at, id);
-- Many conversations have no external id: nulls are distinct.
create unique index conversations_external_id
  on conversations (organization_id, external_id);

-- Conversations by tag.
create table conversation_tags (
  organization_id text not null, tag text not null, conversation_id text not null,
  primary key (organization_id, tag, conversation_id)
) ${clustered};

-- Participants of conversations.
create table conversation_contacts (
  conversation_id text not null references conversations on delete cascade,
  contact_id text not null references contacts on delete cascade,
  primary key (conversation_id, contact_id)
) ${clustered};
create index conversation_contacts_contact
  on conversation_contacts (contact_id, conversation_id);

-- Conversations of an organization, counted by status.
create table conversation_counts (
  organization_id text not null, status text not null, count bigint not null,
  primary key (organization_id, status)
) ${clustered};

-- Contacts that were asked to confirm a group.
create table group_confirmations (
  group_id text not null references unsubscribe_groups on delete cascade,
  contact_id text not null references contacts on delete cascade,
  organization_id text not null,
  -- pending, confirmed or removed; a removed row keeps the number of its mails.
  status text not null,
  -- Mails with the link: their number, the last one and the end of its link.
  mails integer not null, mailed_at bigint, expires_at bigint,
  -- Time of the next mail that is due; null for none.
  due_at bigint,
  confirmed_at bigint,
  created_at bigint not null,
  -- The key that asked for the mail that is due; null for the operator, and for a person on a page.
  key_id text,
  -- Reason why the mail that is due waits: rate or daily-quota; null for none.
  wait_reason text,
  -- JSON of the texts of the next mail; null for none.
  texts text,
  primary key (group_id, contact_id)
) ${clustered};
create index group_confirmations_of_contact on group_confirmations (contact_id);
create index group_confirmations_of_group on group_confirmations (group_id, status, contact_id);
create index group_confirmations_due on group_confirmations (organization_id, due_at)
  where due_at is not null;

-- Refusals of addresses behind a recipient.
-- One row for each delivery; deleted after 30 days.
create table member_refusals (
  organization_id text not null references organizations,
  -- The recipient, not the refused address: that one belongs to a person we do not write to.
  folded_address text not null,
  delivery_id text not null,
  refused_at bigint not null,
  primary key (organization_id, folded_address, delivery_id)
) ${clustered};
create index member_refusals_by_time on member_refusals (refused_at);
`;

/** Index for PostgreSQL alone: on SQLite the primary key already compares bytes. */
const firstAddress = `
-- Contacts by the beginning of their first address.
create index contact_identities_first on contact_identities
  (organization_id, folded_identifier collate "C") where position = 0;
`;
