// A run from a warming domain by a ledger over days, on both stores: each window takes what direct
// sends leave of it, and its counters add up to the messages.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../../src/campaigns/setup/run-schema.ts';
import {
  cancelWarming,
  getWarming,
  pauseWarming,
  resumeWarming,
  startWarming,
} from '../../../src/identity/warming/warming.ts';
import { moveWindows } from '../../../src/identity/warming/windows.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import {
  dayMs,
  hourMs,
  outcomes,
  provenDomain,
  sendTo,
  warm,
} from '../../identity/warming/fixtures.ts';
import { inLong, stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { makeCampaign, makeContacts, makeRun, readRun, whileWalking } from './fixtures.ts';

const growth = { identity: 'new', initialDailyRecipients: 20, dailyGrowthPercent: 50 } as const;

describe.each(stores)('a run from a warming domain on %s', (store) => {
  const test = eachApp({ store });
  let domainId: string;
  beforeEach(async () => {
    domainId = await provenDomain(test.app, test.operator);
  });

  const begin = (targetDailyRecipients: number) =>
    startWarming(test.app, test.operator, domainId, { ...growth, targetDailyRecipients });
  const read = (run: Run) => readRun(test.app, test.operator, run);
  async function runTo(contacts: number, parts = {}): Promise<Run> {
    await makeContacts(test.app, test.operator, contacts, parts);
    const from = { email: `news@${warm}` };
    const campaignId = await makeCampaign(test.app, test.operator, { from });
    return makeRun(test.app, test.operator, campaignId);
  }
  async function windows() {
    const { batches } = await getWarming(test.app, test.operator, domainId);
    return batches.map(
      ({ allowanceRecipients: allowance, reservedRecipients, acceptedRecipients }) => [
        allowance,
        reservedRecipients,
        acceptedRecipients,
      ],
    );
  }

  // Slow: every minute of each day the walk looks at its due runs.
  const span = inLong(10, 4);
  it(`fills each of ${span} windows beside direct sends`, { timeout: 180_000 }, async () => {
    await begin(2_000);
    const start = test.clock.now();
    // More than all windows of the span take.
    const run = await runTo(inLong(2_400, 300));
    await whileWalking(test.app, async (loop) => {
      for (let hour = 0; hour < span * 24; hour++) {
        await moveWindows(test.app);
        await loop.idle();
        // Direct sends of the middle of the day go beyond a full window.
        if (hour % 24 === 12) await sendTo(test.app, test.operator, 7);
        if (hour % 24 === 23) await sendTo(test.app, test.operator, 3);
        await test.clock.advance(hourMs);
      }
    });
    const ledger = sql<{ at: number; is_run: number; recipients: number }>`
      select created_at as at, case when campaign_run_id is null then 0 else 1 end as is_run,
        delivery_count as recipients
      from messages where sender_domain_id = ${domainId}`;
    const days = Array.from({ length: span }, () => [0, 0]);
    for (const { at, is_run, recipients } of (await ledger.execute(test.app.store.db)).rows) {
      const day = days[Math.floor((at - start) / dayMs)];
      if (day) day[is_run === 1 ? 0 : 1] = (day[is_run === 1 ? 0 : 1] ?? 0) + recipients;
    }
    const allowances = [20, 30, 45, 68, 102, 153, 230, 345, 518, 777].slice(0, span);
    expect(days).toEqual(allowances.map((allowance) => [allowance, 10]));
    expect((await windows()).slice(-span - 1, -1)).toEqual(
      days.map(([runs = 0, direct = 0], index) => [allowances[index], runs, runs + direct]),
    );
    expect(await read(run)).toMatchObject({
      status: 'running',
      dispatchedCount: allowances.reduce((sum, allowance) => sum + allowance, 0),
      waitReason: 'warming',
    });
  });

  it('takes what earlier direct sends left', async () => {
    await begin(2_000);
    await sendTo(test.app, test.operator, 13);
    const run = await runTo(30);
    await whileWalking(test.app, (loop) => loop.idle());
    expect(await read(run)).toMatchObject({
      status: 'running',
      dispatchedCount: 7,
      waitReason: 'warming',
      nextDispatchAt: isoTime(test.clock.now() + dayMs),
    });
    expect((await windows())[0]).toEqual([20, 7, 20]);
  });

  it('counts messages of quiet hours once, when they are made', async () => {
    await begin(2_000);
    const preferences = {
      timezone: 'UTC',
      notifications: { quiet_hours: { start: '11:00', end: '15:00' } },
    };
    const run = await runTo(25, { preferences });
    await whileWalking(test.app, (loop) => loop.idle());
    expect(await read(run)).toMatchObject({ dispatchedCount: 20, waitReason: 'warming' });
    expect((await windows())[0]).toEqual([20, 20, 20]);
  });

  it('is held with its plan and continues with it', async () => {
    await begin(2_000);
    const run = await runTo(30);
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      await outcomes(test.app, test.operator, { attempted: 200, hard_bounced: 7 });
      await test.clock.advance(dayMs);
      await moveWindows(test.app);
      await loop.idle();
      expect(await read(run)).toMatchObject({
        status: 'held',
        holdReason: 'warming-held',
        holdDomainId: domainId,
        dispatchedCount: 20,
      });
      await resumeWarming(test.app, test.operator, domainId, { note: 'a list was cleaned' });
      await test.clock.advance(30_000);
      await loop.idle();
      expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 30 });
    });
  });

  it('waits while a paused plan opens no window', async () => {
    await begin(2_000);
    const run = await runTo(30);
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      await pauseWarming(test.app, test.operator, domainId, {});
      await test.clock.advance(dayMs);
      await moveWindows(test.app);
      await loop.idle();
      expect(await read(run)).toMatchObject({
        status: 'running',
        waitReason: 'warming',
        nextDispatchAt: null,
      });
      await cancelWarming(test.app, test.operator, domainId, {});
      await test.clock.advance(30_000);
      await loop.idle();
      expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 30 });
    });
  });
});
