// Findings of the daily examination of the service.
import type { Migration } from '../migration.ts';

export const serviceFindings: Migration = {
  name: '0012-service-findings',
  sql: ({ clustered }) => `
-- What each check found last.
create table service_findings (
  name text primary key,
  status text not null,
  found text not null,
  changed_at bigint not null
) ${clustered};
`,
};
