// Specification 8.1, the sentences before its table: shared buckets, and the requests that draw on
// them. The table: plan-limits.test.ts. The same buckets on both stores; on PostgreSQL this daemon
// is alone.
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { admissionOf, type Drawer } from '../../../src/access/admission/admission.ts';
import { updateOrganization } from '../../../src/access/organizations/organizations.ts';
import { bothStores, type TestStore } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { ask, askBatch, drain, drawers, onPlan } from './fixtures.ts';

let test: TestApp | undefined;

async function start(plan: string, store: TestStore = 'sqlite'): Promise<TestApp> {
  test = await testApp({ store });
  await onPlan(test, plan);
  await admissionOf(test.app).start();
  return test;
}

afterEach(async () => {
  if (!test) return;
  await admissionOf(test.app).stop();
  await test.close();
});

function keyOf(service: TestApp): Drawer {
  return { organizationId: service.caller.organizationId, keyId: 'key_0' };
}

describe.each(bothStores)('the send rate (8.1) on %s', (store) => {
  it('draws on both buckets, or on neither when one refuses', async () => {
    const service = await start('free', store);
    const [first, second] = drawers(service, 2);
    if (!first || !second) throw new Error('no keys');
    await drain(service.app, first);
    for (let i = 0; i < 50; i++) expect(await ask(service.app, first)).toBe(1);
    // The organization still has its other half: the refusals left it untouched.
    expect(await drain(service.app, second)).toBe(5);
  });

  it('gives each member a bucket, as each key', async () => {
    const service = await start('free', store);
    const { organizationId } = service.caller;
    const of = (memberId: string): Drawer => {
      const by = {
        kind: 'member',
        memberId,
        personId: 'per_1',
        email: 'a@people.example',
      } as const;
      return { organizationId, keyId: null, by };
    };
    expect(await drain(service.app, of('mem_1'))).toBe(5);
    expect(await ask(service.app, of('mem_1'))).toBe(1);
    expect(await drain(service.app, of('mem_2'))).toBe(5);
  });

  it('reserves no share of the sustained rate for a key: the first caller gets it', async () => {
    const service = await start('free', store);
    const keys = drawers(service, 3);
    for (const key of keys) await drain(service.app, key);
    const [first, , third] = keys;
    if (!first || !third) throw new Error('no keys');
    await service.clock.advance(1_000);
    expect(await drain(service.app, third)).toBe(5);
    expect(await drain(service.app, first)).toBe(0);
  });

  it('gives a Retry-After in whole seconds that suffices for the same request', async () => {
    const service = await start('free', store);
    const [key] = drawers(service, 1);
    if (!key) throw new Error('no key');
    await drain(service.app, key);
    for (let i = 0; i < 10; i++) {
      const seconds = await ask(service.app, key);
      if (seconds !== null) await service.clock.advance(seconds * 1_000);
      expect(await ask(service.app, key)).toBeNull();
      await drain(service.app, key);
    }
  });

  it('draws one request per entry of a batch', async () => {
    const service = await start('free', store);
    const [key] = drawers(service, 1);
    if (!key) throw new Error('no key');
    expect(await askBatch(service.app, key, 4)).toBeNull();
    expect(await drain(service.app, key)).toBe(1);
  });

  it('draws nothing for a refused batch, and gives a Retry-After for all of it', async () => {
    const service = await start('free', store);
    const [key] = drawers(service, 1);
    if (!key) throw new Error('no key');
    expect(await askBatch(service.app, key, 2)).toBeNull();
    expect(await askBatch(service.app, key, 4)).toBe(1);
    expect(await drain(service.app, key)).toBe(3);
    expect(await askBatch(service.app, key, 5)).toBe(1);
    await service.clock.advance(1_000);
    expect(await askBatch(service.app, key, 5)).toBeNull();
  });

  it('admits a batch beyond the burst from full buckets only, and leaves them in debt', async () => {
    const service = await start('free', store);
    const [key, other] = drawers(service, 2);
    if (!key || !other) throw new Error('no keys');
    await ask(service.app, other);
    expect(await askBatch(service.app, key, 100)).toBe(1);
    await service.clock.advance(1_000);
    expect(await askBatch(service.app, key, 100)).toBeNull();
    // 100 of a key bucket of 5 at 5 a second: 96 short of the next request, 100 short of the next
    // batch.
    expect(await ask(service.app, key)).toBe(20);
    expect(await askBatch(service.app, key, 100)).toBe(20);
    expect(await ask(service.app, other)).toBe(19);
    await service.clock.advance(20_000);
    expect(await askBatch(service.app, key, 100)).toBeNull();
  });

  it('applies a plan changed by another process within a second', async () => {
    const service = await start('free', store);
    const command = await service.another();
    const key = keyOf(service);
    expect(await drain(service.app, key)).toBe(5);
    await updateOrganization(command, 'default', { plan: 'growth' });
    await service.clock.advance(1_000);
    const [, second] = drawers(service, 2);
    if (!second) throw new Error('no key');
    expect(await drain(service.app, second)).toBeGreaterThan(5);
  });

  it('does not limit the plan self-hosted', async () => {
    const service = await start('self-hosted', store);
    const key = keyOf(service);
    for (let i = 0; i < 1_000; i++) expect(await ask(service.app, key)).toBeNull();
    expect(await askBatch(service.app, key, 100)).toBeNull();
    expect(admissionOf(service.app).stateOf(key)).toBeNull();
  });

  it('tells a self-pacing sender its wait, and admits it afterwards', async () => {
    const service = await start('free', store);
    const campaign = { organizationId: service.caller.organizationId, keyId: null };
    const { tryDraw } = admissionOf(service.app);
    const draw = tryDraw.bind(admissionOf(service.app));
    expect(await draw(campaign, 10)).toBe(0);
    const waitMs = await draw(campaign, 1);
    expect(waitMs).toBe(200);
    expect(await ask(service.app, keyOf(service))).toBe(1);
    await service.clock.advance(waitMs);
    expect(await draw(campaign, 1)).toBe(0);
  });
});

describe('Retry-After (7.1) over random schedules', () => {
  it('suffices for every single request and batch', async () => {
    const service = await start('free');
    const keys = drawers(service, 3);
    const step = fc.record({
      passesMs: fc.oneof(fc.integer({ max: 300, min: 0 }), fc.integer({ max: 30_000, min: 0 })),
      key: fc.constantFrom(...keys),
      count: fc.oneof(fc.constant(1), fc.integer({ max: 100, min: 2 })),
    });
    let refusals = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        for (const { passesMs, key, count } of steps) {
          service.clock.set(service.clock.now() + passesMs);
          const asks = () =>
            count === 1 ? ask(service.app, key) : askBatch(service.app, key, count);
          const seconds = await asks();
          if (seconds === null) continue;
          refusals++;
          service.clock.set(service.clock.now() + seconds * 1_000);
          expect(await asks()).toBeNull();
        }
      }),
      { numRuns: 100 },
    );
    expect(refusals).toBeGreaterThan(100);
  });
});

describe('admission in memory', () => {
  it('neither reads nor writes the store when alone and the organization is known', async () => {
    const service = await start('scale', 'postgres');
    const key = keyOf(service);
    await ask(service.app, key);
    const { db, write } = service.app.store;
    const broken = () => {
      throw new Error('the store was asked');
    };
    Object.assign(service.app.store, { write: broken });
    Object.defineProperty(service.app.store, 'db', { get: broken, configurable: true });
    try {
      expect(await drain(service.app, key)).toBe(49);
      expect(await ask(service.app, key)).toBe(1);
    } finally {
      Object.defineProperty(service.app.store, 'db', { value: db });
      Object.assign(service.app.store, { write });
    }
  });
});
