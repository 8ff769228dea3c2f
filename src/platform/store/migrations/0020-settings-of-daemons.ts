// Digests of settings that all daemons of a store should share.
import type { Migration } from '../migration.ts';

export const settingsOfDaemons: Migration = {
  name: '0020-settings-of-daemons',
  compatibleFrom: '0018-root-keys',
  sql: () => `
-- JSON: keyed digests of settings by key of the configuration. Null for a daemon of an earlier version.
alter table daemons add column settings text;
`,
};
