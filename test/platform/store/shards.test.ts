// Shards of counters: transactions that count at once do not wait for each other, and readers see
// the sum.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { findUsage, usage } from '../../../src/access/admission/queries.ts';
import { countHealth, type HealthObservation } from '../../../src/identity/reputation/health.ts';
import { sumAttemptedByDay, sumHealth } from '../../../src/identity/reputation/health-queries.ts';
import { hourOf } from '../../../src/identity/reputation/metrics.ts';
import {
  breakdownCounts,
  hourCounts,
  selectCountedNames,
  selectCounters,
  sumBy,
} from '../../../src/identity/reputation/queries.ts';
import { dayCounts, sumDayCounts } from '../../../src/outbound/messages/lists/count-queries.ts';
import type { Counter } from '../../../src/platform/store/counter.ts';
import type { Db } from '../../../src/platform/store/db.ts';
import {
  commonShard,
  shardOf,
  shardOfEight,
  shardOfProcess,
} from '../../../src/platform/store/shards.ts';
import { bothStores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const day = 86_400_000;
const range = { from: 0, to: 2 * day };

/** Adds to a counter before the end of the transaction. */
async function addNow<Key extends object, Sums extends object>(
  trx: Db,
  counter: Counter<Key, Sums>,
  key: Key,
  sums: Partial<Sums>,
) {
  const counts = counter.gather();
  counts.add(key, sums);
  await counts.write(trx);
}

let test: TestApp;
afterEach(() => test.close());

describe.each(bothStores)('counts on %s', (store) => {
  it('of several transactions are added up', async () => {
    test = await testApp({ store });
    const { db } = test.app.store;
    const organization_id = 'org_x';
    const message = { organization_id, direction: 'outbound', status: 'sent', day } as const;
    const count = async (trx: Db) => {
      const shard = shardOf(trx);
      const key = { organization_id, bucket_start: day, shard };
      const mail = { accepted: 2, emails: 3 };
      await addNow(trx, usage, { organization_id, day, shard }, { emails: 3, messages: 2 });
      await addNow(trx, hourCounts, key, mail);
      await addNow(trx, breakdownCounts, { ...key, kind: 'domain', name: 'example.com' }, mail);
      await addNow(trx, dayCounts, { ...message, shard: shardOfEight(trx) }, { count: 2 });
    };

    if (store === 'postgres') {
      // The first one is open until the second one has committed.
      await test.app.store.write(async (trx) => {
        await count(trx);
        await test.app.store.write(count);
      });
    } else {
      await test.app.store.write(count);
      await test.app.store.write(count);
    }
    expect(await findUsage(db, [organization_id], day)).toEqual([
      { organization_id, day, emails: 6, messages: 4 },
    ]);
    expect(await selectCounters(db, organization_id, range)).toMatchObject([
      { bucket_start: day, accepted: 4, emails: 6 },
    ]);
    const scope = { organizationId: organization_id, status: 'sent' } as const;
    expect(await sumDayCounts(db, scope)).toBe(4);
    expect(await sumDayCounts(db, { ...scope, from: day, to: 2 * day })).toBe(4);
    expect(await sumDayCounts(db, { ...scope, from: 0, to: day })).toBe(0);
    expect(
      await selectCountedNames(db, { organizationId: organization_id, kind: 'domain', day }, 10),
    ).toEqual(['example.com']);
    expect(await sumBy(db, organization_id, 'domain', range, 10)).toMatchObject([
      { name: 'example.com', accepted: 4, emails: 6 },
    ]);
  });
});

describe('health counters on postgres', () => {
  const shards = async (at: number) => {
    const { rows } = await sql<{ shard: number }>`
      select shard from health_counters where scope = '' and bucket_start = ${at} order by 1`.execute(
      test.app.store.db,
    );
    return rows.map(({ shard }) => shard);
  };

  it('count mail by process, and bounces and complaints in turn', async () => {
    test = await testApp({ store: 'postgres' });
    const { app, clock, caller } = test;
    const { organizationId } = caller;
    const at = hourOf(clock.now());
    const from = { organizationId, sender: null, fromDomain: 'example.com' };
    const add = (counts: HealthObservation['counts']) =>
      app.store.write((trx) => countHealth(app, trx, [{ ...from, counts }]));
    const shard = await app.store.write(async (trx) => shardOfProcess(trx));
    await add({ attempted: 5 });
    expect(await shards(at)).toEqual([shard]);
    await add({ attempted: 1, hard_bounced: 1 });
    await add({ complained: 1 });
    expect(await shards(at)).toEqual([...new Set([commonShard, shard])]);
    const sums = { attempted: 6, hard_bounced: 1, complained: 1 };
    expect(await sumHealth(app.store.db, { organizationId, scope: '', from: at })).toEqual(sums);
    expect(await sumAttemptedByDay(app.store.db, organizationId, [''], at)).toEqual([
      { scope: '', day: Math.floor(at / day), attempted: 6 },
    ]);
  });
});
