// Actions and proposals of keys in mailboxes, the mail of a proposal, and counts by hour (of all time: hour
// -1). A key defines whether its mail waits for approval.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

const hourMs = 3_600_000;

export const mailboxActions: Migration = {
  name: '0035-mailbox-actions',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    const count = (hour: string) =>
      `insert into mailbox_hours (mailbox_id, hour, kind, name, state, count)
        select subject, ${hour}, 'event', event_type, '', count(*) from resource_events
        where subject in (select id from mailboxes) group by 1, 2, 4`;
    return [
      `alter table api_keys add column send_mode text not null default 'send'`,

      // JSON: what is shown of it; who decided; why it failed.
      `create table mailbox_actions (
        id text primary key, organization_id text not null references organizations,
        mailbox_id text not null references mailboxes on delete cascade,
        type text not null, state text not null,
        actor_kind text not null, actor_id text not null, actor_name text,
        by_person smallint not null, message_id text, thread_id text, summary text not null,
        created_at bigint not null, decided_at bigint, decided_by text, note text,
        expires_at bigint, failure text) ${compact}`,
      'create index mailbox_actions_listed on mailbox_actions (organization_id, mailbox_id, id)',
      'create index mailbox_actions_by_state on mailbox_actions (mailbox_id, state, id)',
      'create index mailbox_actions_by_type on mailbox_actions (mailbox_id, type, id)',
      'create index mailbox_actions_by_actor on mailbox_actions (mailbox_id, actor_id, id)',
      `create index mailbox_actions_decided on mailbox_actions (mailbox_id, decided_at)
        where decided_at is not null`,
      `create index mailbox_actions_open on mailbox_actions (expires_at)
        where state = 'proposed'`,
      `create index mailbox_actions_of_message on mailbox_actions (message_id)
        where message_id is not null`,

      `create table mailbox_proposals (
        action_id text primary key references mailbox_actions on delete cascade,
        content text not null)`,

      `create table mailbox_hours (
        mailbox_id text not null references mailboxes on delete cascade, hour bigint not null,
        kind text not null, name text not null, state text not null, count bigint not null,
        primary key (mailbox_id, hour, kind, name, state)) ${compact}`,
      count(`timestamp - timestamp % ${hourMs}`),
      count('-1'),
    ];
  },
};
