// Lists and deletions that do not scan: one index leads to every list of messages, in place of the one by
// id, and one to every list of blocks; what there is of each is counted; and no deletion of a body looks
// through the messages.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const lists: Migration = {
  name: '0015-lists',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      ...withoutReferences(engine),

      'drop index messages_of_organization',
      'create index messages_listed on messages (organization_id, direction, status, created_at, id)',
      'drop index messages_of_conversation',
      `create index messages_of_conversation on messages
        (organization_id, conversation_id, created_at, id) where conversation_id is not null`,

      // `day` is the midnight (UTC) it began with: of the acceptance, whenever the status came.
      `create table message_counts (
        organization_id text not null, direction text not null, status text not null,
        day bigint not null, count bigint not null,
        primary key (organization_id, direction, status, day)) ${compact}`,
      `insert into message_counts (organization_id, direction, status, day, count)
        select organization_id, direction, status, created_at - created_at % 86400000, count(*)
        from messages
        group by organization_id, direction, status, created_at - created_at % 86400000`,
      // `slot` is the first millisecond of ten seconds.
      `create table message_slots (
        organization_id text not null, direction text not null, slot bigint not null,
        count bigint not null, primary key (organization_id, direction, slot)) ${compact}`,
      `insert into message_slots (organization_id, direction, slot, count)
        select organization_id, direction, created_at - created_at % 10000, count(*)
        from messages
        group by organization_id, direction, created_at - created_at % 10000`,

      'drop index blocks_of_organization',
      'create index blocks_by_reason on blocks (organization_id, reason, id)',
      `create table block_counts (
        organization_id text not null, reason text not null, count bigint not null,
        primary key (organization_id, reason)) ${compact}`,
      `insert into block_counts (organization_id, reason, count)
        select organization_id, reason, count(*) from blocks group by organization_id, reason`,

      // A domain takes its addresses along when it is deleted.
      'create index mailbox_addresses_of_domain on mailbox_addresses (domain_id)',
    ];
  },
};

/**
 * To delete a content or a blob, the engine looked through all messages for one that refers to it.
 * `uses` of the content tells that, and a blob has one owner. SQLite changes a definition in place
 * only so (https://sqlite.org/lang_altertable.html, 7): to make the table anew would write it twice.
 */
function withoutReferences(engine: StoreKind): string[] {
  if (engine === 'postgres') {
    return [
      'alter table messages drop constraint messages_content_id_fkey',
      'alter table messages drop constraint messages_raw_blob_id_fkey',
    ];
  }
  return [
    'pragma writable_schema = on',
    `update sqlite_schema set sql = replace(replace(sql,
        'content_id text references contents', 'content_id text'),
        'raw_blob_id text references blobs', 'raw_blob_id text')
      where type = 'table' and name = 'messages'`,
    // Reads the definitions again; the next statement that changes one tells other connections.
    'pragma writable_schema = reset',
  ];
}
