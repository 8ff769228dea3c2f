// Mail of a mailbox, received and sent, as threads. The folder of a thread:
//
//   folder                | by                                | to
//   ----------------------+-----------------------------------+---------------------------------------
//   (none)                | mail comes in                     | inbox; spam (src/threads/spam.ts)
//   (none)                | mail is sent, a draft is written  | sent, drafts
//   sent, drafts, archive | mail comes in                     | inbox, unread; its snooze ends
//   inbox                 | mail comes in                     | the same, unread; its snooze ends
//   spam, trash           | mail comes in                     | the same, unread
//   drafts                | a draft of it is sent             | sent
//   any but spam, trash   | its snooze ends                   | inbox, unread
//   any                   | moved by hand                     | that one
//   any but trash         | deleted                           | trash
//   trash                 | deleted                           | (none), with its messages
//   any                   | its last message goes, no draft   | (none)
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const threads: Migration = {
  name: '0032-threads',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      // `from` is of the latest mail that came in, or else of the latest; `preview` of the latest.
      `create table threads (
        id text primary key, organization_id text not null references organizations,
        mailbox_id text not null references mailboxes, folder text not null,
        is_read integer not null, is_starred integer not null,
        last_activity_at bigint not null, snoozed_until bigint, priority text not null,
        message_count integer not null, attachment_count integer not null,
        from_address text, from_name text, subject text, preview text,
        created_at bigint not null, updated_at bigint not null) ${compact}`,
      // A page without some of these merges the ranges of all their values.
      `create index threads_listed on threads
        (mailbox_id, folder, is_read, is_starred, last_activity_at, id)`,
      `create index threads_snoozed on threads (mailbox_id, last_activity_at, id)
        where snoozed_until is not null`,
      `create index threads_to_wake on threads (snoozed_until) where snoozed_until is not null`,

      // `kind`: person, auto-reply, list, bounce; sent.
      `create table thread_messages (
        message_id text primary key references messages on delete cascade,
        thread_id text not null references threads on delete cascade,
        at bigint not null, kind text not null, has_attachments integer not null) ${compact}`,
      'create index thread_messages_in_order on thread_messages (thread_id, at, message_id)',

      // Keys by which mail finds its thread: every Message-ID named in it, whether or not that mail is
      // stored, and subject with participants, which are valid for a time after `at`.
      `create table thread_references (
        mailbox_id text not null, message_id_hash text not null,
        thread_id text not null references threads on delete cascade, at bigint not null,
        primary key (mailbox_id, message_id_hash)) ${compact}`,
      'create index thread_references_of_thread on thread_references (thread_id)',

      // `last_activity_at` is the thread's, so that a label is a list in order.
      `create table thread_labels (
        thread_id text not null references threads on delete cascade, folded text not null,
        label text not null, mailbox_id text not null, last_activity_at bigint not null,
        primary key (thread_id, folded)) ${compact}`,
      `create index thread_labels_listed on thread_labels
        (mailbox_id, folded, last_activity_at, thread_id)`,

      `create table thread_notes (
        id text primary key, organization_id text not null references organizations,
        thread_id text not null references threads on delete cascade,
        author_kind text not null, author_id text, author_name text,
        body text not null, color text, pinned integer not null,
        created_at bigint not null, updated_at bigint not null)`,
      'create index thread_notes_in_order on thread_notes (thread_id, id)',

      // `content` is the mail as JSON. A draft without a thread begins one.
      `create table drafts (
        id text primary key, organization_id text not null references organizations,
        mailbox_id text not null references mailboxes,
        thread_id text references threads on delete cascade, in_reply_to_message_id text,
        content text not null, state text not null,
        created_at bigint not null, updated_at bigint not null)`,
      'create index drafts_of_mailbox on drafts (mailbox_id, id)',
      'create index drafts_of_thread on drafts (thread_id)',

      // Earlier mail is queued once more, the oldest first; already parsed mail only for its thread.
      `insert into email_projections (message_id, due_at, tries)
        select id, created_at, 0 from messages
        where direction = 'inbound' and mailbox_id is not null
          and not exists (select 1 from email_projections where message_id = messages.id)`,
      `update email_projections set tries = 0,
          due_at = (select created_at from messages where messages.id = message_id)
        where due_at is null and exists (select 1 from messages
          where messages.id = message_id and direction = 'inbound' and mailbox_id is not null)`,
    ];
  },
};
