// A daemon dies between DATA and thread: no mail that got its 250 is lost, none is threaded or
// published twice, and counters equal rows. Each seed is one death at one point. KILL_POINTS=300 is
// a soak; KILL_SEED=<the seed in the name of a failed test> repeats one.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createProjector } from '../../../src/inbox/receiving/projector.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { inLong, stores } from '../../support/command.ts';
import { moments, mortal } from '../../support/mortal.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { countsOf, takeMail, threadAll } from './mails.ts';

const givenSeed = process.env.KILL_SEED;
const firstSeed = Number(givenSeed ?? Math.floor(Math.random() * 1_000_000));
const points = givenSeed ? 1 : Number(process.env.KILL_POINTS ?? inLong(8, 2));
const seeds = Array.from({ length: points }, (_, index) => firstSeed + index);

const leaseMs = 60_000;
const mails = 6;
/** Transactions of a round: 250s, claims, and stored threads. */
const mostWrites = 3 * mails;

/** Reads all rows, by the ids of messages. */
async function rowsOf({ app }: TestApp) {
  const { db } = app.store;
  const stored = sql<{ id: string }>`select id from messages order by id`;
  const threaded = sql<{ id: string }>`select message_id as id from thread_messages order by id`;
  const found = sql<{ id: string }>`select message_id as id from thread_search order by id`;
  const told = sql<{ data: string }>`select data from resource_events
    where event_type = 'mailbox.message.received'`;
  const idOf = ({ data }: { data: string }): string => JSON.parse(data).message.id;
  return {
    stored: (await stored.execute(db)).rows.map(({ id }) => id),
    threaded: (await threaded.execute(db)).rows.map(({ id }) => id),
    found: (await found.execute(db)).rows.map(({ id }) => id),
    told: (await told.execute(db)).rows.map(idOf).sort(),
  };
}

describe.each(stores)('a daemon that dies between DATA and thread, on %s', (store) => {
  it.each(seeds)('loses no mail and threads none twice (KILL_SEED=%i)', async (seed) => {
    const moment = moments[seed % moments.length] ?? 'after';
    const nth = 1 + Math.floor(seededRandom(seed).float() * mostWrites);
    const test = await testApp({ store, seed });
    try {
      const victim = await test.another();
      const died = mortal(victim, { nth, moment });
      const acknowledged: string[] = [];
      const projector = createProjector(victim);
      const life = async () => {
        for (let n = 0; n < mails; n += 1) {
          // The last mail names all others: separate threads merge.
          const references = n === mails - 1 ? [1, 2, 3].map((of) => `${of}@x`) : [`${n % 2}@x`];
          acknowledged.push(...(await takeMail(victim, { id: `${n}@x`, references })));
          if (n % 2 === 1) await projector.projectDue();
        }
        await projector.projectDue();
      };
      await Promise.race([life(), died]);
      await test.clock.advance(leaseMs + 1_000);
      await threadAll(test.app);
      const rows = await rowsOf(test);
      const point = JSON.stringify({ seed, nth, moment });
      expect(rows.stored, point).toEqual(expect.arrayContaining(acknowledged));
      expect(rows.threaded, point).toEqual(rows.stored);
      expect(rows.found, point).toEqual(rows.stored);
      expect(rows.told, point).toEqual(rows.stored);
      const { said, counted } = await countsOf(test.app);
      expect(said, point).toEqual(counted);
    } finally {
      await test.close();
    }
  });
});
