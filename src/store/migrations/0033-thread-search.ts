// Full-text index of threads: a document for each message of a mailbox, deleted with its message and words.
// FTS5's own tokenizer only splits at spaces.
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

export const threadSearch: Migration = {
  name: '0033-thread-search',
  statements(engine: StoreKind): string[] {
    const owner = 'references messages on delete cascade';
    if (engine === 'postgres') {
      return [
        `create table thread_search (message_id text primary key ${owner}, words tsvector not null)`,
        // Without knowing what is frequent no plan prefers to read the whole table.
        'alter table thread_search alter column words set statistics 0',
        `create index thread_search_words on thread_search using gin (words)
          with (gin_pending_list_limit = 1024)`,
      ];
    }
    return [
      `create table thread_search (id integer primary key, message_id text not null unique ${owner})`,
      `create virtual table thread_search_words using fts5 (words, content = '',
        contentless_delete = 1, tokenize = "ascii tokenchars '@#<+._-'")`,
      `create trigger thread_search_gone after delete on thread_search begin
        delete from thread_search_words where rowid = old.id; end`,
    ];
  },
};
