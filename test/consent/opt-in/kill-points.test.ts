// A daemon dies while it mails links to confirm. Another one continues: each contact gets one mail,
// and the row of a contact says so. Each seed is one death, before, within or after one of the
// transactions. KILL_POINTS=300 is a soak; KILL_SEED=<the seed in the name of a failed test>
// repeats one.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createConfirmationLoop } from '../../../src/consent/opt-in/loop.ts';
import { addMembers } from '../../../src/consent/opt-in/members.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { createGroup } from '../../../src/people/unsubscribe-groups/groups.ts';
import { inLong, stores } from '../../support/command.ts';
import { type KillPoint, moments, mortal } from '../../support/mortal.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const givenSeed = process.env.KILL_SEED;
const firstSeed = Number(givenSeed ?? Math.floor(Math.random() * 1_000_000));
const points = givenSeed ? 1 : Number(process.env.KILL_POINTS ?? inLong(6, 2));
const seeds = Array.from({ length: points }, (_, index) => firstSeed + index);
const people = 12;
/** Transactions that mail them, five in each. */
const writes = 3;

function pointOf(seed: number): KillPoint {
  const moment = moments[seed % moments.length] ?? 'after';
  return { moment, nth: 1 + (Math.floor(seed / moments.length) % writes) };
}

/** Returns the contacts of the mails, and the numbers of mails in the rows. */
async function mailed({ app }: TestApp) {
  const { db } = app.store;
  const mails = await sql<{ email: string }>`select email from recipients order by 1`.execute(db);
  const rows = await sql<{ mails: number; due: number | null }>`
    select mails, due_at as due from group_confirmations`.execute(db);
  return {
    mails: mails.rows.map(({ email }) => email),
    counted: rows.rows.reduce((sum, row) => sum + row.mails, 0),
    due: rows.rows.filter(({ due }) => due !== null).length,
  };
}

describe.each(stores)('a daemon that dies while it asks for confirmation, on %s', (store) => {
  it.each(seeds)('leaves one mail for each contact (KILL_SEED=%i)', async (seed) => {
    const point = pointOf(seed);
    const told = JSON.stringify({ seed, ...point });
    const test = await testApp({ store, seed: seed % 1_000 });
    const { app, caller, clock } = test;
    try {
      const { id } = await createGroup(app, caller, { name: 'News', confirm: true });
      const contacts = Array.from({ length: people }, (_, i) =>
        createContact(app, caller, { email: `c${i}@example.com` }),
      );
      const ids = (await Promise.all(contacts)).map((one) => one.id);
      await addMembers(app, caller, id, ids);
      const victim = await test.another();
      const died = mortal(victim, point).then(() => 'died' as const);
      const dying = createConfirmationLoop(victim);
      dying.start();
      let isDead = false;
      for (let i = 0; i < writes + 1 && !isDead; i++) {
        isDead = (await Promise.race([dying.idle(), died])) === 'died';
        await clock.advance(1_000);
      }
      expect(isDead, told).toBe(true);
      const between = await mailed(test);
      expect(between.mails.length, told).toBe(between.counted);
      expect(between.counted + between.due, told).toBe(people);
      const loop = createConfirmationLoop(app);
      loop.start();
      for (let i = 0; i < writes + 1; i++) {
        await loop.idle();
        await clock.advance(1_000);
      }
      await loop.idle();
      await loop.stop();
      const end = await mailed(test);
      expect(new Set(end.mails).size, told).toBe(people);
      expect([end.mails.length, end.counted, end.due], told).toEqual([people, people, 0]);
    } finally {
      await test.close();
    }
  });
});
