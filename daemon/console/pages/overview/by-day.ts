// Mail of a period as columns by day or hour. Each column leads to the messages of its time, and
// campaigns stand as flags on it.
import type { Timeseries } from '../../../../src/identity/reputation/schema.ts';
import { dayIn, wallTimeIn } from '../../../../src/platform/runtime/calendar.ts';
import { withQuery } from '../../api.ts';
import type { Part } from '../../html.ts';
import type { Asked } from '../../page.ts';
import { type ChartColumn, columnChart } from '../../parts/chart.ts';
import type { LatestRun } from '../campaigns/latest-runs.ts';
import { type Figures, type PeriodName, periods } from './figures.ts';

type Bucket = Timeseries['items'][number];
type Zone = Pick<Asked, 'timezone'>;

const parts = new Intl.DateTimeFormat('en', {
  ...{ weekday: 'short', day: 'numeric', month: 'long', timeZone: 'UTC' },
});

/** Returns a day as `Mon 23` and `Mon 23 November`. */
function dayNames(day: string): readonly [short: string, long: string] {
  const found = new Map(
    parts.formatToParts(new Date(`${day}T00:00:00Z`)).map(({ type, value }) => [type, value]),
  );
  const short = `${found.get('weekday')} ${found.get('day')}`;
  return [short, `${short} ${found.get('month')}`];
}

/** Returns the short and the long name of the time of a bucket. */
export function namesOf({ timezone }: Zone, period: PeriodName, start: string) {
  const at = Date.parse(start);
  const [short, long] = dayNames(dayIn(timezone, at));
  if (periods[period].interval === 'day') return [short, long] as const;
  const hour = wallTimeIn(timezone, at).slice(11);
  return [hour, `${long}, ${hour}`] as const;
}

/** Returns the path of the list of sent mail from `start` until before `next`, if given. */
function pathOf(start: string, next: string | undefined): string {
  const endDate = next && new Date(Date.parse(next) - 1).toISOString();
  return withQuery('/messages', { startDate: start, endDate, direction: 'outbound' });
}

/**
 * Returns the name of the first campaign that began within a bucket, with the number of further
 * campaigns; empty without a campaign.
 */
function flagOf(runs: readonly LatestRun[], start: string, next: string | undefined): string {
  const [from, to] = [Date.parse(start), next ? Date.parse(next) : Number.POSITIVE_INFINITY];
  const names = runs.flatMap(({ campaign, run }) => {
    const at = run?.startedAt ? Date.parse(run.startedAt) : Number.NaN;
    return at >= from && at < to ? [campaign.name] : [];
  });
  return names.length > 1 ? `${names[0]} +${names.length - 1}` : (names[0] ?? '');
}

function columnOf(
  zone: Zone,
  period: PeriodName,
  {
    bucket,
    next,
    before,
  }: { bucket: Bucket; next: Bucket | undefined; before: Bucket | undefined },
  runs: readonly LatestRun[],
  hasLinks: boolean,
): ChartColumn {
  const { start, attempted, bounced, failed } = bucket;
  const [shortLabel, label] = namesOf(zone, period, start);
  const flag = flagOf(runs, start, next?.start);
  return {
    label,
    shortLabel,
    value: attempted - bounced - failed,
    bad: bounced + failed,
    ...(before && { before: before.attempted }),
    ...(flag !== '' && { flag }),
    ...(hasLinks && { path: pathOf(start, next?.start) }),
  };
}

/** Draws the mail of a period by day or hour. */
export function byDay(
  asked: Asked,
  period: PeriodName,
  { now, before }: Figures,
  runs: readonly LatestRun[],
): Part {
  const { interval, before: words } = periods[period];
  const hasLinks = asked.may('messages:read');
  const columns = now.map((bucket, at) =>
    columnOf(asked, period, { bucket, next: now[at + 1], before: before[at] }, runs, hasLinks),
  );
  return columnChart({
    title: `Mail sent by ${interval}, against ${words}`,
    columns,
    words: { value: 'sent', bad: 'not delivered', before: 'before' },
  });
}
