// Domains and mailboxes of a version that did not record with a domain whether it receives mail.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { stores } from '../support/test-app.ts';
import { withOlderStore } from './older-store.ts';

const domain = (name: string) =>
  `insert into domains (id, organization_id, domain, status, return_path, is_local, created_at,
    updated_at) values ('dom_${name}', 'org_a', '${name}.example', 'verified', 'b.${name}.example', 0, 1, 1)`;

const filling = [
  `insert into organizations values ('org_a', 'org_a', 'self-hosted', 0, 'UTC', 'enabled',
    null, null, 'approved', 1, 1, 1)`,
  domain('with'),
  domain('without'),
  `insert into mailboxes (id, organization_id, slug, status, primary_address, created_at, updated_at)
    values ('mbx_1', 'org_a', 'help', 'active', 'help@with.example', 1, 1)`,
  `insert into mailbox_addresses (id, mailbox_id, address, source, domain_id, created_at)
    values ('mba_1', 'mbx_1', 'help@with.example', 'customDomain', 'dom_with', 1)`,
];

describe.each(stores)('a store of the previous version on %s', (kind) => {
  it('marks domains with a mailbox as receiving mail', async () => {
    await withOlderStore(kind, '0018-resource-events', filling, async ({ db }) => {
      const { rows } = await sql`select id, receives_mail from domains order by id`.execute(db);
      expect(rows).toEqual([
        { id: 'dom_with', receives_mail: 1 },
        { id: 'dom_without', receives_mail: 0 },
      ]);
    });
  });
});
