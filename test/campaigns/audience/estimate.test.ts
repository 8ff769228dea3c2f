// The estimate of a run under the limits of plan, quota and warming, on both stores.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { estimateRun } from '../../../src/campaigns/audience/estimate.ts';
import { countFates } from '../../../src/campaigns/audience/fates.ts';
import { startWarming } from '../../../src/identity/warming/warming.ts';
import { createContact } from '../../../src/people/contacts/contacts.ts';
import { CapacityError } from '../../../src/platform/errors.ts';
import { OverdueError } from '../../../src/platform/store/aside.ts';
import type { Store } from '../../../src/platform/store/db.ts';
import { provenDomain } from '../../identity/warming/fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { testStart } from '../../support/test-app.ts';

const free = { trialCaps: false, ratePerSecond: 2, dailyEmails: 20 };
const second = 1_000;
const noon = 12 * 3_600 * second;
const day = 24 * 3_600 * second;

describe.each(stores)('the estimate of a run on %s', (store) => {
  const test = eachApp({
    store,
    config: { plans: { free, fast: { ...free, ratePerSecond: null, dailyEmails: null } } },
  });

  async function makeContacts(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const status = i === 0 ? 'archived' : 'active';
      await createContact(test.app, test.caller, {
        email: `u${i}@example.com`,
        tags: ['a'],
        status,
      });
    }
  }
  const onPlan = (plan: string) =>
    test.app.store.write((trx) => sql`update organizations set plan = ${plan}`.execute(trx));
  async function estimate(parts: { domainId?: string; scheduledFor?: number } = {}) {
    const audience = { includeTags: ['a'], excludeTags: [], contactIds: [], groupIds: [] };
    const { organizationId } = test.caller;
    const { total, dispatch, skipped, firstAt, lastAt, limitedBy } = await estimateRun(test.app, {
      ...{ organizationId, audience, unsubscribeGroupId: null },
      ...{ domainId: null, scheduledFor: null, ...parts },
    });
    const sinceStart = (time: string | null) =>
      time === null ? null : Date.parse(time) - testStart;
    return {
      total,
      dispatch,
      archived: skipped.archived,
      times: [sinceStart(firstAt), sinceStart(lastAt)],
      limitedBy,
    };
  }

  it('follows the rate of the plan', async () => {
    await onPlan('free');
    await makeContacts(6);
    const counts = { total: 6, dispatch: 5, archived: 1 };
    expect(await estimate()).toEqual({ ...counts, times: [0, 2 * second], limitedBy: 'rate' });
    const scheduledFor = testStart + day;
    const later = { ...counts, times: [day, day + 2 * second], limitedBy: 'rate' };
    expect(await estimate({ scheduledFor })).toEqual(later);
    await onPlan('fast');
    expect(await estimate()).toEqual({ ...counts, times: [0, 0], limitedBy: null });
  });

  it('continues the next day after the quota of this one', async () => {
    await onPlan('free');
    await makeContacts(23);
    await test.app.store.write((trx) =>
      sql`insert into daily_usage (organization_id, day, shard, emails, messages)
        values (${test.caller.organizationId}, ${testStart - noon}, 0, 19, 19)`.execute(trx),
    );
    // 1 today, 20 tomorrow, 1 on the day after.
    const times = [0, noon + day];
    expect(await estimate()).toMatchObject({ dispatch: 22, times, limitedBy: 'daily-quota' });
  });

  it('continues in the next window of warming', async () => {
    await onPlan('fast');
    await makeContacts(8);
    const domainId = await provenDomain(test.app, test.operator);
    await startWarming(test.app, test.operator, domainId, {
      ...{ identity: 'new', direct: 'count' },
      ...{ initialDailyRecipients: 2, dailyGrowthPercent: 50, targetDailyRecipients: 4 },
    });
    const start = test.clock.now() - testStart;
    await test.app.store.write((trx) =>
      sql`update warming_batches set accepted_recipients = 1 where state = 'open'`.execute(trx),
    );
    // 1 of 2 today, 3 tomorrow, 3 of 4 on the day after.
    const times = [start, start + 2 * day];
    expect(await estimate({ domainId })).toMatchObject({
      dispatch: 7,
      times,
      limitedBy: 'warming',
    });
    expect(await estimate()).toMatchObject({ times: [start, start], limitedBy: null });
  });

  it('has no times while the warming is held', async () => {
    await onPlan('fast');
    await makeContacts(2);
    const domainId = await provenDomain(test.app, test.operator);
    await startWarming(test.app, test.operator, domainId, {
      ...{ identity: 'new', direct: 'count' },
      ...{ initialDailyRecipients: 2, dailyGrowthPercent: 50, targetDailyRecipients: 4 },
    });
    await test.app.store.write((trx) => sql`update warming_plans set status = 'held'`.execute(trx));
    expect(await estimate({ domainId })).toMatchObject({
      times: [null, null],
      limitedBy: 'warming',
    });
  });

  it('answers 503 if counting takes too long', async () => {
    await makeContacts(1);
    const late = { aside: () => Promise.reject(new OverdueError()) } as unknown as Store;
    const audience = {
      includeTags: ['a'],
      excludeTags: [],
      contactIds: [],
      groupIds: [],
      queries: [],
      at: 0,
    };
    const question = {
      organizationId: test.caller.organizationId,
      audience,
      unsubscribeGroupId: null,
    };
    await expect(countFates(late, question)).rejects.toThrow(CapacityError);
  });
});
