// Channel stats, time series and recipient domains (specification 2.16; contract 13): reads counters
// only, so that it costs the same however many messages there are.
//
// A message belongs to the hour in which it was accepted, and so do its outcomes: a rate never
// compares those of one day with those of another. Each recipient's copy is one in the rates.

import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { ValidationError } from '../errors.ts';
import { getOrganization } from '../organizations/organizations.ts';
import { isoTime } from '../runtime/clock.ts';
import { addTo, dayMs, dayOf, emptyTally, hourMs, metricsOf, type Tally } from './metrics.ts';
import { bucketStarts, type Dates, rangeOf } from './periods.ts';
import { type Range, selectCounters, sumByDomain, sumCounters } from './queries.ts';
import type {
  ChannelStats,
  ChannelStatsQuery,
  DomainStats,
  DomainStatsQuery,
  Timeseries,
  TimeseriesQuery,
} from './schema.ts';

const mostHourDays = 31;

async function rangeFor(
  app: App,
  { organizationId }: Caller,
  dates: Dates,
): Promise<Range & { timezone: string }> {
  const { timezone } = await getOrganization(app, organizationId);
  return { ...rangeOf(dates, timezone, app.clock.now()), timezone };
}

/** 0 where there is nothing to be a part of. */
function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** What became of the messages accepted in the range. @throws ValidationError for a bad range. */
export async function channelStats(
  app: App,
  caller: Caller,
  query: ChannelStatsQuery,
): Promise<ChannelStats> {
  const range = await rangeFor(app, caller, query);
  const sums = await sumCounters(app.store.db, caller.organizationId, range);
  return {
    email: {
      sent: sums.accepted,
      deliveryRate: share(sums.delivered, sums.attempted),
      uniqueOpenedMessages: sums.opened,
      openTrackingEligibleDeliveredMessages: sums.open_eligible,
      uniqueMessageOpenRate: share(sums.opened, sums.open_eligible),
      uniqueClickedMessages: sums.clicked,
      clickTrackingEligibleDeliveredMessages: sums.click_eligible,
      uniqueMessageClickRate: share(sums.clicked, sums.click_eligible),
      bounceRate: share(sums.bounced, sums.attempted),
    },
  };
}

function countsOf(tally: Tally) {
  const { emails, attempted, sent, delivered, bounced, failed, complained } = tally;
  return { emails, attempted, sent, delivered, bounced, failed, complained };
}

/**
 * Mail by day or hour, the oldest first; a bucket without any is there too.
 * @throws ValidationError for a bad range, or one too long for hours.
 */
export async function timeseries(
  app: App,
  caller: Caller,
  query: TimeseriesQuery,
): Promise<Timeseries> {
  const { interval } = query;
  const range = await rangeFor(app, caller, query);
  if (interval === 'hour' && range.to - range.from > mostHourDays * dayMs + hourMs) {
    throw ValidationError.of('startDate', `must lie at most ${mostHourDays} days before the end`);
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

/** Mail by recipient domain, over whole days (UTC). @throws ValidationError for a bad range. */
export async function domainStats(
  app: App,
  caller: Caller,
  query: DomainStatsQuery,
): Promise<DomainStats> {
  const { from, to } = await rangeFor(app, caller, query);
  const days = { from: dayOf(from), to };
  const rows = await sumByDomain(app.store.db, caller.organizationId, days, query.limit);
  return {
    items: rows.map((row) => ({
      domain: row.domain,
      ...countsOf(row),
      deliveryRate: share(row.delivered, row.attempted),
      bounceRate: share(row.bounced, row.attempted),
    })),
  };
}
