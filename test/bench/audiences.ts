// The cost of groups by query and of audiences, by hand: npx node test/bench/audiences.ts [contacts [postgres]].
// Pages and counts of groups, candidates and fates of a run among a million contacts, on both engines.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { countFates } from '../../src/campaigns/audience/fates.ts';
import { judgeContacts } from '../../src/campaigns/audience/judge.ts';
import { readCandidates } from '../../src/campaigns/audience/read-ahead.ts';
import type { AudienceSnapshot } from '../../src/campaigns/audience/schema.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { countMembers, listQueryMembers } from '../../src/people/contacts/groups/matches.ts';
import type { ContactQuery } from '../../src/people/contacts/groups/query-schema.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import type { Store } from '../../src/platform/store/db.ts';
import { firstStart } from '../../src/service/first-start.ts';
import { openService } from '../../src/service/service.ts';
import { postgresSchema, startPostgres } from '../support/postgres.ts';
import { say, sayLoad } from './progress.ts';

const rows = Number(process.argv[2] ?? 1_000_000);
const asked = 9;
const campaignId = 'camp_0123456789abcdefghjk';

const numbers = (store: Store) =>
  store.kind === 'postgres'
    ? sql`generate_series(1, ${sql.lit(rows)}) i`
    : sql`(with recursive n(i) as (select 1 union all select i + 1 from n where i < ${sql.lit(rows)})
        select i from n) n`;
const padded = (store: Store) =>
  store.kind === 'postgres' ? sql`lpad(i::text, 16, '0')` : sql`printf('%016d', i)`;

/** Half are customers, a tenth has the rare tag; of 300 cities and 500 companies. One in 100 is blocked. */
async function fill(store: Store, organizationId: string): Promise<void> {
  const [of, number] = [numbers(store), padded(store)];
  const id = sql`'contact_00000000' || ${number}`;
  const run = (text: RawBuilder<unknown>) => store.write((trx) => text.execute(trx));
  const tags = sql`case when i % 10 = 0 then '["customer","rare"]' when i % 2 = 0 then '["customer"]' else '[]' end`;
  const profile = sql`'{"firstName":"Ada","lastName":"Lovelace","company":"Company ' || (i % 500) ||
    '","jobTitle":"Engineer","location":{"country":"FR","city":"City ' || (i % 300) ||
    '"},"customFields":{"plan":"' || case when i % 7 = 0 then 'gold' else 'free' end || '","born":"19' ||
    (50 + i % 50) || '-05-17"}}'`;
  const preferences = sql`case when i % 50 = 0 then '{"notifications":{"email":false}}' end`;
  await run(sql`insert into contacts select ${id}, ${organizationId}, 'Ada Lovelace', null, null, null,
    case when i % 90 = 0 then 1 else 0 end, ${profile}, ${preferences}, ${tags}, null, i, i from ${of}`);
  const address = sql`'u' || (cast(i as bigint) * 7919 % 1000003) || '.' || i || '@example' || (i % 97) || '.com'`;
  await run(sql`insert into contact_identities select ${organizationId}, ${address}, 'idn_' || ${number}, ${id}, 0,
    ${address}, null from ${of} where i % 200 <> 0`);
  await run(
    sql`insert into contact_tags select ${organizationId}, 'customer', ${id} from ${of} where i % 2 = 0`,
  );
  await run(
    sql`insert into contact_tags select ${organizationId}, 'rare', ${id} from ${of} where i % 10 = 0`,
  );
  for (const [tag, share] of [
    ['', 1],
    ['customer', 2],
    ['rare', 10],
  ] as const) {
    await run(sql`insert into contact_counts values (${organizationId}, ${tag}, ${Math.floor(rows / share)})
      on conflict (organization_id, tag) do update set count = excluded.count`);
  }
  await run(sql`insert into blocks select 'blk_' || ${number}, ${organizationId}, ${address}, ${address},
    case when i % 300 = 0 then 'bounce' else 'unsubscribe' end, null, null, i from ${of} where i % 100 = 0`);
  await run(sql`insert into campaign_runs (id, organization_id, campaign_id, status, fingerprint, only_new,
      total_recipients, dispatched_count, failed_count, skipped_count, is_test, created_at, updated_at)
    values ('run_1', ${organizationId}, ${campaignId}, 'completed', '', 0, 0, 0, 0, 0, 0, 1, 1)`);
  await run(sql`insert into campaign_recipients
      (run_id, contact_id, outcome, created_at, opened_at, clicked_at) select 'run_1', ${id}, 'dispatched', 1000,
    case when i % 3 = 0 then 1000 end, case when i % 30 = 0 then 1000 end from ${of}`);
  // As the store does by itself after a while.
  await run(sql`analyze`);
}

async function times(work: () => Promise<unknown>): Promise<string> {
  const [taken, cpu]: [number[], number[]] = [[], []];
  for (let i = 0; i < asked && (taken[0] ?? 0) < 1_000; i++) {
    const [start, used] = [performance.now(), process.cpuUsage()];
    await work();
    taken.push(performance.now() - start);
    const { user, system } = process.cpuUsage(used);
    cpu.push((user + system) / 1_000);
  }
  return `${Math.min(...taken).toFixed(1)} ms (${Math.min(...cpu).toFixed(1)} ms CPU)`;
}

const queries: Record<string, ContactQuery> = {
  tag: { tag: 'customer' },
  'tag and city': { all: [{ tag: 'customer' }, { field: 'profile.location.city', is: 'City 8' }] },
  'any of two tags': { any: [{ tag: 'customer' }, { tag: 'rare' }] },
  'plan is gold': { field: 'profile.customFields.plan', is: 'gold' },
  'company contains 7': { field: 'profile.company', contains: 'any 7' },
  'born before 1970': { field: 'profile.customFields.born', before: '1970-01-01' },
  'no company': { field: 'profile.company', exists: false },
  active: { status: 'active' },
  bounced: { status: 'bounced' },
  opened: { opened: { campaignId, withinDays: 30 } },
  'customers that did not click': {
    all: [{ tag: 'customer' }, { not: { clicked: { campaignId, withinDays: 30 } } }],
  },
};

async function measure(url: string): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-audiences-'));
  const overrides = { dataDir, database: { url } };
  const { config } = loadConfig({ env: {}, cwd: dataDir, overrides });
  const app = await openService(config, await createLogger({ level: 'silent', pretty: false }), {
    mostReadMs: 60_000,
  });
  try {
    await firstStart(app);
    const { store } = app;
    const { rows: found } = await sql<{ id: string }>`select id from organizations limit 1`.execute(
      store.db,
    );
    const organizationId = found[0]?.id ?? '';
    await fill(store, organizationId);
    for (const [name, query] of Object.entries(queries)) {
      const one = { organizationId, query, at: 1_000 };
      const range = { limit: 20, offset: 0 };
      const page = await times(() => listQueryMembers(store, one, range));
      const total = await countMembers(store, one);
      const count = await times(() => countMembers(store, one));
      say(`group by ${name}: page ${page}, count ${count} (${total})`);
    }
    const none = {
      includeTags: [],
      excludeTags: [],
      contactIds: [],
      groupIds: [],
      queries: [],
      at: 1_000,
    };
    const audiences: Record<string, AudienceSnapshot> = {
      customers: { ...none, includeTags: ['customer'], excludeTags: ['rare'] },
      'two tags': { ...none, includeTags: ['customer', 'rare'] },
      everybody: { ...none, queries: [{ not: { tag: 'none' } }] },
      gold: { ...none, queries: [queries['plan is gold'] as ContactQuery] },
    };
    const until = `contact_~`;
    for (const [name, audience] of Object.entries(audiences)) {
      const question = { organizationId, audience, unsubscribeGroupId: null };
      const fates = await countFates(store, question);
      const count = await times(() => countFates(store, question));
      const asked = { after: 'contact_00000000000000000000', until, limit: 500 };
      const read = () => readCandidates(store, organizationId, audience, asked);
      const { ids } = await read();
      const judge = () =>
        store.write((trx) =>
          judgeContacts(trx, { ...question, runId: 'run_2', omitRunIds: [] }, ids),
        );
      say(
        `audience of ${name}: fates ${count}, candidates ${await times(read)}, judged ${await times(judge)}`,
      );
      say(`  ${ids.length} ${JSON.stringify(fates)}`);
    }
  } finally {
    await app.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

sayLoad();
if (process.argv[3] !== 'postgres') {
  say(`sqlite, ${rows} contacts`);
  await measure('sqlite:svc.db');
}
const server = await startPostgres();
const schema = await postgresSchema(server.url);
say(`postgres, ${rows} contacts`);
await measure(schema.url);
await server.stop();
