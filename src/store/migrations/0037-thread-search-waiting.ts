// What a mailbox sent and is not found by its words yet (src/threads/indexer.ts): it waits from its accept until
// soon after.
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
