// Several daemons on one PostgreSQL: the limits of specification 8.1 hold over all of them, to the
// request. Two daemons are two Apps on one schema with one virtual clock.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockBuckets, updateBuckets } from '../../../src/access/admission/queries.ts';
import type { App } from '../../../src/core/app.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { heldWrite, someoneWaits } from '../../outbound/messages/fixtures.ts';
import { bothStores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { Daemons } from './daemons.ts';
import { ask, askBatch, drain, drawers, onPlan, planTable } from './fixtures.ts';

let test: TestApp;
let running: Daemons;

/** Waits until all daemons have seen each other. */
async function heartbeat(): Promise<void> {
  await running.settled(1_000);
}

async function bucketsInDebt(): Promise<number> {
  const query = sql<{ n: number }>`select count(*) as n from rate_buckets where level < 0`;
  return (await query.execute(test.app.store.db)).rows[0]?.n ?? 0;
}

beforeEach(async () => {
  test = await testApp({ store: 'postgres' });
  running = new Daemons(test);
});

afterEach(async () => {
  await running.close();
  await test.close();
});

async function twoDaemons(plan: string): Promise<[App, App]> {
  await onPlan(test, plan);
  const first = await running.start(test.app);
  const second = await running.start(await test.another());
  await heartbeat();
  return [first, second];
}

describe.each(planTable)('two daemons on the plan $plan', ({ plan, rate, burst, keyBurst }) => {
  it('share the bursts of organization and key', async () => {
    const daemons = await twoDaemons(plan);
    const keys = drawers(test, 3);
    const admitted: number[] = [];
    for (const key of keys) {
      let sum = 0;
      // Ask both in turn until neither admits.
      for (let more = true; more; ) {
        const answers = await Promise.all(daemons.map((daemon) => ask(daemon, key)));
        more = answers.includes(null);
        sum += answers.filter((answer) => answer === null).length;
      }
      admitted.push(sum);
    }
    expect(admitted).toEqual([keyBurst, burst - keyBurst, 0]);
  });

  it('admit exactly the sustained rate over 20 seconds with 5 keys', async () => {
    const daemons = await twoDaemons(plan);
    const keys = drawers(test, 5);
    let admitted = 0;
    for (let passed = 0; passed <= 20_000; passed += 100) {
      if (passed > 0) await running.pass(100);
      const drains = daemons.flatMap((daemon) => keys.map((key) => drain(daemon, key)));
      for (const count of await Promise.all(drains)) admitted += count;
    }
    expect(admitted).toBe(burst + 20 * rate);
  });
});

describe('two daemons on one store', () => {
  it('admit at the other daemon after Retry-After', async () => {
    const [first, second] = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    await drain(first, key);
    for (let i = 0; i < 8; i++) {
      const [from, to] = i % 2 === 0 ? [first, second] : [second, first];
      const seconds = await ask(from, key);
      if (seconds === null) throw new Error('there was something left');
      await running.pass(seconds * 1_000);
      expect(await ask(to, key)).toBeNull();
      await drain(to, key);
    }
  });

  it('admit at either after Retry-After, over a random schedule of requests and batches', async () => {
    const daemons = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    const random = seededRandom(7);
    const upTo = (most: number) => (random.bytes(1)[0] ?? 0) % (most + 1);
    let refusals = 0;
    for (let step = 0; step < 150; step++) {
      await running.pass(upTo(3) * 150);
      const count = upTo(2) === 0 ? 1 + upTo(20) : 1;
      const [at = test.app, later = test.app] = upTo(1) === 0 ? daemons : daemons.toReversed();
      const askAt = (app: App) => (count === 1 ? ask(app, key) : askBatch(app, key, count));
      const seconds = await askAt(at);
      if (seconds === null) continue;
      refusals++;
      await running.pass(seconds * 1_000);
      expect(await askAt(later)).toBeNull();
    }
    expect(refusals).toBeGreaterThan(20);
  });

  it("wait for each other's lock on a bucket, and see the level that it left", async () => {
    const [first, second] = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    expect(await ask(first, key)).toBeNull();
    const { rows } = await sql<{ id: string }>`select id from rate_buckets`.execute(first.store.db);
    const ids = rows.map(({ id }) => id);
    const held = await heldWrite(first, async (trx) => {
      const buckets = await lockBuckets(trx, ids);
      await updateBuckets(
        trx,
        buckets.map((bucket) => ({ ...bucket, level: 0 })),
      );
    });
    const asked = ask(second, key);
    await someoneWaits(first, 'rate_buckets');
    await held.commit();
    expect(await asked).toBe(1);
  });

  it('refuse from memory, without a write to the store', async () => {
    const [first] = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    await drain(first, key);
    const { write } = first.store;
    let writes = 0;
    const counting: typeof write = (work, durability) => {
      writes++;
      return write(work, durability);
    };
    Object.assign(first.store, { write: counting });
    for (let i = 0; i < 1_000; i++) expect(await ask(first, key)).toBe(1);
    Object.assign(first.store, { write });
    expect(writes).toBe(0);
  });

  it('share the debt that a batch beyond the burst leaves', async () => {
    const [first, second] = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    expect(await askBatch(first, key, 100)).toBeNull();
    expect(await ask(second, key)).toBe(20);
    expect(await askBatch(second, key, 100)).toBe(20);
  });

  it('share the draws made before the second daemon started', async () => {
    await onPlan(test, 'free');
    const first = await running.start(test.app);
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    expect(await askBatch(first, key, 100)).toBeNull();
    const second = await running.start(await test.another());
    await heartbeat();
    // Both buckets, of the organization and of the key.
    while ((await bucketsInDebt()) < 2);
    expect(await ask(second, key)).toBe(19);
  });

  it('keep the limits when one stops and the other is alone again', async () => {
    const [first, second] = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    await drain(second, key);
    await running.stop(second);
    expect(await ask(first, key)).toBe(1);
    await running.settled(2_000);
    expect(await drain(first, key)).toBe(5);
  });

  it('share the draws made while one was alone again, though the store holds an older level', async () => {
    const [first, second] = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    await drain(second, key);
    await running.stop(second);
    await running.settled(2_000);
    expect(await askBatch(first, key, 100)).toBeNull();
    const third = await running.start(await test.another());
    await heartbeat();
    await expect.poll(bucketsInDebt, { interval: 5 }).toBe(2);
    expect(await ask(third, key)).toBe(19);
  });

  it('forget a silent daemon, which asks the store when it is back', async () => {
    const [first, second] = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    // The second can no longer write: its heartbeats fail.
    const { write } = second.store;
    const broken = () => Promise.reject(new Error('cut off'));
    Object.assign(second.store, { write: broken });
    await running.settled(12_000);
    expect(await drain(first, key)).toBe(5);
    await expect(ask(second, key)).rejects.toThrow('cut off');
    Object.assign(second.store, { write });
    // Each must write its own heartbeat and then read the other's.
    for (let beat = 0; beat < 2; beat++) await heartbeat();
    await drain(first, key);
    expect(await ask(second, key)).toBe(1);
  });
});

describe('a daemon that is alone', () => {
  it('asks the store after 3 s without a written heartbeat: other daemons may have started', async () => {
    await onPlan(test, 'free');
    const alone = await running.start(test.app);
    await heartbeat();
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    const { write } = alone.store;
    Object.assign(alone.store, { write: () => Promise.reject(new Error('cut off')) });
    expect(await ask(alone, key)).toBeNull();
    await running.settled(3_500);
    await expect(ask(alone, key)).rejects.toThrow('cut off');
    Object.assign(alone.store, { write });
    await running.settled(2_000);
    expect(await ask(alone, key)).toBeNull();
  });
});

describe.each(bothStores)('a process that never joined the daemons on %s', (store) => {
  it('holds the limits: a command, or a test', async () => {
    const service = await testApp({ store });
    try {
      await onPlan(service, 'free');
      const [key] = drawers(service, 1);
      if (!key) throw new Error('no key');
      expect(await drain(service.app, key)).toBe(5);
      expect(await ask(service.app, key)).toBe(1);
      await service.clock.advance(1_000);
      expect(await drain(service.app, key)).toBe(5);
    } finally {
      await service.close();
    }
  });
});
