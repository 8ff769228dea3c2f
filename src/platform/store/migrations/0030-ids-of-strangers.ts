// Message-IDs that join more or less mail than one thread: the id that a relay gave a message of
// ours, and ids of foreign mail that several senders use.
import type { Migration } from '../migration.ts';

export const idsOfStrangers: Migration = {
  name: '0030-ids-of-strangers',
  compatibleFrom: '0029-texts-of-confirmations',
  sql: ({ clustered }) => `
-- First received message that bears the id of the key as its own; null for none, and for an id of ours.
alter table thread_references add column bearer_id text;

-- Threads of a Message-ID that strangers share.
-- Foreign mails without a common participant bear the id. It joins only mail with a participant of the thread.
create table shared_references (
  mailbox_id text not null, message_id_hash text not null,
  thread_id text not null references threads on delete cascade,
  primary key (mailbox_id, message_id_hash, thread_id)
) ${clustered};
create index shared_references_of_thread on shared_references (thread_id);

-- Further Message-IDs of our messages, given by relays.
-- A relay names the id in its 250. Answers name the left half before any domain.
create table further_message_ids (
  left_half text not null,
  message_id text not null references messages on delete cascade,
  primary key (left_half, message_id)
) ${clustered};
create index further_message_ids_of_message on further_message_ids (message_id);
`,
};
