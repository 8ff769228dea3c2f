// A store that an older version filled: its messages and blocks are counted, its lists and deletions
// work as in a new one.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { messageCounts } from '../messages/exact-counts.ts';
import { stores } from '../support/test-app.ts';
import { withOlderStore } from './older-store.ts';

const own = '0015-lists';

/** Rows of the version before: two organizations, mail of three days, blocks. */
function filling(): string[] {
  const day = 86_400_000;
  const message = (id: number, organization: string, rest: string, at: number) =>
    `insert into messages (id, organization_id, direction, status, content_id, from_email,
      message_id_header, track_opens, track_clicks, is_test, delivery_count, created_at, updated_at)
     values ('msg_${id}', '${organization}', ${rest}, 'a@b.example', '<x>', 0, 0, 0, 1, ${at}, ${at})`;
  return [
    ...['org_a', 'org_b'].map(
      (
        id,
      ) => `insert into organizations values ('${id}', '${id}', 'self-hosted', 0, 'UTC', 'enabled',
        null, null, 'approved', 1, 1, 1)`,
    ),
    `insert into contents (id, organization_id, html, text, attachments, uses, created_at)
      values ('cnt_1', 'org_a', null, 'hi', null, 2, 1)`,
    message(1, 'org_a', `'outbound', 'delivered', 'cnt_1'`, day - 1),
    message(2, 'org_a', `'outbound', 'delivered', 'cnt_1'`, day),
    message(3, 'org_a', `'outbound', 'bounced', null`, day + 9_999),
    message(4, 'org_a', `'inbound', 'delivered', null`, day + 10_000),
    message(5, 'org_b', `'outbound', 'pending', null`, 2 * day),
    ...['manual', 'manual', 'bounce'].map(
      (reason, index) => `insert into blocks (id, organization_id, address, folded_address, reason,
        created_at) values ('blk_${index}', 'org_a', '${index}@x', '${index}@x', '${reason}', 1)`,
    ),
  ];
}

describe.each(stores)('a store of the previous version on %s', (kind) => {
  it('has its messages counted, and shared contents can be deleted', async () => {
    await withOlderStore(kind, own, filling(), async (store) => {
      const counts = await messageCounts({ store });
      expect(counts.kept).toEqual(counts.exact);
      expect(counts.kept).toContainEqual({ key: 'org_a outbound delivered 86400000', count: 1 });
      expect(counts.kept).toContainEqual({ key: 'org_a outbound slot 86400000', count: 2 });
      const blocks = sql`select reason, count from block_counts order by reason`;
      expect((await blocks.execute(store.db)).rows).toEqual([
        { reason: 'bounce', count: 1 },
        { reason: 'manual', count: 2 },
      ]);
      // Nothing refers to it any more, as far as the engine knows.
      await store.write((trx) => sql`delete from contents where id = 'cnt_1'`.execute(trx));
      if (kind === 'sqlite') {
        const check = sql<{ integrity_check: string }>`pragma integrity_check`;
        expect((await check.execute(store.db)).rows).toEqual([{ integrity_check: 'ok' }]);
        const edit = store.write((trx) => sql`update sqlite_schema set sql = sql`.execute(trx));
        await expect(edit).rejects.toThrow('may not be modified');
      }
    });
  });
});
