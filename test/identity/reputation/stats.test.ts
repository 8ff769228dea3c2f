// Usage and channel stats (specification 2.16): cohorts, months, time zones.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { updateOrganization } from '../../../src/access/organizations/organizations.ts';
import {
  domainStatsQuery,
  timeseriesQuery,
  usageQuery,
} from '../../../src/identity/reputation/schema.ts';
import {
  channelStats,
  domainStats,
  getUsage,
  timeseries,
} from '../../../src/identity/reputation/stats.ts';
import { createBlock } from '../../../src/people/blocks/blocks.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import {
  accept,
  complaint,
  late,
  lateBounce,
  many,
  type Outcomes,
  startOutcomes,
} from './fixtures.ts';

const hour = 3_600_000;

describe.each(stores)('stats on %s', (store) => {
  let test: TestApp;
  let outcomes: Outcomes;
  beforeEach(async () => {
    test = await testApp({ store, config: { plans: { tiny: tinyPlan } } });
    outcomes = await startOutcomes(test.app, { relay: true });
  });
  afterEach(async () => {
    await outcomes.close();
    await test.close();
  });

  const tinyPlan = {
    ratePerSecond: null,
    dailyEmails: null,
    trialCaps: false,
    includedEmails: 3,
    overagePerThousand: 0.4,
  };
  const stats = async (dates = {}) => (await channelStats(test.app, test.caller, dates)).email;
  const usage = (query = {}) => getUsage(test.app, test.caller, usageQuery.parse(query));
  const series = (query = {}) => timeseries(test.app, test.caller, timeseriesQuery.parse(query));
  const domains = async (query = {}) =>
    (await domainStats(test.app, test.caller, domainStatsQuery.parse(query))).items;
  /** Lets the pipeline confirm: a query beside it would skip the rows that it has just locked. */
  const confirmAll = async () => {
    await test.clock.advance(241 * 60_000);
    await outcomes.idle();
  };

  it('count every accepted message, with rates over finished attempts', async () => {
    await outcomes.deliver(test.caller, [...many(6, 'ok'), ...many(2, 'dead'), ...many(2, 'wait')]);
    expect(await stats()).toMatchObject({ sent: 10, deliveryRate: 0, bounceRate: 0.25 });
    await confirmAll();
    expect(await stats()).toEqual({
      sent: 10,
      deliveryRate: 0.75,
      uniqueOpenedMessages: 0,
      openTrackingEligibleDeliveredMessages: 0,
      uniqueMessageOpenRate: 0,
      uniqueClickedMessages: 0,
      clickTrackingEligibleDeliveredMessages: 0,
      uniqueMessageClickRate: 0,
      bounceRate: 0.25,
    });
  });

  it('count a blocked address as accepted and failed, but not as attempted', async () => {
    await createBlock(test.app, test.caller, { address: 'ada@example.com', reason: 'manual' });
    await outcomes.deliver(test.caller, ['ada@example.com', ...many(1, 'dead')]);
    expect(await stats()).toMatchObject({ sent: 2, bounceRate: 1 });
    expect(await domains()).toMatchObject([{ emails: 2, attempted: 1, failed: 1, bounced: 1 }]);
  });

  it('assign an outcome to the day of its message, and a late bounce cancels the delivery', async () => {
    const [bounces, complains] = await outcomes.deliver(test.caller, many(2, 'ok'));
    await confirmAll();
    expect(await stats()).toMatchObject({ deliveryRate: 1, bounceRate: 0 });
    test.clock.set(test.clock.now() + 3 * 24 * hour);
    for (const _ of [1, 2]) await late(test.app, bounces?.id ?? '', lateBounce);
    for (const _ of [1, 2]) await late(test.app, complains?.id ?? '', complaint);
    expect(await stats({ startDate: '2026-01-05', endDate: '2026-01-05' })).toMatchObject({
      sent: 2,
      deliveryRate: 0.5,
      bounceRate: 0.5,
    });
    expect(await stats({ startDate: '2026-01-06' })).toMatchObject({ sent: 0, bounceRate: 0 });
    const { items } = await series({ startDate: '2026-01-05' });
    expect(items.map(({ bounced, complained }) => [bounced, complained])).toEqual([
      [1, 1],
      [0, 0],
      [0, 0],
      [0, 0],
    ]);
  });

  it('count each recipient as one email of one message, and a complaint proves the delivery', async () => {
    const [message] = await outcomes.deliver(test.caller, ['ok-1@example.com']);
    await late(test.app, message?.id ?? '', complaint);
    await confirmAll();
    expect((await domains())[0]).toMatchObject({ sent: 1, delivered: 1, complained: 1 });
    expect((await usage()).usage).toMatchObject({ emailCount: 1, totalMessages: 1 });
  });

  it('count simulator mail', async () => {
    await accept(test.app, test.caller, ['delivered@simulator.test']);
    expect(await stats()).toMatchObject({ sent: 1 });
    expect((await usage()).usage.emailCount).toBe(1);
  });

  it('of a month follow UTC and turn at its midnight', async () => {
    await updateOrganization(test.app, 'default', { timezone: 'America/New_York' });
    test.clock.set(Date.UTC(2026, 0, 31, 23, 59, 59, 999));
    await accept(test.app, test.caller, many(2, 'wait'));
    await test.clock.advance(1);
    await accept(test.app, test.caller, many(1, 'wait', 'example.net'));
    expect((await usage({ period: '2026-01' })).usage).toEqual({
      periodStart: '2026-01-01T00:00:00.000Z',
      periodEnd: '2026-02-01T00:00:00.000Z',
      emailCount: 2,
      totalMessages: 2,
    });
    expect((await usage({ period: null })).usage).toEqual({
      periodStart: '2026-02-01T00:00:00.000Z',
      periodEnd: '2026-03-01T00:00:00.000Z',
      emailCount: 1,
      totalMessages: 1,
    });
  });

  it('bill nothing when self-hosted, and the excess over the quota of a plan', async () => {
    await accept(test.app, test.caller, many(5, 'wait'));
    expect((await usage()).billing).toEqual({
      currency: 'USD',
      planName: 'self-hosted',
      includedEmails: null,
      usedEmails: 5,
      overageEmails: 0,
      overageCost: '0',
    });
    await updateOrganization(test.app, 'default', { plan: 'tiny' });
    expect((await usage()).billing).toMatchObject({
      includedEmails: 3,
      overageEmails: 2,
      overageCost: '0.000800',
    });
    await updateOrganization(test.app, 'default', { plan: 'free' });
    expect((await usage()).billing).toMatchObject({
      includedEmails: 31_000,
      overageCost: '0.000000',
    });
  });

  it('follow the days of the time zone, short and long ones too', async () => {
    await updateOrganization(test.app, 'default', { timezone: 'America/New_York' });
    // 2026-03-08 has 23 hours in New York: from 05:00Z until 04:00Z of the next day.
    const times = [
      Date.UTC(2026, 2, 8, 4, 59),
      Date.UTC(2026, 2, 8, 5),
      Date.UTC(2026, 2, 9, 3, 59),
    ];
    for (const time of [...times, Date.UTC(2026, 2, 9, 4)]) {
      // Sets the clock, because the queue polls each minute that passes, which makes days
      // expensive.
      test.clock.set(time);
      await accept(test.app, test.caller, ['wait@example.com']);
    }
    const { items, timezone } = await series({ startDate: '2026-03-07', endDate: '2026-03-09' });
    expect(timezone).toBe('America/New_York');
    expect(items.map(({ start, messages }) => [start, messages])).toEqual([
      ['2026-03-07T05:00:00.000Z', 1],
      ['2026-03-08T05:00:00.000Z', 2],
      ['2026-03-09T04:00:00.000Z', 1],
    ]);
    const hours = await series({
      startDate: '2026-03-08',
      endDate: '2026-03-08',
      interval: 'hour',
    });
    expect(hours.items).toHaveLength(23);
    expect(await stats({ startDate: '2026-03-08', endDate: '2026-03-08' })).toMatchObject({
      sent: 2,
    });
  });

  it('by domain cover the days of the range alone', async () => {
    await accept(test.app, test.caller, many(1, 'wait', 'monday.example'));
    await test.clock.advance(24 * hour);
    await accept(test.app, test.caller, many(1, 'wait', 'tuesday.example'));
    const names = async (query: object) => (await domains(query)).map(({ domain }) => domain);
    const monday = { startDate: '2026-01-05', endDate: '2026-01-05' };
    expect(await names(monday)).toEqual(['monday.example']);
    expect(await names({ startDate: '2026-01-06' })).toEqual(['tuesday.example']);
    expect(await names({})).toEqual(['monday.example', 'tuesday.example']);
  });

  it('by domain list the largest first, and sum up those beyond 200 of a day', async () => {
    const strangers = Array.from({ length: 205 }, (_, index) => `wait@d${index}.example`);
    await outcomes.deliver(test.caller, [...many(3, 'dead'), ...strangers]);
    const items = await domains({ limit: 1_000 });
    expect(items).toHaveLength(201);
    expect(items[0]).toMatchObject({ domain: '*', emails: 6 });
    expect(items[1]).toMatchObject({ domain: 'example.com', emails: 3, bounced: 3, bounceRate: 1 });
    // Another process respects the same limit.
    const another = await test.another();
    await accept(another, test.caller, ['wait@one-more.example', 'wait@d0.example']);
    const after = await domains({ limit: 1_000 });
    expect(after).toHaveLength(201);
    expect(after[0]).toMatchObject({ domain: '*', emails: 7 });
  });

  it.each([
    ['a start after the end', { startDate: '2026-01-03', endDate: '2026-01-01' }, 'endDate'],
    ['more than a year', { startDate: '2024-01-01', endDate: '2026-01-01' }, 'startDate'],
    [
      'more than 31 days by the hour',
      { startDate: '2025-11-01', endDate: '2026-01-01', interval: 'hour' },
      'startDate',
    ],
  ])('refuses %s', async (_name, query, field) => {
    await expect(series(query)).rejects.toMatchObject({
      fieldErrors: { [field]: expect.anything() },
    });
  });
});
