// Texts of a mail to confirm, as of the request for it.
import type { Migration } from '../migration.ts';

export const textsOfConfirmations: Migration = {
  name: '0029-texts-of-confirmations',
  compatibleFrom: '0028-waits-of-confirmations',
  sql: () => `
-- JSON of the texts of the next mail; null for none.
alter table group_confirmations add column texts text;
`,
};
