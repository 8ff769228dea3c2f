// Shards of counters: transactions that count at once do not wait for each other, and readers see the sum.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { addUsage, findUsage } from '../../../src/access/admission/queries.ts';
import {
  addHealth,
  type HealthTally,
  sumAttemptedByDay,
  sumHealth,
} from '../../../src/identity/reputation/health-queries.ts';
import { emptyTally } from '../../../src/identity/reputation/metrics.ts';
import {
  addCounters,
  addDomainCounters,
  selectCountedDomains,
  selectCounters,
  sumByDomain,
} from '../../../src/identity/reputation/queries.ts';
import { addDayCounts, sumDayCounts } from '../../../src/outbound/messages/count-queries.ts';
import type { Db } from '../../../src/platform/store/db.ts';
import { shardOf, timeShardOfProcess } from '../../../src/platform/store/shards.ts';
import { bothStores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const day = 86_400_000;
const range = { from: 0, to: 2 * day };

let test: TestApp;
afterEach(() => test.close());

describe.each(bothStores)('counts on %s', (store) => {
  it('of several transactions are added up', async () => {
    test = await testApp({ store });
    const { db } = test.app.store;
    const organization_id = 'org_x';
    const counted = { organization_id, bucket_start: day, ...emptyTally(), accepted: 2, emails: 3 };
    const message = { organization_id, direction: 'outbound', status: 'sent', day } as const;
    const count = async (trx: Db) => {
      const shard = shardOf(trx);
      await addUsage(trx, [{ organization_id, day, shard, emails: 3, messages: 2 }]);
      await addCounters(trx, [counted]);
      await addDomainCounters(trx, [{ ...counted, domain: 'example.com' }]);
      await addDayCounts(trx, [{ ...message, count: 2 }]);
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
    expect(await selectCountedDomains(db, organization_id, day, 10)).toEqual(['example.com']);
    expect(await sumByDomain(db, organization_id, range, 10)).toMatchObject([
      { domain: 'example.com', accepted: 4, emails: 6 },
    ]);
  });
});

describe('health counters on postgres', () => {
  const at = 7 * day;
  const row = { organization_id: 'org_x', scope: '', bucket_start: at };
  const buckets = async () => {
    const { rows } = await sql<{ bucket_start: number }>`
      select bucket_start from health_counters order by 1`.execute(test.app.store.db);
    return rows.map(({ bucket_start }) => bucket_start - at);
  };

  it('count mail by process, and bounces and complaints in turn', async () => {
    test = await testApp({ store: 'postgres' });
    const add = (counts: Partial<HealthTally>) =>
      test.app.store.write((trx) => addHealth(trx, [{ ...row, ...nothing, ...counts }]));
    const nothing = { attempted: 0, hard_bounced: 0, complained: 0 };
    const shard = await test.app.store.write(async (trx) => timeShardOfProcess(trx));
    await add({ attempted: 5 });
    expect(await buckets()).toEqual([shard]);
    await add({ attempted: 1, hard_bounced: 1 });
    await add({ complained: 1 });
    expect(await buckets()).toEqual([...new Set([0, shard])]);
    const window = { organizationId: 'org_x', scope: '', from: at };
    const sums = { attempted: 6, hard_bounced: 1, complained: 1 };
    expect(await sumHealth(test.app.store.db, window)).toEqual(sums);
    expect(await sumAttemptedByDay(test.app.store.db, 'org_x', [''], at)).toEqual([
      { scope: '', day: 7, attempted: 6 },
    ]);
  });
});
