// Sending domains that have a mailbox here: only these may receive mail for the whole domain.
import type { Migration } from '../migration.ts';

export const receivingDomains: Migration = {
  name: '0022-receiving-domains',
  statements() {
    return [
      'alter table domains add column receives_mail integer not null default 0',
      `update domains set receives_mail = 1
        where id in (select domain_id from mailbox_addresses where domain_id is not null)`,
    ];
  },
};
