// Search index of messages: each recipient, the sender, the subject and each tag is
// a row of one table, clustered by its key. It is filled behind the commit (src/messages/search.ts), so it
// costs a send nothing; the first daemon indexes existing messages.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const messageSearch: Migration = {
  name: '0023-message-search',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    // A prefix is a range of values in the order of their bytes, as SQLite has it.
    const bytewise = engine === 'postgres' ? 'collate "C"' : '';
    return [
      `create table message_search (
        organization_id text not null, kind text not null, value text ${bytewise} not null,
        created_at bigint not null, message_id text not null,
        primary key (organization_id, kind, value, created_at, message_id)) ${compact}`,
      // One row: up to which message the newest, and those that nobody can still be storing, are in it.
      'create table search_marks (newest text not null, settled text not null)',
      `insert into search_marks (newest, settled) select coalesce(max(id), ''), '' from messages`,
    ];
  },
};
