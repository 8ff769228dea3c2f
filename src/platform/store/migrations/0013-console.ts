// Sessions of the console in a browser, and links that begin one.
import type { Migration } from '../migration.ts';

export const console: Migration = {
  name: '0013-console',
  sql: ({ clustered }) => `
-- A signed-in browser. Without a key it is a session of the operator.
create table console_sessions (
  -- Hash of the token in the cookie.
  hash text primary key,
  organization_id text not null references organizations,
  key_id text references api_keys,
  created_at bigint not null,
  last_seen_at bigint not null
) ${clustered};
create index console_sessions_by_key on console_sessions (key_id);
create index console_sessions_by_creation on console_sessions (created_at);
create index console_sessions_by_organization on console_sessions (organization_id);

-- A link of "svc open": it begins one session of the operator.
create table console_links (
  hash text primary key,
  organization_id text not null references organizations,
  expires_at bigint not null
) ${clustered};
create index console_links_by_expiry on console_links (expires_at);
create index console_links_by_organization on console_links (organization_id);
`,
};
