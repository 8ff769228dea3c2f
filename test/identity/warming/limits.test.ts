// The limits of a warming plan (specification 8.3) by table, its ramp, and the rates that make a
// window unsafe.
import { describe, expect, it } from 'vitest';
import { warmingFindingOf } from '../../../src/identity/reputation/health-finding.ts';
import { firstAllowance, nextAllowance, simulateRamp } from '../../../src/identity/warming/ramp.ts';
import type { Warming } from '../../../src/identity/warming/schema.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { eachApi } from '../../support/each-app.ts';
import { testStart } from '../../support/test-app.ts';
import { provenDomain, ramp } from './fixtures.ts';

type Refusal = { fields?: Record<string, string[]> };

describe('a plan', () => {
  const { test, api } = eachApi();
  const start = async (body: object) => {
    const id = await provenDomain(test.app, test.operator);
    return api.post<Warming & Refusal>(`/v1/email/domains/${id}/warming`, body);
  };

  it.each([
    { initialDailyRecipients: 1 },
    { initialDailyRecipients: 1_000_000, targetDailyRecipients: 1_000_000 },
    { targetDailyRecipients: 1 },
    { targetDailyRecipients: 1_000_000 },
    { dailyGrowthPercent: 0 },
    { dailyGrowthPercent: 10_000 },
    { identity: 'new' },
    { identity: 'migrating' },
    { identity: 'returning' },
  ])('is accepted with %j', async (field) => {
    const { status, body } = await start({ ...ramp, ...field });
    expect(status).toBe(201);
    expect(body.plan).toMatchObject({ ...ramp, ...field });
  });

  it.each([
    { initialDailyRecipients: 0 },
    { initialDailyRecipients: -1 },
    { initialDailyRecipients: 1_000_001 },
    { initialDailyRecipients: 1.5 },
    { initialDailyRecipients: '50' },
    { initialDailyRecipients: null },
    { targetDailyRecipients: 0 },
    { targetDailyRecipients: 1_000_001 },
    { targetDailyRecipients: 2.5 },
    { targetDailyRecipients: 1e300 },
    { dailyGrowthPercent: -1 },
    { dailyGrowthPercent: 10_001 },
    { dailyGrowthPercent: 0.5 },
    { dailyGrowthPercent: true },
    { identity: 'old' },
    { identity: '' },
    { allowanceRecipients: 5 },
  ])('is refused with %j, naming the field', async (field) => {
    const { status, body } = await start({ ...ramp, ...field });
    expect([status, Object.keys(body.fields ?? {})]).toEqual([422, Object.keys(field)]);
  });

  it('is refused without its fields, naming each', async () => {
    const { status, body } = await start({});
    expect([status, Object.keys(body.fields ?? {})]).toEqual([422, Object.keys(ramp)]);
  });
});

describe('the allowance of the next window', () => {
  it.each([
    [100, 10, 1_000_000, 110],
    [1, 1, 1_000_000, 2],
    [7, 50, 1_000_000, 11],
    [50, 30, 5_000, 65],
    [65, 30, 5_000, 85],
    [4_999, 30, 5_000, 5_000],
    [5_000, 30, 5_000, 5_000],
    [1_000, 0, 5_000, 1_000],
    [1, 10_000, 1_000_000, 101],
    [1_000_000, 10_000, 1_000_000, 1_000_000],
  ])('after %i, by %i percent up to %i, is %i', (previous, dailyGrowthPercent, target, next) => {
    const growth = { dailyGrowthPercent, targetDailyRecipients: target };
    expect(nextAllowance(previous, growth)).toBe(next);
  });

  it('is rounded up for any numbers', () => {
    const seed = 16;
    const random = seededRandom(seed);
    const upTo = (most: number) => Math.floor(random.float() * (most + 1));
    for (let i = 0; i < 20_000; i++) {
      const previous = 1 + upTo(999_999);
      const dailyGrowthPercent = upTo(10_000);
      const growth = { dailyGrowthPercent, targetDailyRecipients: Number.MAX_SAFE_INTEGER };
      const exact = (BigInt(previous) * BigInt(100 + dailyGrowthPercent) + 99n) / 100n;
      const what = `seed ${seed}: ${previous} by ${dailyGrowthPercent}`;
      expect([what, BigInt(nextAllowance(previous, growth))]).toEqual([what, exact]);
    }
  });

  it('never exceeds the target, not even the first', () => {
    expect(firstAllowance({ ...ramp, initialDailyRecipients: 900 })).toBe(500);
  });
});

describe('the simulated ramp', () => {
  const allowances = (growth: Partial<typeof ramp>) =>
    simulateRamp({ ...ramp, ...growth }, testStart).windows.map((one) => one.allowanceRecipients);

  it('lists each window with its dates, and the end', () => {
    expect(simulateRamp(ramp, testStart)).toEqual({
      windows: [
        ['2026-01-05T12:00:00.000Z', '2026-01-06T12:00:00.000Z', 100],
        ['2026-01-06T12:00:00.000Z', '2026-01-07T12:00:00.000Z', 200],
        ['2026-01-07T12:00:00.000Z', '2026-01-08T12:00:00.000Z', 400],
        ['2026-01-08T12:00:00.000Z', '2026-01-09T12:00:00.000Z', 500],
      ].map(([startsAt, endsAt, allowanceRecipients], index) => ({
        sequence: index + 1,
        startsAt,
        endsAt,
        allowanceRecipients,
      })),
      completesAt: '2026-01-09T12:00:00.000Z',
    });
  });

  it('is one window where the target is not above the start', () => {
    expect(allowances({ initialDailyRecipients: 500 })).toEqual([500]);
    expect(allowances({ initialDailyRecipients: 600, dailyGrowthPercent: 0 })).toEqual([500]);
  });

  it('is complete at its greatest length', () => {
    const longest = { initialDailyRecipients: 1, dailyGrowthPercent: 1 };
    const { windows, completesAt } = simulateRamp(
      { ...longest, targetDailyRecipients: 1_000_000 },
      testStart,
    );
    expect(windows.at(-1)?.allowanceRecipients).toBe(1_000_000);
    expect([windows.length, completesAt]).toEqual([984, windows.at(-1)?.endsAt]);
  });

  it('is marked as endless without growth', () => {
    const { windows, completesAt } = simulateRamp({ ...ramp, dailyGrowthPercent: 0 }, testStart);
    expect([windows.length, windows.at(-1)?.allowanceRecipients]).toEqual([30, 100]);
    expect(completesAt).toBeNull();
  });
});

describe('a window', () => {
  const limits = {
    windowHours: 24,
    minimumSends: 100,
    maxBounceRate: 0.05,
    maxComplaintRate: 0.003,
  };

  it.each([
    // Columns: sent, bounced, complained.
    [0, 0, 0, null],
    [99, 50, 50, null],
    [100, 4, 1, null],
    [100, 5, 0, 'bounces'],
    [166, 5, 0, 'bounces'],
    [167, 5, 0, null],
    [1_000, 29, 0, null],
    [1_000, 30, 0, 'bounces'],
    [1_000, 0, 1, null],
    [2_000, 0, 2, 'complaints'],
    [2_001, 0, 2, null],
    [2_000, 60, 2, 'bounces'],
  ])(
    'of %i sent, %i bounced, %i complained is unsafe by %s',
    (attempted, bounced, complained, of) => {
      const sums = { attempted, hard_bounced: bounced, complained };
      expect(warmingFindingOf(limits, sums)?.of ?? null).toBe(of);
    },
  );
});
