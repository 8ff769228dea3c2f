// Counts the engagement events that a delivery has, so that they can be bounded.
import type { Migration } from '../migration.ts';

export const toldEngagements: Migration = {
  name: '0046-told-engagements',
  statements: () => ['alter table engagements add column told_count integer not null default 0'],
};
