// A daemon learns from the store how far another one is with a flow: once a second, and only beside
// another one.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { portionsOf } from '../../../src/access/admission/portions.ts';
import type { App } from '../../../src/core/app.ts';
import { LearnedTurns } from '../../../src/outbound/queue/claiming/learned-turns.ts';
import { send } from '../../support/delivery.ts';
import { eachApp } from '../../support/each-app.ts';
import { watchQueries } from '../../support/watched-queries.ts';

const test = eachApp({ store: 'postgres' });

/** Lets a daemon know that it is one of `count`, for more than the wait of a new one. */
async function among(app: App, count: number): Promise<void> {
  portionsOf(app).begin();
  for (let seconds = 0; seconds < 7; seconds++) {
    portionsOf(app).see({ count, rank: 0 }, test.clock.elapsed());
    await test.clock.advance(1_000);
  }
}

const addresses = async () => {
  const { rows } = await sql<{ email: string }>`
    select email from deliveries order by turn`.execute(test.app.store.db);
  return rows.map(({ email }) => email);
};

it('puts its mail behind that of the other daemon', async () => {
  const other = await test.another();
  await among(other, 2);
  for (let number = 0; number < 10; number++) {
    await send(test.app, test.caller, `first${number}@example.com`);
  }
  await send(other, test.caller, 'unlearned@example.com');
  await new LearnedTurns(other).look();
  await send(other, test.caller, 'learned@example.com');
  const order = await addresses();
  expect(order.at(-1)).toBe('learned@example.com');
  expect(order.indexOf('unlearned@example.com')).toBeLessThan(3);
});

it('looks once a second, and not while it is alone', async () => {
  const watched = watchQueries();
  try {
    const learned = new LearnedTurns(test.app);
    const looks = async () => {
      await learned.look();
      return watched.take().filter(({ text }) => /order by "turn" desc/.test(text)).length;
    };
    expect(await looks()).toBe(0);
    await among(test.app, 2);
    portionsOf(test.app).see({ count: 2, rank: 0 }, test.clock.elapsed());
    expect([await looks(), await looks()]).toEqual([1, 0]);
    await test.clock.advance(1_000);
    expect(await looks()).toBe(1);
  } finally {
    watched.stop();
  }
});
