// By which way a message was handed in, and as whom: the API, a command, SMTP or sendmail.
import type { Migration } from '../migration.ts';

export const messageOrigins: Migration = {
  name: '0024-message-origins',
  statements() {
    // JSON. Null for what came in, and for what was accepted before.
    return ['alter table messages add column origin text'];
  },
};
