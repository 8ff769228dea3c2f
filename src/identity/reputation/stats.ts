// Channel stats, time series, recipient domains, and usage with the price by month (specification
// 2.16). Reads counters only, so that the cost does not depend on the number of messages.
//
// Outcomes belong to the hour in which their message was accepted, like the message: a rate never
// compares outcomes and mail of different days. In rates each recipient's copy counts as 1.
import { limitsOf, type PlanLimits } from '../../access/admission/plans.ts';
import { sumUsage } from '../../access/admission/queries.ts';
import { getOrganization } from '../../access/organizations/organizations.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { csvRow } from '../../platform/csv/write-csv.ts';
import { ValidationError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { otherNames } from './count.ts';
import { addTo, dayMs, dayOf, emptyTally, hourMs, metricsOf, type Tally } from './metrics.ts';
import { bucketStarts, type Dates, monthOf, rangeOf } from './periods.ts';
import { type Range, selectCounters, sumBy, sumCounters } from './queries.ts';
import type {
  BreakdownQuery,
  BreakdownStats,
  ChannelStats,
  ChannelStatsQuery,
  DomainStats,
  DomainStatsQuery,
  Timeseries,
  TimeseriesQuery,
  Usage,
  UsageQuery,
} from './schema.ts';
import { breakdownOutput } from './schema.ts';

/**
 * Returns the included emails, from the configuration or as the daily quota over the whole month;
 * null without a limit.
 */
function includedEmails({ includedEmails, dailyEmails }: PlanLimits, month: Range): number | null {
  if (includedEmails !== undefined) return includedEmails;
  return dailyEmails === null ? null : dailyEmails * ((month.to - month.from) / dayMs);
}

/**
 * Returns the usage of a month, until now for the current month. Reads at most 31 rows of days and
 * 744 of hours.
 */
export async function getUsage(app: App, caller: Caller, query: UsageQuery): Promise<Usage> {
  const { db } = app.store;
  const { organizationId } = caller;
  const month = monthOf(query.period ?? 'current', app.clock.now());
  const { plan } = await getOrganization(app, organizationId);
  const { emails, messages } = await sumUsage(db, organizationId, month.from, month.to);
  const { inbound } = await sumCounters(db, organizationId, month);
  const limits = limitsOf(app.config, plan);
  const included = includedEmails(limits, month);
  const overageEmails = included === null ? 0 : Math.max(0, emails - included);
  const cost = (overageEmails * (limits.overagePerThousand ?? 0)) / 1_000;
  return {
    usage: {
      periodStart: isoTime(month.from),
      periodEnd: isoTime(month.to),
      emailCount: emails,
      totalMessages: messages + inbound,
    },
    billing: {
      currency: 'USD',
      planName: plan,
      includedEmails: included,
      usedEmails: emails,
      overageEmails,
      overageCost: included === null ? '0' : cost.toFixed(6),
    },
  };
}

const mostHourDays = 31;

async function rangeFor(
  app: App,
  { organizationId }: Caller,
  dates: Dates,
): Promise<Range & { timezone: string }> {
  const { timezone } = await getOrganization(app, organizationId);
  return { ...rangeOf(dates, timezone, app.clock.now()), timezone };
}

/** Returns the fraction of the whole; 0 for an empty whole. */
function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/**
 * Returns the results of messages accepted in the range. @throws ValidationError for a bad range.
 */
export async function channelStats(
  app: App,
  caller: Caller,
  query: ChannelStatsQuery,
): Promise<ChannelStats> {
  const range = await rangeFor(app, caller, query);
  return { email: figuresOf(await sumCounters(app.store.db, caller.organizationId, range)) };
}

function figuresOf(sums: Tally): ChannelStats['email'] {
  return {
    sent: sums.accepted,
    deliveryRate: share(sums.delivered, sums.attempted),
    uniqueOpenedMessages: sums.opened,
    openTrackingEligibleDeliveredMessages: sums.open_eligible,
    uniqueMessageOpenRate: share(sums.opened, sums.open_eligible),
    uniqueClickedMessages: sums.clicked,
    clickTrackingEligibleDeliveredMessages: sums.click_eligible,
    uniqueMessageClickRate: share(sums.clicked, sums.click_eligible),
    bounceRate: share(sums.bounced, sums.attempted),
  };
}

function countsOf(tally: Tally) {
  const { emails, attempted, sent, delivered, bounced, failed, complained } = tally;
  return { emails, attempted, sent, delivered, bounced, failed, complained };
}

/**
 * Returns the counts of mail by day or hour, oldest first, including empty buckets.
 * @throws ValidationError for a bad range, or a range too long for hours.
 */
export async function timeseries(
  app: App,
  caller: Caller,
  query: TimeseriesQuery,
): Promise<Timeseries> {
  const { interval } = query;
  const range = await rangeFor(app, caller, query);
  if (interval === 'hour' && range.to - range.from > mostHourDays * dayMs + hourMs) {
    throw ValidationError.of('startDate', `must be at most ${mostHourDays} days before the end`);
  }
  const rows = await selectCounters(app.store.db, caller.organizationId, range);
  let next = 0;
  const starts = bucketStarts(range, interval, range.timezone);
  const items = starts.map((start, index) => {
    const end = starts[index + 1] ?? range.to;
    const tally = emptyTally();
    for (let row = rows[next]; row && row.bucket_start < end; row = rows[++next])
      addTo(tally, metricsOf(row));
    const { accepted: messages, inbound } = tally;
    return { start: isoTime(start), messages, ...countsOf(tally), inbound };
  });
  return { timezone: range.timezone, interval, items };
}

/**
 * Returns mail by recipient domain, over whole days (UTC). @throws ValidationError for a bad range.
 */
export async function domainStats(
  app: App,
  caller: Caller,
  query: DomainStatsQuery,
): Promise<DomainStats> {
  const { from, to } = await rangeFor(app, caller, query);
  const days = { from: dayOf(from), to };
  const rows = await sumBy(app.store.db, caller.organizationId, 'domain', days, query.limit);
  return {
    items: rows.map((row) => ({
      domain: row.name,
      ...countsOf(row),
      deliveryRate: share(row.delivered, row.attempted),
      bounceRate: share(row.bounced, row.attempted),
    })),
  };
}

const mostRows = 1_000;

/**
 * Returns the results of mail by a trait, over whole days (UTC). @throws ValidationError for a bad
 * range.
 */
export async function breakdown(
  app: App,
  caller: Caller,
  { by, ...dates }: Omit<BreakdownQuery, 'format'>,
): Promise<BreakdownStats> {
  const { db } = app.store;
  const { organizationId } = caller;
  const { from, to } = await rangeFor(app, caller, dates);
  const rows = await sumBy(db, organizationId, by, { from: dayOf(from), to }, mostRows);
  const keys = rows.flatMap(({ name }) => (name === otherNames ? [] : name));
  const names =
    by === 'domain'
      ? new Map(keys.map((key) => [key, key]))
      : await app.hooks.findNames(db, organizationId, by, keys);
  const items = rows.map((row) => {
    return { key: row.name, name: names.get(row.name) ?? null, ...figuresOf(row) };
  });
  return { by, items };
}

/** Formats a breakdown as CSV. The first line has the names of the columns. */
export function breakdownCsv({ items }: BreakdownStats): string {
  const columns = Object.keys(breakdownOutput.shape.items.element.shape);
  const lines = items.map((item) =>
    Object.values(item).map((value) => (value === null ? null : String(value))),
  );
  return [columns, ...lines].map(csvRow).join('');
}
