// The MTA-STS policies that are in force, so that they outlive a restart (RFC 8461 5.1): otherwise an attacker
// who hides the record for a moment removes the protection. Old rows are deleted (src/queue/carrier/kept-policies.ts).
import type { Migration } from '../migration.ts';

export const mtaStsPolicies: Migration = {
  name: '0012-mta-sts-policies',
  statements() {
    return [
      `create table mta_sts_policies (
        domain text primary key, policy_id text not null, policy text not null,
        fetched_at bigint not null, expires_at bigint not null)`,
      'create index mta_sts_policies_age on mta_sts_policies (fetched_at)',
    ];
  },
};
