// Mail that asks to confirm a group counts as mail of the key that asked for it, and waits as a
// campaign run does.
import type { Migration } from '../migration.ts';

export const waitsOfConfirmations: Migration = {
  name: '0028-waits-of-confirmations',
  compatibleFrom: '0027-first-organization',
  sql: () => `
-- The key that asked for the mail that is due; null for the operator, and for a person on a page.
alter table group_confirmations add column key_id text;
-- Reason why the mail that is due waits: rate or daily-quota; null for none.
alter table group_confirmations add column wait_reason text;
`,
};
