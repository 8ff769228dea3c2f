// Parsed content of received mail. A row is queued in the transaction of the 250; earlier mail gets a row at
// the first request. The large columns come last: SQLite reads a long row from its beginning.
import type { Migration } from '../migration.ts';

export const emailProjections: Migration = {
  name: '0016-email-projections',
  statements() {
    return [
      `create table email_projections (
        message_id text primary key references messages on delete cascade,
        due_at bigint, tries integer not null, parsed_at bigint,
        is_auto_reply integer, auto_reply_reason text,
        list_id text, list_unsubscribe_url text, list_unsubscribe_email text,
        preview text, has_quoted_content integer,
        parsing_errors text, list_headers text, attachments text,
        new_content text, quoted_content text, text text, html text)`,
      `create index email_projections_due on email_projections (due_at)
        where due_at is not null`,
    ];
  },
};
