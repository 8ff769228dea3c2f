// Origin of a message and its caller: the API, a command, SMTP or sendmail.
import type { Migration } from '../migration.ts';

export const messageOrigins: Migration = {
  name: '0024-message-origins',
  statements() {
    // JSON. Null for received mail, and for messages accepted before.
    return ['alter table messages add column origin text'];
  },
};
