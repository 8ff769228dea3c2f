// Warming plans that defer direct sends above the allowance of their open window.
import type { Migration } from '../migration.ts';

export const deferringPlans: Migration = {
  name: '0004-deferring-plans',
  sql: () => `
-- Whether direct sends only count in the window, or wait above its allowance: count or defer.
alter table warming_plans add column direct text not null default 'count';
-- Recipients of first attempts in the open window of a plan that defers.
alter table warming_plans add column taken_recipients integer not null default 0;
create index warming_plans_deferring on warming_plans (organization_id, domain)
  where direct = 'defer';
`,
};
