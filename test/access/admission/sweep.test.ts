// The sweep deletes shared buckets once they must be full again at any rate. No limit changes by
// it.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { admissionOf } from '../../../src/access/admission/admission.ts';
import { insertBuckets } from '../../../src/access/admission/queries.ts';
import { sweepBuckets } from '../../../src/access/admission/shared-buckets.ts';
import type { App } from '../../../src/core/app.ts';
import { heldWrite } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { ask, askBatch, drain, drawers, onPlan } from './fixtures.ts';

const hourMs = 3_600_000;
let test: TestApp;
const started: App[] = [];

async function bucketIds(): Promise<string[]> {
  const query = sql<{ id: string }>`select id from rate_buckets order by id`;
  return (await query.execute(test.app.store.db)).rows.map(({ id }) => id);
}

async function put(buckets: Record<string, { level: number; ageMs: number }>): Promise<void> {
  const now = test.clock.now();
  const rows = Object.entries(buckets).map(([id, { level, ageMs }]) => ({
    id,
    level,
    at: now - ageMs,
  }));
  await test.app.store.write((trx) => insertBuckets(trx, rows));
}

describe.each(stores)('the sweep on %s', (store) => {
  beforeEach(async () => {
    test = await testApp({ store });
  });
  afterEach(() => test.close());

  it('deletes the buckets that have filled up for an hour, and keeps the rest', async () => {
    await put({
      now: { level: 0, ageMs: 0 },
      lately: { level: 0, ageMs: hourMs },
      rested: { level: 0, ageMs: hourMs + 1 },
      untouched: { level: 10_000_000, ageMs: hourMs + 1 },
      // A debt of one request fills in 1,000 s at the lowest rate there is.
      owing: { level: -1_000_000, ageMs: hourMs + 1_000_000 },
      repaid: { level: -1_000_000, ageMs: hourMs + 1_000_001 },
    });
    await sweepBuckets(test.app);
    expect(await bucketIds()).toEqual(['lately', 'now', 'owing']);
  });

  it('deletes any number of buckets, in batches', async () => {
    const rows = Array.from({ length: 2_500 }, (_, index) => [
      `b${index}`,
      { level: 0, ageMs: 2 * hourMs },
    ]);
    await put({ ...Object.fromEntries(rows), now: { level: 0, ageMs: 0 } });
    await sweepBuckets(test.app);
    expect(await bucketIds()).toEqual(['now']);
  });
});

describe('the sweep beside two daemons', () => {
  beforeEach(async () => {
    test = await testApp({ store: 'postgres' });
  });
  afterEach(async () => {
    for (const app of started.splice(0)) await admissionOf(app).stop();
    await test.close();
  });

  it('changes no limit: a full bucket is created anew', async () => {
    await onPlan(test, 'free');
    const [key] = drawers(test, 1);
    if (!key) throw new Error('no key');
    // A daemon on PostgreSQL that never joined by a heartbeat assumes company: it draws in the
    // store.
    expect(await drain(test.app, key)).toBe(5);
    expect(await bucketIds()).toHaveLength(2);
    await sweepBuckets(test.app);
    expect(await ask(test.app, key)).toBe(1);
    await test.clock.advance(hourMs + 2);
    await sweepBuckets(test.app);
    expect(await bucketIds()).toEqual([]);
    expect(await drain(test.app, key)).toBe(5);
    // A debt is kept until it is paid.
    await test.clock.advance(hourMs);
    expect(await askBatch(test.app, key, 100)).toBeNull();
    await sweepBuckets(test.app);
    expect(await ask(test.app, key)).toBe(20);
  });

  it('skips a bucket that another daemon locks', async () => {
    await put({ a: { level: 0, ageMs: 2 * hourMs }, b: { level: 0, ageMs: 2 * hourMs } });
    const another = await test.another();
    const lock = sql`select id from rate_buckets where id = 'a' for update`;
    const drawing = await heldWrite(another, (trx) => lock.execute(trx));
    await sweepBuckets(test.app);
    expect(await bucketIds()).toEqual(['a']);
    await drawing.commit();
    await sweepBuckets(test.app);
    expect(await bucketIds()).toEqual([]);
  });
});
