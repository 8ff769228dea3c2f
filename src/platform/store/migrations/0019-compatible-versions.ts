// The migrations that earlier versions bear, so that daemons of two versions work beside each other
// in an upgrade.
import type { Migration } from '../migration.ts';

export const compatibleVersions: Migration = {
  name: '0019-compatible-versions',
  compatibleFrom: '0015-scheduled-jobs',
  sql: ({ clustered }) => `
-- Migrations that leave older versions working, and how old these may be.
create table compatible_versions (
  name text primary key,
  compatible_from text not null
) ${clustered};
`,
};
