// The migration that folds tags: contacts and conversations keep the first writing, indexes and
// counters hold the folded one. The rows are those of a store of the version before.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Store } from '../../../src/platform/store/db.ts';
import { migrations } from '../../../src/platform/store/migrate.ts';
import { foldedTags } from '../../../src/platform/store/migrations/0032-folded-tags.ts';
import { openStore } from '../../../src/platform/store/open.ts';
import { bothStores } from '../../support/command.ts';
import { type PostgresSchema, postgresSchema } from '../../support/postgres.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const earlier = migrations.slice(0, migrations.indexOf(foldedTags));

/** Tags of contacts in two organizations. */
const before: [string, string, string[]][] = [
  ['org_1', 'a', ['VIP', 'vip', 'New']],
  ['org_1', 'b', ['vip', 'Vip', 'VIP']],
  ['org_1', 'c', ['VIP']],
  ['org_1', 'd', ['Ärzte', 'ärzte', 'ÄRZTE']],
  ['org_1', 'e', ['lower']],
  ['org_1', 'f', []],
  ['org_2', 'g', ['VIP', 'Straße', 'STRASSE']],
  ['org_2', 'h', ["O'Hara\\", "o'hara\\"]],
];

describe.each(bothStores)('the migration of tags on %s', (kind) => {
  let dataDir: string;
  let schema: PostgresSchema | undefined;
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-folded-tags-'));
    schema = kind === 'postgres' ? await postgresSchema(inject('postgresUrl')) : undefined;
  });
  afterEach(async () => {
    await schema?.drop();
    rmSync(dataDir, { recursive: true });
  });

  async function withStore<T>(known: typeof migrations, work: (store: Store) => Promise<T>) {
    const clock = virtualClock(Date.UTC(2026, 0, 5, 12));
    const url = schema?.url ?? 'sqlite:svc.db';
    const store = await openStore({ url }, dataDir, clock, { known });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  const insertOld = (store: Store, count: number) =>
    store.write(async (trx) => {
      for (const id of ['org_1', 'org_2']) {
        await sql`insert into organizations (id, name, plan, payment_method_on_file, timezone,
            sending_status, onboarding_status, onboarding_generation, created_at, updated_at)
          values (${id}, ${id}, 'free', 0, 'UTC', 'active', 'none', 0, 0, 0)`.execute(trx);
      }
      const many = Array.from({ length: count }, (_, index) => {
        return ['org_2', `m${String(index).padStart(5, '0')}`, ['Many', 'many']] as const;
      });
      for (const [organization, id, tags] of [...before, ...many]) {
        const json = tags.length > 0 ? JSON.stringify(tags) : null;
        await sql`insert into contacts (id, organization_id, is_archived, tags, created_at, updated_at)
          values (${id}, ${organization}, 0, ${json}, 0, 0)`.execute(trx);
        await sql`insert into conversations (id, organization_id, status, priority, urgency, tags,
            is_internal, is_private, is_test, message_count, created_at, updated_at)
          values (${id}, ${organization}, 'active', 0, 'normal', ${json}, 0, 0, 0, 0, 0, 0)`.execute(
          trx,
        );
        for (const tag of tags) {
          await sql`insert into contact_tags values (${organization}, ${tag}, ${id})`.execute(trx);
          await sql`insert into conversation_tags values (${organization}, ${tag}, ${id})`.execute(
            trx,
          );
          await sql`insert into contact_counts values (${organization}, ${tag}, 1)
            on conflict (organization_id, tag) do update set count = contact_counts.count + 1`.execute(
            trx,
          );
        }
        await sql`insert into contact_counts values (${organization}, '', 1)
          on conflict (organization_id, tag) do update set count = contact_counts.count + 1`.execute(
          trx,
        );
      }
      for (const [tag, id] of [
        ['VIP', 'x'],
        ['vip', 'x'],
        ['May', 'y'],
        ['Ärzte', 'y'],
      ] as const) {
        await sql`insert into message_search (organization_id, kind, value, created_at, message_id)
          values ('org_1', 'tag', ${tag}, 0, ${id})`.execute(trx);
      }
      await sql`insert into message_search (organization_id, kind, value, created_at, message_id)
        values ('org_1', 'subject', 'As Is', 0, 'x')`.execute(trx);
    });

  it('keeps the first writing and folds all indexes', async () => {
    await withStore(earlier, (store) => insertOld(store, 1_100));
    await withStore(migrations, async ({ db }) => {
      for (const table of ['contacts', 'conversations']) {
        const { rows } = await sql<{ id: string; tags: string | null }>`select id, tags
          from ${sql.table(table)} where id < 'i' order by id`.execute(db);
        expect(rows.map(({ id, tags }) => [id, tags && JSON.parse(tags)])).toEqual([
          ['a', ['VIP', 'New']],
          ['b', ['vip']],
          ['c', ['VIP']],
          ['d', ['Ärzte']],
          ['e', ['lower']],
          ['f', null],
          ['g', ['VIP', 'Straße']],
          ['h', ["O'Hara\\"]],
        ]);
        const { rows: many } = await sql<{ tags: string; n: number }>`select tags, count(*) as n
          from ${sql.table(table)} where id >= 'm' group by tags`.execute(db);
        expect(many).toEqual([{ tags: '["Many"]', n: 1_100 }]);
      }
      const expected = [
        ['org_1', 'lower', 'e'],
        ['org_1', 'new', 'a'],
        ['org_1', 'vip', 'a'],
        ['org_1', 'vip', 'b'],
        ['org_1', 'vip', 'c'],
        ['org_1', 'ärzte', 'd'],
        ['org_2', "o'hara\\", 'h'],
        ['org_2', 'strasse', 'g'],
        ['org_2', 'vip', 'g'],
      ];
      for (const [table, id] of [
        ['contact_tags', 'contact_id'],
        ['conversation_tags', 'conversation_id'],
      ] as const) {
        const { rows } = await sql<
          Record<string, string>
        >`select organization_id, tag, ${sql.ref(id)} as id
          from ${sql.table(table)} where tag <> 'many'`.execute(db);
        const found = rows.map((row) => [row.organization_id, row.tag, row.id]);
        expect(new Set(found.map(String))).toEqual(new Set(expected.map(String)));
        expect(found).toHaveLength(expected.length);
      }
      const { rows: counts } = await sql<{
        tag: string;
        n: number;
      }>`select organization_id || ' ' || tag as tag,
        count as n from contact_counts where count <> 0`.execute(db);
      expect(Object.fromEntries(counts.map(({ tag, n }) => [tag, Number(n)]))).toEqual({
        'org_1 ': 6,
        'org_1 vip': 3,
        'org_1 new': 1,
        'org_1 ärzte': 1,
        'org_1 lower': 1,
        'org_2 ': 1_102,
        'org_2 vip': 1,
        'org_2 strasse': 1,
        "org_2 o'hara\\": 1,
        'org_2 many': 1_100,
      });
      const { rows: terms } = await sql<{ value: string }>`select kind || ' ' || value as value
        from message_search`.execute(db);
      expect(new Set(terms.map(({ value }) => value))).toEqual(
        new Set(['subject As Is', 'tag vip', 'tag may', 'tag Ärzte'.replace('Ä', 'Ä')]),
      );
    });
  });

  it('leaves a new store empty', async () => {
    await withStore(migrations, async ({ db }) => {
      const { rows } = await sql`select * from contact_tags`.execute(db);
      expect(rows).toEqual([]);
    });
  });
});
