// Refusals of addresses behind a recipient: bounces of the members of a list, which block nobody.
// Older versions record none.
import type { Migration } from '../migration.ts';

export const memberRefusals: Migration = {
  name: '0031-member-refusals',
  compatibleFrom: '0029-texts-of-confirmations',
  sql: ({ clustered }) => `
-- Refusals of addresses behind a recipient.
-- One row for each delivery; deleted after 30 days.
create table member_refusals (
  organization_id text not null references organizations,
  -- The recipient, not the refused address: that one belongs to a person we do not write to.
  folded_address text not null,
  delivery_id text not null,
  refused_at bigint not null,
  primary key (organization_id, folded_address, delivery_id)
) ${clustered};
create index member_refusals_by_time on member_refusals (refused_at);
`,
};
