// Sent mail of mailboxes that waits to be indexed soon after its accept (src/threads/indexer.ts).
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const threadSearchWaiting: Migration = {
  name: '0037-thread-search-waiting',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    return [
      `create table thread_search_waiting (
        message_id text primary key references messages on delete cascade,
        mailbox_id text not null) ${compact}`,
    ];
  },
};
