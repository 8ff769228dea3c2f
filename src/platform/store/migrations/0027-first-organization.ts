// The mark of the first organization: the operator's own. Earlier versions looked its name up.
import type { Migration } from '../migration.ts';

export const firstOrganization: Migration = {
  name: '0027-first-organization',
  compatibleFrom: '0026-name-owners',
  sql: () => `
alter table organizations add column is_first integer not null default 0;
update organizations set is_first = 1 where id = coalesce(
  (select id from organizations where name = 'default'),
  (select id from organizations order by created_at, id limit 1));
create unique index organizations_first on organizations (is_first) where is_first = 1;
`,
};
