// The figures of a period beside those of the period before, and the verdict on them.
import { usageRoutes } from '../../../../src/identity/reputation/routes.ts';
import type { ChannelStats, Timeseries } from '../../../../src/identity/reputation/schema.ts';
import { dayIn } from '../../../../src/platform/runtime/calendar.ts';
import type { Asked } from '../../page.ts';
import { share } from '../../parts/times.ts';

type Bucket = Timeseries['items'][number];

/** Periods of the page, by the value of `period` in the query. */
export const periods = {
  '24h': { words: '24 hours', before: 'the 24 hours before', interval: 'hour', count: 24 },
  '7d': { words: '7 days', before: 'the seven days before', interval: 'day', count: 7 },
  '30d': { words: '30 days', before: 'the thirty days before', interval: 'day', count: 30 },
} as const;

export type PeriodName = keyof typeof periods;

/** Returns the chosen period; seven days without a choice. */
export function periodOf(query: Asked['query']): PeriodName {
  const { period = '' } = query;
  return Object.hasOwn(periods, period) ? (period as PeriodName) : '7d';
}

const hourMs = 3600_000;
const dayMs = 24 * hourMs;

export interface Totals {
  /** Accepted emails, waiting ones too. */
  emails: number;
  /** Emails that left, bounced or were given up. */
  attempted: number;
  delivered: number;
  bounced: number;
  /** Emails that bounced or were given up. */
  bad: number;
}

/** Sums buckets. */
export function totalOf(buckets: readonly Bucket[]): Totals {
  const sum = (of: (bucket: Bucket) => number) => buckets.reduce((all, one) => all + of(one), 0);
  return {
    emails: sum(({ emails }) => emails),
    attempted: sum(({ attempted }) => attempted),
    delivered: sum(({ delivered }) => delivered),
    bounced: sum(({ bounced }) => bounced),
    bad: sum(({ bounced, failed }) => bounced + failed),
  };
}

export interface Figures {
  now: readonly Bucket[];
  before: readonly Bucket[];
  opens: ChannelStats['email'];
  opensBefore: ChannelStats['email'];
}

/** Asks for the figures of a period and of the period before. */
export async function figuresOf(asked: Asked, name: PeriodName): Promise<Figures> {
  const { ask, now, timezone } = asked;
  const { interval, count } = periods[name];
  const back = (buckets: number) =>
    interval === 'hour'
      ? new Date(Math.floor(now / hourMs - buckets + 1) * hourMs).toISOString()
      : dayIn(timezone, now - (buckets - 1) * dayMs);
  const [from, before, last] = [back(count), back(2 * count), back(count + 1)];
  const [{ items }, opens, opensBefore] = await Promise.all([
    ask(usageRoutes.timeseries, { query: { startDate: before, interval } }),
    ask(usageRoutes.channels, { query: { startDate: from } }),
    ask(usageRoutes.channels, { query: { startDate: before, endDate: last } }),
  ]);
  return {
    now: items.slice(-count),
    before: items.slice(-2 * count, -count),
    opens: opens.email,
    opensBefore: opensBefore.email,
  };
}

/**
 * Tells whether bounces peaked in a bucket: at least 3 bounces, and a bounce rate of at least 3 %
 * and of at least 1.3 times the rate of the period.
 */
function isPeak({ attempted, bounced }: Bucket, total: Totals): boolean {
  const rate = share(bounced, attempted) ?? 0;
  return bounced >= 3 && rate >= 0.03 && rate >= 1.3 * (share(total.bounced, total.attempted) ?? 0);
}

interface Judged {
  now: readonly Bucket[];
  /** Rate of hard bounces that pauses sending. */
  limit: number;
  isPaused: boolean;
  /** Whether the organization never had mail. */
  isNew: boolean;
  words: string;
  /** Returns the name of a bucket, such as `Friday` or `09:00`. */
  nameOf(bucket: Bucket): string;
}

const fine = 0.97;
const fair = 0.9;

function standing({ emails, attempted, bad }: Totals, words: string): string {
  if (emails === 0) return `No mail left in the last ${words}.`;
  if (attempted === 0) return 'All mail waits: none has left yet.';
  const rate = (attempted - bad) / attempted;
  if (rate >= fine) return 'Mail goes out well.';
  const arrived = `${Math.round(rate * 100)} %`;
  if (rate >= fair) return `Most mail arrives: ${arrived}.`;
  return `Much mail does not arrive: ${arrived} did.`;
}

/** Returns the verdict on a period as one or two sentences. */
export function verdictOn(judged: Judged): string {
  const { now, limit, isPaused, isNew, words, nameOf } = judged;
  if (isPaused) return 'Sending is paused.';
  if (isNew) return 'No mail yet. Send the first one.';
  const total = totalOf(now);
  const sentence = standing(total, words);
  const rate = share(total.bounced, total.attempted) ?? 0;
  if (rate >= limit) return 'Too much mail bounces: sending may pause.';
  const peak = now
    .filter((bucket) => isPeak(bucket, total))
    .toSorted((a, b) => b.bounced - a.bounced)[0];
  return peak ? `${sentence} ${nameOf(peak)} had a bounce peak.` : sentence;
}
