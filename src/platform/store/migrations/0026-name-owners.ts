// Senders of a domain over all organizations. From now on only the last owner of a name has
// `verified_at` (src/identity/domains/owners.ts).
import type { Migration } from '../migration.ts';

export const nameOwners: Migration = {
  name: '0026-name-owners',
  compatibleFrom: '0025-unsealed-events',
  sql: () => `
-- A name that changed hands ends the proofs of its addresses; a hosted address asks for its senders.
create index senders_by_domain on senders (domain);
update domains set verified_at = null
  where status <> 'verified' and verified_at is not null and exists (
    select 1 from domains other where other.domain = domains.domain and other.status = 'verified');
`,
};
