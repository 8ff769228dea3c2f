// Periods of retention that an organization has of its own.
import type { Migration } from '../migration.ts';

export const retentionOfOrganizations: Migration = {
  name: '0023-retention-of-organizations',
  compatibleFrom: '0022-counter-shards',
  sql: () => `
-- Days after which messages go, and their content. Null: those of the configuration alone.
alter table organizations add column messages_days integer;
alter table organizations add column content_days integer;
`,
};
