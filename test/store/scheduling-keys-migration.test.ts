// Keys and scheduled mail of a version that did not record which key had scheduled a mail.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { findHeirs } from '../../src/keys/queries.ts';
import { stores } from '../support/test-app.ts';
import { withOlderStore } from './older-store.ts';

const filling = [
  `insert into organizations values ('org_a', 'org_a', 'self-hosted', 0, 'UTC', 'enabled',
    null, null, 'approved', 1, 1, 1)`,
  ...[0, 1].map(
    (isActive) => `insert into api_keys (id, organization_id, hash, start, role_name, owner,
      constraints, is_active, created_at) values ('key_${isActive}', 'org_a', 'h${isActive}', 's',
      'sender', 'service', '{"domains":["a.example"]}', ${isActive}, 1)`,
  ),
  `insert into messages (id, organization_id, direction, status, from_email, message_id_header,
    track_opens, track_clicks, scheduled_for, is_test, delivery_count, created_at, updated_at)
    values ('msg_1', 'org_a', 'outbound', 'scheduled', 'a@b.example', '<x>', 0, 0, 2, 0, 1, 1, 1)`,
];

describe.each(stores)('a store of the previous version on %s', (kind) => {
  it('has each key as its own heir, and scheduled mail without a key', async () => {
    await withOlderStore(kind, '0017-scheduling-keys', filling, async ({ db }) => {
      expect(await findHeirs(db, ['key_0', 'key_1'])).toEqual([
        { id: 'key_1', constraints: '{"domains":["a.example"]}' },
      ]);
      const messages = sql`select scheduling_key_id from messages`;
      expect((await messages.execute(db)).rows).toEqual([{ scheduling_key_id: null }]);
    });
  });
});
