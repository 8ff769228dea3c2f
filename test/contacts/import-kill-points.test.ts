// An import dies at a transaction of a test's choice: before it, within it, or after its commit. What is there
// is whole batches; the same import again does the rest, and once more changes nothing. Each seed is one death.
// KILL_POINTS=300 is a soak; KILL_SEED=<the seed in the name of a failed test> repeats one.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { App } from '../../src/app.ts';
import { importContacts } from '../../src/contacts/import.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import type { Store } from '../../src/store/db.ts';
import { pieces } from '../blocks/import-support.ts';
import { stores, type TestApp, testApp } from '../support/test-app.ts';

const givenSeed = process.env.KILL_SEED;
const firstSeed = Number(givenSeed ?? Math.floor(Math.random() * 1_000_000));
const points = givenSeed ? 1 : Number(process.env.KILL_POINTS ?? 6);
const seeds = Array.from({ length: points }, (_, index) => firstSeed + index);
const moments = ['before', 'within', 'after'] as const;

const perBatch = 500;
const rows = 1_730;
/** Those of its batches, and the one that tells. */
const writes = Math.ceil(rows / perBatch) + 1;

/** Every seventh leaves; every tenth of the first third comes again later, with more to say. */
const lines = Array.from({ length: rows }, (_, i) => {
  const isRepeat = i > 600 && i % 10 === 0;
  const who = isRepeat ? (i % 600) * 1 : i;
  return `u${who}@example.com,x${who},${isRepeat ? 'Later' : `Name ${i}`},t${i % 3},${i % 7 ? '' : 'unsubscribed'}`;
});
const file = `email,externalId,name,tags,status\n${lines.join('\n')}\n`;

interface Point {
  moment: (typeof moments)[number];
  nth: number;
}

function pointOf(seed: number): Point {
  const moment = moments[seed % moments.length] ?? 'after';
  return { moment, nth: 1 + Math.floor(seededRandom(seed).float() * writes) };
}

/** Has `app` die there: it writes nothing more, and nothing that it waits for comes. */
function mortal(app: App, { moment, nth }: Point): Promise<void> {
  return new Promise((died) => {
    let seen = 0;
    const { write } = app.store;
    const dying: Store['write'] = async (work, durability) => {
      const never = () => {
        died();
        return new Promise<never>(() => {});
      };
      seen++;
      if (seen > nth || (seen === nth && moment === 'before')) return never();
      if (seen < nth) return write(work, durability);
      if (moment === 'after') {
        await write(work, durability);
        return never();
      }
      await write(async (trx) => {
        await work(trx);
        throw new Error('it died within');
      }, durability).catch(() => {});
      return never();
    };
    Object.assign(app.store, { write: dying });
  });
}

async function count({ app }: TestApp, from: ReturnType<typeof sql>): Promise<number> {
  const { rows: found } = await sql<{ n: number }>`select count(*) as n from ${from}`.execute(
    app.store.db,
  );
  return Number(found[0]?.n);
}

/** What contacts are, by what names them; ids and times are each run's own. */
async function people({ app }: TestApp): Promise<unknown[]> {
  const { rows: found } = await sql<object>`
    select external_id, name, tags, profile, (select folded_identifier from contact_identities
      where contact_id = contacts.id) as address from contacts order by external_id`.execute(
    app.store.db,
  );
  return found;
}

/** Indexes and counters say what the rows say. */
async function expectWhole(test: TestApp, told: string): Promise<void> {
  const contacts = await count(test, sql`contacts`);
  expect(await count(test, sql`contact_identities`), told).toBe(contacts);
  const { rows: counts } = await sql<{ tag: string; count: number }>`
    select tag, count from contact_counts`.execute(test.app.store.db);
  for (const { tag, count: counted } of counts) {
    const listed = tag === '' ? contacts : await count(test, sql`contact_tags where tag = ${tag}`);
    expect([tag, counted], told).toEqual([tag, listed]);
  }
  const wordless = sql`contacts where name is not null and not exists
    (select 1 from contact_words where contact_id = contacts.id)`;
  expect(await count(test, wordless), told).toBe(0);
}

describe.each(stores)('an import that dies, on %s', (store) => {
  it.each(seeds)(
    'leaves whole batches, and the next does the rest (KILL_SEED=%i)',
    async (seed) => {
      const point = pointOf(seed);
      const told = JSON.stringify({ seed, ...point });
      const test = await testApp({ store, seed: seed % 1_000 });
      const whole = await testApp({ store, seed: 1_001 });
      const take = (on: TestApp) =>
        importContacts(on.app, on.caller, pieces(file), { dryRun: false });
      try {
        const victim = await test.another();
        const died = mortal(victim, point);
        void importContacts(victim, test.caller, pieces(file), { dryRun: false });
        await died;
        await expectWhole(test, told);
        const committed = point.nth - (point.moment === 'after' ? 0 : 1);
        const inBatches = Math.min(committed * perBatch, rows);
        expect(await count(test, sql`audit_entries where action = 'contact.imported'`), told).toBe(
          committed === 0 ? 0 : 1,
        );
        const there = await count(test, sql`contacts`);
        expect(there, told).toBeLessThanOrEqual(inBatches);
        expect(there > 0, told).toBe(committed > 0);

        const { created, rejected } = await take(test);
        await take(whole);
        expect([created, rejected], told).toEqual([(await count(whole, sql`contacts`)) - there, 0]);
        await expectWhole(test, told);
        expect(await people(test), told).toEqual(await people(whole));
        expect(await count(test, sql`blocks`), told).toBe(await count(whole, sql`blocks`));
        expect(await take(test), told).toMatchObject({ created: 0, rejected: 0 });
        expect(await people(test), told).toEqual(await people(whole));
      } finally {
        await test.close();
        await whole.close();
      }
    },
  );
});
