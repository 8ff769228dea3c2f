// Root keys of the installation, of which the store has only the ids.
import type { Migration } from '../migration.ts';

export const rootKeys: Migration = {
  name: '0018-root-keys',
  sql: ({ clustered }) => `
-- Ids of the root keys, and the times of their use. The keys lie outside the store.
create table root_keys (
  id text primary key,
  added_at bigint not null,
  -- Null until the daemons know the key. Tokens from this time on use it.
  used_from bigint,
  -- Null for the key in force.
  replaced_at bigint,
  -- Time at which every encrypted row had this key. Null while a rotation goes on.
  rows_done_at bigint
) ${clustered};

-- Ids of the root keys that a daemon has. Null for a daemon of an earlier version.
alter table daemons add column root_keys text;
`,
};
