// Tables of the inbox: actions of keys in mailboxes, threads, drafts, and the full-text index.
import type { EngineWords } from '../migration.ts';

export const inbox = (words: EngineWords) => `
-- Actions of keys in mailboxes, with proposals.
-- A proposal is an action that waits for approval.
create table mailbox_actions (
  id text primary key,
  organization_id text not null references organizations,
  mailbox_id text not null references mailboxes on delete cascade,
  type text not null, state text not null,
  actor_kind text not null, actor_id text not null, actor_name text,
  -- Whether the key belongs to a person.
  by_person smallint not null,
  message_id text, thread_id text,
  -- JSON: the displayed fields.
  summary text not null,
  created_at bigint not null,
  -- JSON: author of the decision.
  decided_at bigint, decided_by text, note text,
  expires_at bigint,
  -- JSON: the error that ended it.
  failure text,
  -- SHA-256 of the proposed MIME, and of the MIME that the approver edited.
  digest text, edited_digest text,
  -- Stored bytes of an open proposal.
  proposal_bytes bigint not null default 0
) ${words.clustered};
create index mailbox_actions_listed on mailbox_actions (organization_id, mailbox_id, id);
create index mailbox_actions_by_state on mailbox_actions (mailbox_id, state, id);
create index mailbox_actions_by_type on mailbox_actions (mailbox_id, type, id);
create index mailbox_actions_by_actor on mailbox_actions (mailbox_id, actor_id, id);
create index mailbox_actions_decided on mailbox_actions (mailbox_id, decided_at)
  where decided_at is not null;
create index mailbox_actions_open on mailbox_actions (expires_at) where state = 'proposed';
-- An erasure finds the actions of a message, and the other actions of a thread.
create index mailbox_actions_of_message on mailbox_actions (message_id)
  where message_id is not null;
create index mailbox_actions_of_thread on mailbox_actions (thread_id)
  where thread_id is not null and message_id is null;
-- For retention.
create index mailbox_actions_age on mailbox_actions (created_at);
create index mailbox_actions_of_all on mailbox_actions (organization_id, id);
create index mailbox_actions_of_all_by_state on mailbox_actions (organization_id, state, id);
create index mailbox_actions_of_all_by_type on mailbox_actions (organization_id, type, id);
create index mailbox_actions_of_all_by_actor on mailbox_actions (organization_id, actor_id, id);

-- Mail of open proposals, deleted with the decision.
create table mailbox_proposals (
  action_id text primary key references mailbox_actions on delete cascade,
  -- JSON.
  content text not null
);

-- Bytes of open proposals: MIME, then files.
create table mailbox_proposal_parts (
  action_id text not null references mailbox_proposals on delete cascade,
  -- 0 for the MIME.
  part integer not null,
  data ${words.bytes} not null,
  primary key (action_id, part)
);

-- Actions and events of a mailbox, counted by hour.
create table mailbox_hours (
  mailbox_id text not null references mailboxes on delete cascade,
  -- -1 for all time.
  hour bigint not null,
  -- 'action' or 'event', its type, and the state of an action.
  kind text not null, name text not null, state text not null,
  count bigint not null,
  primary key (mailbox_id, hour, kind, name, state)
) ${words.clustered};

-- Threads: messages of a mailbox that belong together, and their state.
-- The moves between folders are in docs/making/states.md.
create table threads (
  id text primary key,
  organization_id text not null references organizations,
  mailbox_id text not null references mailboxes,
  folder text not null,
  is_read integer not null, is_starred integer not null,
  last_activity_at bigint not null,
  snoozed_until bigint,
  priority text not null,
  message_count integer not null,
  -- Messages with attachments.
  attachment_count integer not null,
  -- From is that of the latest received mail, or else of the latest mail, as the preview always is.
  from_address text, from_name text, subject text, preview text,
  created_at bigint not null, updated_at bigint not null
) ${words.clustered};
-- A list without folder, read or starred state merges the ranges of all values.
create index threads_listed on threads
  (mailbox_id, folder, is_read, is_starred, last_activity_at, id);
create index threads_snoozed on threads (mailbox_id, last_activity_at, id)
  where snoozed_until is not null;
create index threads_to_wake on threads (snoozed_until) where snoozed_until is not null;

-- Messages of threads.
create table thread_messages (
  message_id text primary key references messages on delete cascade,
  thread_id text not null references threads on delete cascade,
  at bigint not null,
  -- 'person', 'auto-reply', 'list' or 'bounce' for received mail; 'sent'.
  kind text not null,
  has_attachments integer not null,
  -- The mailbox event of this message.
  event_id text
) ${words.clustered};
create index thread_messages_in_order on thread_messages (thread_id, at, message_id);

-- Keys by which mail finds its thread.
-- They are the Message-IDs named in it, stored or not, and the subject with the participants.
create table thread_references (
  mailbox_id text not null, message_id_hash text not null,
  thread_id text not null references threads on delete cascade,
  -- The subject is valid for a limited time after this.
  at bigint not null,
  -- First received message that bears the id of the key as its own; null for none, and for an id of
  -- ours.
  bearer_id text,
  primary key (mailbox_id, message_id_hash)
) ${words.clustered};
create index thread_references_of_thread on thread_references (thread_id);

-- Labels of threads, and threads by label.
create table thread_labels (
  thread_id text not null references threads on delete cascade,
  folded text not null, label text not null,
  mailbox_id text not null,
  -- Copied from the thread, so that one index holds a label in order.
  last_activity_at bigint not null,
  primary key (thread_id, folded)
) ${words.clustered};
create index thread_labels_listed on thread_labels
  (mailbox_id, folded, last_activity_at, thread_id);

-- Notes of people and agents on threads.
create table thread_notes (
  id text primary key,
  organization_id text not null references organizations,
  thread_id text not null references threads on delete cascade,
  author_kind text not null, author_id text, author_name text,
  body text not null, color text, pinned integer not null,
  created_at bigint not null, updated_at bigint not null,
  editor_kind text, editor_id text, editor_name text
);
create index thread_notes_in_order on thread_notes (thread_id, id);

-- Drafts of mail from a mailbox.
create table drafts (
  id text primary key,
  organization_id text not null references organizations,
  mailbox_id text not null references mailboxes,
  thread_id text references threads on delete cascade, in_reply_to_message_id text,
  state text not null,
  author_kind text not null, author_id text, author_name text,
  editor_kind text, editor_id text, editor_name text,
  -- Bytes of texts and files.
  byte_count bigint not null,
  created_at bigint not null, updated_at bigint not null,
  -- JSON: to, cc and bcc.
  recipients text not null,
  -- Large columns come last: SQLite reads a long row only as far as it must, and lists need none.
  subject text, text text, html text
);
create index drafts_of_mailbox on drafts (mailbox_id, id, byte_count);
create index drafts_of_thread on drafts (thread_id);
create index drafts_by_organization on drafts (organization_id);

-- Files of drafts.
create table draft_files (
  draft_id text not null references drafts on delete cascade,
  -- Number of the file, from 1.
  n integer not null,
  filename text not null, content_type text, content_id text,
  size bigint not null,
  -- Base64, as the API takes it. Unclustered: SQLite reads whole rows of a clustered table to
  -- compare keys.
  content text not null,
  primary key (draft_id, n)
);

-- Answers that people write once and choose again.
create table saved_replies (
  id text primary key,
  organization_id text not null references organizations,
  name text not null,
  created_at bigint not null, updated_at bigint not null,
  text text not null, html text
);
create index saved_replies_organization on saved_replies (organization_id, id);

-- Drafts that an undo makes of delayed mails. They are kept for an hour.
create table delayed_drafts (
  message_id text primary key references messages on delete cascade,
  mailbox_id text not null,
  -- The action whose approval sent the mail.
  action_id text,
  created_at bigint not null, byte_count bigint not null,
  -- JSON: the draft as it was sent, or the mail, without the bytes of files.
  draft text not null
);
create index delayed_drafts_of_mailbox on delayed_drafts (mailbox_id, created_at, byte_count);
create index delayed_drafts_by_age on delayed_drafts (created_at);
${words.engine === 'postgres' ? searchOfPostgres : searchOfSqlite}

-- Sent mail that is not yet in the full-text index.
create table thread_search_waiting (
  message_id text primary key references messages on delete cascade,
  mailbox_id text not null
) ${words.clustered};

-- Threads of a Message-ID that strangers share. Foreign mails without a common participant bear the
-- id. It joins only mail with a participant of the thread.
create table shared_references (
  mailbox_id text not null, message_id_hash text not null,
  thread_id text not null references threads on delete cascade,
  primary key (mailbox_id, message_id_hash, thread_id)
) ${words.clustered};
create index shared_references_of_thread on shared_references (thread_id);
`;

const searchOfPostgres = `
-- Full-text index of threads: one document for each message.
create table thread_search (
  message_id text primary key references messages on delete cascade,
  words tsvector not null
);
-- Without statistics on frequent words, no plan prefers to scan the table.
alter table thread_search alter column words set statistics 0;
create index thread_search_words on thread_search using gin (words)
  with (gin_pending_list_limit = 1024);
`;

/** Our tokenizer has split the words, so FTS5 only separates them at spaces. */
const searchOfSqlite = `
-- Full-text index of threads: one document for each message.
create table thread_search (
  id integer primary key,
  message_id text not null unique references messages on delete cascade
);
create virtual table thread_search_words using fts5 (words, content = '',
  contentless_delete = 1, tokenize = "ascii tokenchars '@#<+._-'");
create trigger thread_search_gone after delete on thread_search begin
  delete from thread_search_words where rowid = old.id; end;
`;
