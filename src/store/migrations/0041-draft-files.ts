// A draft names its author and its last editor. Its files have rows of their own and its text comes behind
// all that a list shows, so that a list of large drafts reads little (SQLite reads a row only as far as the
// columns that are asked for).
import type { StoreKind } from '../db.ts';
import type { Migration } from '../migration.ts';

const columns = `id, organization_id, mailbox_id, thread_id, in_reply_to_message_id, state,
  author_kind, author_name, byte_count, created_at, updated_at, recipients, subject, text, html`;

/** Reads a field of the old JSON. */
function field(engine: StoreKind, name: string): string {
  return engine === 'sqlite' ? `json_extract(content, '$.${name}')` : `content::json ->> '${name}'`;
}

function copyFiles(engine: StoreKind): string {
  const of = (name: string) =>
    engine === 'sqlite' ? `json_extract(value, '$.${name}')` : `value ->> '${name}'`;
  const each =
    engine === 'sqlite'
      ? `json_each(content, '$.attachments') as file`
      : `json_array_elements(content::json -> 'attachments') with ordinality as file (value, key)`;
  const n = engine === 'sqlite' ? 'key + 1' : 'key';
  return `insert into draft_files (draft_id, n, filename, content_type, content_id, size, content)
    select drafts.id, ${n}, ${of('filename')}, ${of('contentType')}, ${of('contentId')},
      length(${of('content')}) / 4 * 3, ${of('content')} from drafts_before as drafts, ${each}`;
}

export const draftFiles: Migration = {
  name: '0041-draft-files',
  statements(engine: StoreKind): string[] {
    const compact = engine === 'sqlite' ? 'without rowid' : '';
    const recipients =
      engine === 'sqlite'
        ? `json_object('to', json_extract(content, '$.to'), 'cc', json_extract(content, '$.cc'),
            'bcc', json_extract(content, '$.bcc'))`
        : `json_build_object('to', content::json -> 'to', 'cc', content::json -> 'cc',
            'bcc', content::json -> 'bcc')::text`;
    return [
      'drop index drafts_of_mailbox',
      'drop index drafts_of_thread',
      'alter table drafts rename to drafts_before',
      ...(engine === 'postgres'
        ? ['alter table drafts_before rename constraint drafts_pkey to drafts_before_pkey']
        : []),
      // `recipients` is JSON: to, cc and bcc. `byte_count` is that of texts and files.
      `create table drafts (
        id text primary key, organization_id text not null references organizations,
        mailbox_id text not null references mailboxes,
        thread_id text references threads on delete cascade, in_reply_to_message_id text,
        state text not null, author_kind text not null, author_id text, author_name text,
        editor_kind text, editor_id text, editor_name text, byte_count bigint not null,
        created_at bigint not null, updated_at bigint not null,
        recipients text not null, subject text, text text, html text)`,
      `insert into drafts (${columns})
        select id, organization_id, mailbox_id, thread_id, in_reply_to_message_id, state,
          'key', null, length(content), created_at, updated_at, ${recipients},
          ${field(engine, 'subject')}, ${field(engine, 'text')}, ${field(engine, 'html')}
        from drafts_before`,
      // `content` is base64, as it came and as a send takes it.
      `create table draft_files (
        draft_id text not null references drafts on delete cascade, n integer not null,
        filename text not null, content_type text, content_id text, size bigint not null,
        content text not null, primary key (draft_id, n)) ${compact}`,
      copyFiles(engine),
      'drop table drafts_before',
      'create index drafts_of_mailbox on drafts (mailbox_id, id, byte_count)',
      'create index drafts_of_thread on drafts (thread_id)',
      'create index drafts_by_organization on drafts (organization_id)',

      'alter table thread_notes add column editor_kind text',
      'alter table thread_notes add column editor_id text',
      'alter table thread_notes add column editor_name text',
    ];
  },
};
