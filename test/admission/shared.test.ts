// Several daemons on one PostgreSQL: the limits of specification 8.1 hold over all of them, to the
// request. Two daemons are two Apps on one schema with one virtual clock.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { admissionOf } from '../../src/admission/admission.ts';
import { lockBuckets, updateBuckets } from '../../src/admission/queries.ts';
import type { App } from '../../src/app.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { heldWrite, someoneWaits } from '../messages/fixtures.ts';
import { stores, type TestApp, testApp } from '../support/test-app.ts';
import { watchWrites } from '../support/watched-writes.ts';
import { ask, askBatch, drain, drawers, onPlan, planTable } from './fixtures.ts';

let test: TestApp;
const started: App[] = [];
let settling: (() => Promise<void>)[] = [];

async function startDaemon(app: App): Promise<App> {
  settling.push(watchWrites(app.store));
  await admissionOf(app).start();
  started.push(app);
  return app;
}

/** Until all have seen each other. */
async function heartbeat(): Promise<void> {
  await settled(1_000);
}

/** Advances the clock; the heartbeats that fall due are written when it is over. */
async function pass(ms: number): Promise<void> {
  await test.clock.advance(ms);
  for (const written of settling) await written();
}

/** As `pass`, in steps: heartbeats come as often as they should. */
async function settled(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) await pass(250);
}

async function bucketsInDebt(): Promise<number> {
  const query = sql<{ n: number }>`select count(*) as n from rate_buckets where level < 0`;
  return (await query.execute(test.app.store.db)).rows[0]?.n ?? 0;
}

beforeEach(async () => {
  test = await testApp({ store: 'postgres' });
});

afterEach(async () => {
  for (const app of started.splice(0)) await admissionOf(app).stop();
  settling = [];
  await test.close();
});

async function twoDaemons(plan: string): Promise<[App, App]> {
  await onPlan(test, plan);
  const first = await startDaemon(test.app);
  const second = await startDaemon(await test.another());
  await heartbeat();
  return [first, second];
}

describe.each(planTable)('plan $plan over two daemons', ({ plan, rate, burst, keyBurst }) => {
  it('the bursts of organization and key are shared', async () => {
    const daemons = await twoDaemons(plan);
    const keys = drawers(test, 3);
    const admitted: number[] = [];
    for (const key of keys) {
      let sum = 0;
      // In turns, until neither admits any more.
      for (let more = true; more; ) {
        const answers = await Promise.all(daemons.map((daemon) => ask(daemon, key)));
        more = answers.includes(null);
        sum += answers.filter((answer) => answer === null).length;
      }
      admitted.push(sum);
    }
    expect(admitted).toEqual([keyBurst, burst - keyBurst, 0]);
  });

  it('the sustained rate holds over 20 seconds with 5 keys, to the exact request', async () => {
    const daemons = await twoDaemons(plan);
    const keys = drawers(test, 5);
    let admitted = 0;
    for (let passed = 0; passed <= 20_000; passed += 100) {
      if (passed > 0) await pass(100);
      const drains = daemons.flatMap((daemon) => keys.map((key) => drain(daemon, key)));
      for (const count of await Promise.all(drains)) admitted += count;
    }
    expect(admitted).toBe(burst + 20 * rate);
  });
});

describe('two daemons on one store', () => {
  it('waiting Retry-After is enough at the other daemon too', async () => {
    const [first, second] = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    await drain(first, key);
    for (let i = 0; i < 8; i++) {
      const [from, to] = i % 2 === 0 ? [first, second] : [second, first];
      const seconds = await ask(from, key);
      if (seconds === null) throw new Error('there was something left');
      await pass(seconds * 1_000);
      expect(await ask(to, key)).toBeNull();
      await drain(to, key);
    }
  });

  it('so it is over a random schedule of single requests and batches at either', async () => {
    const daemons = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    const random = seededRandom(7);
    const upTo = (most: number) => (random.bytes(1)[0] ?? 0) % (most + 1);
    let refusals = 0;
    for (let step = 0; step < 150; step++) {
      await pass(upTo(3) * 150);
      const count = upTo(2) === 0 ? 1 + upTo(20) : 1;
      const [at = test.app, later = test.app] = upTo(1) === 0 ? daemons : daemons.toReversed();
      const askAt = (app: App) => (count === 1 ? ask(app, key) : askBatch(app, key, count));
      const seconds = await askAt(at);
      if (seconds === null) continue;
      refusals++;
      await pass(seconds * 1_000);
      expect(await askAt(later)).toBeNull();
    }
    expect(refusals).toBeGreaterThan(20);
  });

  it('draw on a bucket in turn: who waits sees what the other left', async () => {
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

  it('what one refuses by its own view costs the store nothing', async () => {
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

  it('a batch beyond the burst leaves a debt that both see', async () => {
    const [first, second] = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    expect(await askBatch(first, key, 100)).toBeNull();
    expect(await ask(second, key)).toBe(20);
    expect(await askBatch(second, key, 100)).toBe(20);
  });

  it('a daemon that was alone tells what it drew when another comes', async () => {
    await onPlan(test, 'free');
    const first = await startDaemon(test.app);
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    expect(await askBatch(first, key, 100)).toBeNull();
    const second = await startDaemon(await test.another());
    await heartbeat();
    // Both buckets, of the organization and of the key.
    while ((await bucketsInDebt()) < 2);
    expect(await ask(second, key)).toBe(19);
  });

  it('a daemon whose company has gone is alone again, and the limits go on', async () => {
    const [first, second] = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    await drain(second, key);
    await admissionOf(second).stop();
    started.splice(started.indexOf(second), 1);
    expect(await ask(first, key)).toBe(1);
    await settled(2_000);
    expect(await drain(first, key)).toBe(5);
  });

  it('what it drew while it was alone again counts, though the store knows an older level', async () => {
    const [first, second] = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    await drain(second, key);
    await admissionOf(second).stop();
    started.splice(started.indexOf(second), 1);
    await settled(2_000);
    expect(await askBatch(first, key, 100)).toBeNull();
    const third = await startDaemon(await test.another());
    await heartbeat();
    await expect.poll(bucketsInDebt, { interval: 5 }).toBe(2);
    expect(await ask(third, key)).toBe(19);
  });

  it('a daemon that falls silent is forgotten; when it comes back, it asks the store', async () => {
    const [first, second] = await twoDaemons('free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    // The second can no longer write: its heartbeats fail.
    const { write } = second.store;
    const broken = () => Promise.reject(new Error('cut off'));
    Object.assign(second.store, { write: broken });
    await settled(12_000);
    expect(await drain(first, key)).toBe(5);
    await expect(ask(second, key)).rejects.toThrow('cut off');
    Object.assign(second.store, { write });
    // Each must write its own beat and then read the other's.
    for (let beat = 0; beat < 2; beat++) await heartbeat();
    await drain(first, key);
    expect(await ask(second, key)).toBe(1);
  });
});

describe('a daemon that is alone', () => {
  it('and cannot write its heartbeat for over 3 s asks the store: others may have come', async () => {
    await onPlan(test, 'free');
    const alone = await startDaemon(test.app);
    await heartbeat();
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    const { write } = alone.store;
    Object.assign(alone.store, { write: () => Promise.reject(new Error('cut off')) });
    expect(await ask(alone, key)).toBeNull();
    await settled(3_500);
    await expect(ask(alone, key)).rejects.toThrow('cut off');
    Object.assign(alone.store, { write });
    await settled(2_000);
    expect(await ask(alone, key)).toBeNull();
  });
});

describe.each(stores)('one daemon on %s', (store) => {
  it('keeps on when it was never joined: a command, or a test', async () => {
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
