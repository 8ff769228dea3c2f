// Requests to erase copies of deleted resources (src/erasures), links from a resource to its copies, and
// indexes for references that a deletion follows.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const erasures: Migration = {
  name: '0045-erasures',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    const messageId =
      engine === 'sqlite'
        ? `json_extract(e.data, '$.message.id')`
        : `(e.data::json -> 'message' ->> 'id')`;
    return [
      // `id` of the deleted resource. `about` is JSON: where its copies are. `due_at`: of the next pass.
      `create table erasures (
        id text primary key, organization_id text not null, kind text not null,
        about text not null, passes integer not null, due_at bigint not null,
        created_at bigint not null) ${compact}`,
      'create index erasures_due on erasures (due_at)',

      // The event that told of the message in its thread.
      'alter table thread_messages add column event_id text',
      `update thread_messages set event_id = e.id from resource_events e
        where e.event_type in ('mailbox.message.received', 'mailbox.message.sent')
          and ${messageId} = thread_messages.message_id`,
      // Deliveries of events on messages are found by their message.
      `create index webhook_deliveries_event on webhook_deliveries (event_id)
        where message_id is null`,
      // Actions that sent a message are found by it.
      `create index mailbox_actions_of_thread on mailbox_actions (thread_id)
        where thread_id is not null and message_id is null`,

      'create index audit_entries_age on audit_entries (created_at)',
      'create index mailbox_actions_age on mailbox_actions (created_at)',

      `create index messages_of_mailbox on messages (mailbox_id, id)
        where mailbox_id is not null`,
      'create index mailboxes_of_namespace on mailboxes (namespace_id)',
    ];
  },
};
