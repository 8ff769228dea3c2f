// Tables of messages: content, recipients, counts and search, and the parsed content of received
// mail.
import type { EngineWords } from '../migration.ts';

export const messages = ({ clustered, bytes, bytewise }: EngineWords) => `
-- Attachments and raw received mail.
create table blobs (
  id text primary key,
  organization_id text not null references organizations,
  size bigint not null, data ${bytes} not null,
  created_at bigint not null,
  -- The object that follows data, or null.
  object_key text
);
create index blobs_object on blobs (object_key) where object_key is not null;

-- HTML and text, shared by equal messages.
create table contents (
  id text primary key,
  organization_id text not null references organizations,
  html text, text text,
  -- JSON: names and types of the files, with the ids of their blobs.
  attachments text,
  -- Messages with this content. The last one deletes it.
  uses bigint not null,
  created_at bigint not null
);

-- Messages, sent and received.
create table messages (
  id text primary key,
  organization_id text not null references organizations,
  direction text not null, status text not null,
  subject text, from_email text not null, from_name text, reply_to text,
  message_id_header text not null, in_reply_to text, message_references text,
  priority text, headers text,
  -- Named: with a foreign key, each deletion of a content or blob would scan the messages.
  -- The blob is the mail in its original bytes: received, or submitted as MIME.
  content_id text, raw_blob_id text,
  mailbox_id text references mailboxes,
  sender_domain_id text, conversation_id text, campaign_run_id text, template_id text,
  -- JSON.
  tags text, metadata text,
  track_opens integer not null, track_clicks integer not null,
  scheduled_for bigint,
  -- JSON: SMTP envelope and verdicts of received mail.
  inbound_envelope text,
  is_test integer not null,
  delivery_count integer not null,
  created_at bigint not null, updated_at bigint not null,
  -- Key that scheduled the message, checked again at its time; null for the operator. Named.
  scheduling_key_id text,
  -- JSON: the API, command or SMTP session that accepted it; null for received mail.
  origin text
) ${clustered};
-- Every list of messages: a list without direction or status merges the ranges of all values.
create index messages_listed on messages (organization_id, direction, status, created_at, id);
create index messages_of_conversation on messages
  (organization_id, conversation_id, created_at, id) where conversation_id is not null;
-- The erasure of a mailbox walks its messages.
create index messages_of_mailbox on messages (mailbox_id, id) where mailbox_id is not null;

-- Recipients of a message: to, cc and bcc.
create table recipients (
  id text not null,
  message_id text not null references messages on delete cascade,
  kind text not null, email text not null, name text,
  contact_id text,
  position integer not null,
  primary key (message_id, position)
) ${clustered};
create index recipients_of_contact on recipients (contact_id) where contact_id is not null;

-- Idempotency keys of requests, with their responses.
create table idempotency_claims (
  organization_id text not null, claim_key text not null,
  -- SHA-256 of the request.
  fingerprint text not null,
  -- The message or other resource that the request made; empty without one.
  message_id text not null,
  response text not null,
  created_at bigint not null,
  -- The request in progress that holds the key, and the end of its lease; null once it is answered.
  holder text,
  lease_until bigint,
  -- 1 once a transaction of this request is committed; null before.
  took_effect bigint,
  primary key (organization_id, claim_key)
) ${clustered};
-- The deletion of a message or contact empties the stored response.
create index idempotency_claims_of_message on idempotency_claims (message_id);
-- Keys expire.
create index idempotency_claims_by_age on idempotency_claims (created_at);
-- Leases that a clock set too far ahead are brought to the present.
create index idempotency_claims_leased on idempotency_claims (lease_until)
  where lease_until is not null;

-- Messages, counted by status and the day of acceptance.
create table message_counts (
  organization_id text not null, direction text not null, status text not null,
  day bigint not null, shard integer not null,
  count bigint not null,
  primary key (organization_id, direction, status, day, shard)
) ${clustered};

-- Messages, counted by ten seconds of acceptance.
create table message_slots (
  organization_id text not null, direction text not null,
  -- First millisecond of the ten seconds.
  slot bigint not null,
  count bigint not null,
  primary key (organization_id, direction, slot)
) ${clustered};

-- Parsed content of received mail, and its queue.
create table email_projections (
  message_id text primary key references messages on delete cascade,
  -- Time of the next try, or end of the lease; null once parsed.
  due_at bigint,
  tries integer not null,
  parsed_at bigint,
  is_auto_reply integer, auto_reply_reason text,
  list_id text, list_unsubscribe_url text, list_unsubscribe_email text,
  preview text, has_quoted_content integer,
  -- JSON.
  parsing_errors text, list_headers text, attachments text,
  -- Large columns come last: SQLite reads a long row only as far as it must.
  new_content text, quoted_content text, text text, html text
);
create index email_projections_due on email_projections (due_at) where due_at is not null;

-- Search index of messages. A message has a row for each recipient, its sender, its subject and
-- each tag. They are inserted after the commit, so that a send pays nothing for them.
create table message_search (
  organization_id text not null,
  -- 'to', 'from', 'subject', 'tag', 'metadata', 'run' or 'template'.
  kind text not null,
  value text ${bytewise} not null,
  created_at bigint not null,
  message_id text not null,
  primary key (organization_id, kind, value, created_at, message_id)
) ${clustered};

-- Progress of the search index.
-- A message is settled once no transaction can still commit an earlier one.
create table search_marks (newest text not null, settled text not null);
insert into search_marks (newest, settled) values ('', '');

-- Contents that are filled when each message is composed.
create table merged_contents (
  content_id text primary key references contents on delete cascade,
  -- JSON: the compiled template, and the values that all its messages share.
  compiled text not null
);

-- Values of one message of such a content.
create table message_values (
  message_id text primary key references messages on delete cascade,
  -- JSON, at most 8 KB.
  merge_data text not null
) ${clustered};

-- Large content outside the database, shared by equal blobs of an organization.
create table blob_objects (
  -- ORGANIZATION/DIGEST: SHA-256 of the content in hexadecimal digits.
  key text primary key,
  -- filesystem or s3.
  driver text not null,
  -- writing, stored or removing.
  state text not null,
  size bigint not null,
  -- Key of its encryption, encrypted with the root key. Null for an object that is not encrypted.
  sealed_key text,
  -- Time since which it may be without a blob. Null while a blob refers to it.
  unused_at bigint
) ${clustered};
create index blob_objects_unused on blob_objects (unused_at) where unused_at is not null;

-- Further Message-IDs of our messages, given by relays.
-- A relay names the id in its 250. Answers name the left half before any domain.
create table further_message_ids (
  left_half text not null,
  message_id text not null references messages on delete cascade,
  primary key (left_half, message_id)
) ${clustered};
create index further_message_ids_of_message on further_message_ids (message_id);
`;
