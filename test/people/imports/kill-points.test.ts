// An import dies before, within or after a chosen transaction. The store then holds whole batches;
// the same import again adds the rest, and a third one changes nothing. Each seed is one death.
// KILL_POINTS=300 is a soak; KILL_SEED=<the seed in the name of a failed test> repeats one.
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { importContacts } from '../../../src/people/imports/contacts.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { inLong, stores } from '../../support/command.ts';
import { type KillPoint, moments, mortal } from '../../support/mortal.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { pieces } from './support.ts';

const givenSeed = process.env.KILL_SEED;
const firstSeed = Number(givenSeed ?? Math.floor(Math.random() * 1_000_000));
const points = givenSeed ? 1 : Number(process.env.KILL_POINTS ?? inLong(4, 1));
const seeds = Array.from({ length: points }, (_, index) => firstSeed + index);

const perBatch = 500;
const rows = 1_730;
/** One transaction per batch, and one for the audit entry and the event. */
const writes = Math.ceil(rows / perBatch) + 1;

/** Every seventh row unsubscribes; rows of the first third appear again later with another name. */
const lines = Array.from({ length: rows }, (_, i) => {
  const isRepeat = i > 600 && i % 10 === 0;
  const person = isRepeat ? (i % 600) * 1 : i;
  return `u${person}@example.com,x${person},${isRepeat ? 'Later' : `Name ${i}`},t${i % 3},${i % 7 ? '' : 'unsubscribed'}`;
});
const file = `email,externalId,name,tags,status\n${lines.join('\n')}\n`;

function pointOf(seed: number): KillPoint {
  const moment = moments[seed % moments.length] ?? 'after';
  return { moment, nth: 1 + Math.floor(seededRandom(seed).float() * writes) };
}

async function count({ app }: TestApp, from: ReturnType<typeof sql>): Promise<number> {
  const { rows: found } = await sql<{ n: number }>`select count(*) as n from ${from}`.execute(
    app.store.db,
  );
  return Number(found[0]?.n);
}

/**
 * Reads all contacts by external id, without ids and times, which differ by run. Each table is read
 * once: PostgreSQL may otherwise read the second again for each row of the first, by its
 * statistics.
 */
async function people({ app: { store } }: TestApp): Promise<unknown[]> {
  const { rows: identities } = await sql<{ contact_id: string; folded_identifier: string }>`
    select contact_id, folded_identifier from contact_identities`.execute(store.db);
  const addresses = new Map(identities.map((row) => [row.contact_id, row.folded_identifier]));
  const { rows: found } = await sql<{ id: string }>`
    select id, external_id, name, tags, profile from contacts order by external_id`.execute(
    store.db,
  );
  return found.map(({ id, ...fields }) => ({ ...fields, address: addresses.get(id) }));
}

/** Expects indexes and counters to equal the rows. */
async function expectWhole(test: TestApp, context: string): Promise<void> {
  const contacts = await count(test, sql`contacts`);
  expect(await count(test, sql`contact_identities`), context).toBe(contacts);
  const { rows: counts } = await sql<{ tag: string; count: number }>`
    select tag, count from contact_counts`.execute(test.app.store.db);
  for (const { tag, count: counted } of counts) {
    const listed = tag === '' ? contacts : await count(test, sql`contact_tags where tag = ${tag}`);
    expect([tag, counted], context).toEqual([tag, listed]);
  }
  // Not "not exists", for which PostgreSQL may read all words for each contact: 60 s once.
  const wordless = sql`(select id from contacts where name is not null
    except select contact_id from contact_words) one`;
  expect(await count(test, wordless), context).toBe(0);
}

const take = (on: TestApp) => importContacts(on.app, on.caller, pieces(file), { dryRun: false });

describe.each(stores)('a dying import, on %s', (store) => {
  let whole: { people: unknown[]; contacts: number; blocks: number };
  beforeAll(async () => {
    const test = await testApp({ store, seed: 1_001 });
    await take(test);
    const contacts = await count(test, sql`contacts`);
    whole = { people: await people(test), contacts, blocks: await count(test, sql`blocks`) };
    await test.close();
  });

  it.each(seeds)(
    'leaves whole batches, and the next import adds the rest (KILL_SEED=%i)',
    async (seed) => {
      const point = pointOf(seed);
      const context = JSON.stringify({ seed, ...point });
      const test = await testApp({ store, seed: seed % 1_000 });
      try {
        const victim = await test.another();
        const died = mortal(victim, point);
        void importContacts(victim, test.caller, pieces(file), { dryRun: false });
        await died;
        await expectWhole(test, context);
        const committed = point.nth - (point.moment === 'after' ? 0 : 1);
        const inBatches = Math.min(committed * perBatch, rows);
        expect(
          await count(test, sql`audit_entries where action = 'contact.imported'`),
          context,
        ).toBe(committed === 0 ? 0 : 1);
        const there = await count(test, sql`contacts`);
        expect(there, context).toBeLessThanOrEqual(inBatches);
        expect(there > 0, context).toBe(committed > 0);

        const { created, rejected } = await take(test);
        expect([created, rejected], context).toEqual([whole.contacts - there, 0]);
        await expectWhole(test, context);
        expect(await people(test), context).toEqual(whole.people);
        expect(await count(test, sql`blocks`), context).toBe(whole.blocks);
        expect(await take(test), context).toMatchObject({ created: 0, rejected: 0 });
        expect(await people(test), context).toEqual(whole.people);
      } finally {
        await test.close();
      }
    },
  );
});
