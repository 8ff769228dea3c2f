// Mail of a version without threads: all mail in a mailbox is queued for a thread, parsed or not, and no
// other mail.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { stores } from '../support/test-app.ts';
import { withOlderStore } from './older-store.ts';

const message = (id: string, direction: string, mailbox: string | null, at: number) =>
  `insert into messages (id, organization_id, direction, status, from_email, message_id_header,
      mailbox_id, track_opens, track_clicks, is_test, delivery_count, created_at, updated_at)
    values ('msg_${id}', 'org_a', '${direction}', 'delivered', 'a@b.example', '<${id}@b.example>',
      ${mailbox === null ? 'null' : `'${mailbox}'`}, 0, 0, 0, 0, ${at}, ${at})`;
const projection = (id: string, due: number | null, parsed: number | null) =>
  `insert into email_projections (message_id, due_at, tries, parsed_at)
    values ('msg_${id}', ${due}, 1, ${parsed})`;

const filling = [
  `insert into organizations (id, name, plan, payment_method_on_file, timezone, sending_status,
      onboarding_status, onboarding_generation, created_at, updated_at)
    values ('org_a', 'org_a', 'self-hosted', 0, 'UTC', 'enabled', 'approved', 1, 1, 1)`,
  `insert into mailbox_namespaces (id, organization_id, name, created_at, updated_at)
    values ('ns_a', 'org_a', 'default', 1, 1)`,
  `insert into mailboxes (id, organization_id, slug, status, primary_address, created_at, updated_at,
      namespace_id)
    values ('mbx_1', 'org_a', 'help', 'active', 'help@b.example', 1, 1, 'ns_a')`,
  message('parsed', 'inbound', 'mbx_1', 10),
  projection('parsed', null, 20),
  message('old', 'inbound', 'mbx_1', 11),
  message('waiting', 'inbound', 'mbx_1', 12),
  projection('waiting', 99, null),
  message('sent', 'outbound', null, 13),
  projection('sent', null, 21),
];

describe.each(stores)('a store without threads, on %s', (kind) => {
  it('queues received mail for threading, oldest first', async () => {
    await withOlderStore(kind, '0032-threads', filling, async ({ db }) => {
      const { rows } = await sql`select message_id, due_at, tries, parsed_at
        from email_projections order by message_id`.execute(db);
      expect(rows).toEqual([
        { message_id: 'msg_old', due_at: 11, tries: 0, parsed_at: null },
        { message_id: 'msg_parsed', due_at: 10, tries: 0, parsed_at: 20 },
        { message_id: 'msg_sent', due_at: null, tries: 1, parsed_at: 21 },
        { message_id: 'msg_waiting', due_at: 99, tries: 1, parsed_at: null },
      ]);
    });
  });
});
