// Which sending domains have a mailbox here: only to those may mail of the whole domain come.
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
