// Tables of history: audit log, events, their seals, and erasures.
import type { EngineWords } from '../migration.ts';

export const history = ({ clustered, bytes }: EngineWords) => `
-- The audit log: one row for each change, written in its transaction.
create table audit_entries (
  id text primary key,
  organization_id text not null references organizations,
  -- 'key', 'member', 'operator' or 'service', with name, address and role at the time. Name and
  -- address of an erased member are null.
  actor text not null, key_id text, key_name text, role text,
  member_id text, member_name text, member_email text,
  action text not null,
  -- Named: the resource may be deleted.
  resource_id text,
  -- JSON.
  details text,
  created_at bigint not null
);
create index audit_entries_list on audit_entries (organization_id, created_at, id);
create index audit_entries_action on audit_entries (organization_id, action, created_at, id);
create index audit_entries_resource on audit_entries (organization_id, resource_id, created_at, id);
-- Entries of a member whose name is erased.
create index audit_entries_of_member on audit_entries (organization_id, member_id)
  where member_id is not null;
-- For retention.
create index audit_entries_age on audit_entries (created_at);

-- Timelines of messages, clustered by message.
create table events (
  id text not null,
  organization_id text not null,
  message_id text not null, recipient_id text,
  event_type text not null, status text not null,
  timestamp bigint not null,
  -- JSON.
  metadata text,
  primary key (message_id, id)
) ${clustered};
-- The log of events in order. It leaves out two steps that only timelines show: half of all rows.
create index events_in_order on events (organization_id, id)
  where event_type not in ('queued', 'processing');

-- Events on all resources except messages, in order.
create table resource_events (
  organization_id text not null,
  id text not null,
  event_type text not null,
  -- Id of the resource.
  subject text not null,
  timestamp bigint not null,
  -- JSON: the resource at that time, and further facts about the event.
  data text not null, facts text,
  primary key (organization_id, id)
) ${clustered};
create index resource_events_of_subject on resource_events (organization_id, subject, id);

-- Deleted resources whose copies must still be erased.
create table erasures (
  -- Id of the deleted resource.
  id text primary key,
  organization_id text not null,
  kind text not null,
  -- JSON: the places of its copies.
  about text not null,
  -- Passes so far, and the time of the next one.
  passes integer not null, due_at bigint not null,
  created_at bigint not null
) ${clustered};
create index erasures_due on erasures (due_at);

-- Keys that sign the heads of the sealed log. The newest signs; older ones verify.
create table receipt_keys (
  -- First 16 hex digits of the SHA-256 of the public key.
  id text primary key,
  -- Raw public key in base64, and the private key (PKCS #8), encrypted.
  public_key text not null, private_key text not null,
  created_at bigint not null
) ${clustered};

-- The sealed log of an organization: its size and its signed head.
create table event_trees (
  organization_id text primary key,
  -- Sealed events, and the id of the last one.
  size bigint not null, sealed_to text not null,
  -- Root of the tree in hex, signed at this time by this key.
  root text not null,
  sealed_at bigint not null,
  key_id text not null,
  -- Signature in base64.
  signature text not null
) ${clustered};

-- Hashes of the trees. A row of level 0 has those of 256 events; one above, the roots of 256 rows
-- below.
create table event_tiles (
  organization_id text not null,
  level integer not null, number bigint not null,
  -- The hashes, 32 bytes each.
  hashes ${bytes} not null,
  -- Id of the last event under it.
  last_id text not null,
  -- Least id of the events under a tile of level 0. Ids of several tiles overlap after a clock was
  -- set back.
  first_id text not null default '',
  primary key (organization_id, level, number)
) ${clustered};
-- The tiles that may have an event.
create index event_tiles_by_range on event_tiles (organization_id, last_id, first_id) where level = 0;

-- Events that are not sealed yet, in lists of up to 256.
create table unsealed_events (
  organization_id text not null,
  first_id text not null,
  -- Ids of the events, each after a space but the first.
  ids text not null,
  primary key (organization_id, first_id)
) ${clustered};
`;
