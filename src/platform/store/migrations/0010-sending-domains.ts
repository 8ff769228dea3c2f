// Owners of a domain name, and DKIM keys that were replaced.
import type { Migration } from '../migration.ts';

export const sendingDomains: Migration = {
  name: '0010-sending-domains',
  sql: () => `
-- All organizations with a domain of one name.
create index domains_by_name on domains (domain, id);

-- When a key in use was retired: its record stays in DNS for mail on its way. Null for keys that were
-- never in use.
alter table domain_keys add column retired_at bigint;
`,
};
