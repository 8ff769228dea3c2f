// Reports: a period beside the period before, mail by day, the rows of a trait such as the
// campaign, and usage and cost of a month.
import { usageRoutes } from '../../../src/identity/reputation/routes.ts';
import type {
  BreakdownStats,
  ChannelStats,
  Timeseries,
} from '../../../src/identity/reputation/schema.ts';
import { breakdownCsv } from '../../../src/identity/reputation/stats.ts';
import { dayAfter, dayIn } from '../../../src/platform/runtime/calendar.ts';
import { type Download, withQuery } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page, View } from '../page.ts';
import { card, folded } from '../parts/card.ts';
import { columnChart } from '../parts/chart.ts';
import { facts } from '../parts/facts.ts';
import { filterRow } from '../parts/filter-row.ts';
import { link } from '../parts/link.ts';
import { table } from '../parts/table.ts';
import { type Tile, tiles } from '../parts/tiles.ts';
import { type Change, change, counted, dayInWords, monthOf, percent } from '../parts/times.ts';

const periods = [7, 30, 90] as const;
const defaultDays = 30;
const dayMs = 86_400_000;

/** Traits of mail, as people say them. */
const traits = {
  campaign: 'By campaign',
  template: 'By template',
  sender: 'By sender',
  domain: 'By receiver',
} as const;
type Trait = keyof typeof traits;

interface Period {
  startDate: string;
  endDate: string;
}

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** Returns the chosen days, by default the last 30, and as many days before. */
function periodsOf({ query, now, timezone }: Asked): { period: Period; before: Period } {
  const today = dayIn(timezone, now);
  const endDate = query['endDate'] || today;
  const asked = periods.find((days) => `${days}` === query['days']) ?? defaultDays;
  const startDate = query['startDate'] || dayAfter(isDay(endDate) ? endDate : today, 1 - asked);
  const period = { startDate, endDate };
  const days = Math.round((Date.parse(endDate) - Date.parse(startDate)) / dayMs) + 1;
  // The route refuses a wrong period, and the page comes back with the fields.
  if (!isDay(startDate) || !isDay(endDate) || days < 1) return { period, before: period };
  const before = { startDate: dayAfter(startDate, -days), endDate: dayAfter(startDate, -1) };
  return { period, before };
}

const traitOf = ({ query }: Asked): Trait =>
  (Object.keys(traits) as Trait[]).find((one) => one === query['by']) ?? 'campaign';

/** Returns the change of a rate in points; more is better unless `isBad`. */
function points(now: number, before: number, isBad = false): Change | undefined {
  const by = Math.round((now - before) * 1000) / 10;
  if (by === 0) return undefined;
  const tone = by > 0 === isBad ? 'down' : 'up';
  return { by: `${by < 0 ? '−' : '+'}${Math.abs(by).toFixed(1)} points`, tone };
}

/** Tells whether any mail was delivered or bounced: without it, rates have no base. */
const isTried = ({
  deliveryRate,
  bounceRate,
}: Pick<ChannelStats['email'], 'deliveryRate' | 'bounceRate'>) => deliveryRate + bounceRate > 0;

function figures({ email: now }: ChannelStats, { email: old }: ChannelStats): Part {
  const rate = (
    label: string,
    field: 'deliveryRate' | 'bounceRate' | 'uniqueMessageOpenRate' | 'uniqueMessageClickRate',
    below: string,
    [isCounted, wasCounted]: readonly [boolean, boolean],
    isBad = false,
  ): Tile => ({
    label,
    value: percent(isCounted ? now[field] : null),
    change: wasCounted ? points(now[field], old[field], isBad) : undefined,
    below,
  });
  const both = (isOf: (stats: ChannelStats['email']) => boolean) => [isOf(now), isOf(old)] as const;
  const tried = both(isTried);
  const opens = both((stats) => stats.openTrackingEligibleDeliveredMessages > 0);
  const clicks = both((stats) => stats.clickTrackingEligibleDeliveredMessages > 0);
  return tiles([
    {
      label: 'Messages',
      value: counted(now.sent),
      change: change(now.sent, old.sent),
      path: '/messages?direction=outbound',
    },
    rate('Delivered', 'deliveryRate', 'of the mail that was tried', tried),
    rate(
      'Opened',
      'uniqueMessageOpenRate',
      `of ${counted(now.openTrackingEligibleDeliveredMessages)} that track opens`,
      opens,
    ),
    rate(
      'Clicked',
      'uniqueMessageClickRate',
      `of ${counted(now.clickTrackingEligibleDeliveredMessages)} that track clicks`,
      clicks,
    ),
    rate('Bounced', 'bounceRate', 'of the mail that was tried', tried, true),
  ]);
}

function chart({ timezone, now }: Asked, series: Timeseries, old: Timeseries): Part {
  const today = dayIn(timezone, now);
  const columns = series.items.map((item, at) => {
    const day = dayIn(timezone, Date.parse(item.start));
    const label = dayInWords(day, today);
    const before = old.items[at];
    return {
      label,
      shortLabel: `${Number(day.slice(8))} ${monthOf(day).slice(0, 3)}`,
      value: item.delivered,
      bad: item.bounced + item.failed,
      ...(before && { before: before.delivered }),
      path: `/messages?direction=outbound&startDate=${day}&endDate=${day}`,
    };
  });
  return columnChart({
    title: 'Mail by day',
    columns,
    words: { value: 'delivered', bad: 'not delivered', before: 'delivered in the period before' },
  });
}

function rows(asked: Asked, found: BreakdownStats, old: BreakdownStats, period: Period): Part {
  const { by, items } = found;
  const before = new Map(old.items.map(({ key, sent }) => [key, sent]));
  const to = (one: Trait) => withQuery('/reports', { ...asked.query, by: one });
  const nameOf = ({ key, name }: BreakdownStats['items'][number]): Part => {
    if (key === '*') return 'All others';
    const paths = { campaign: '/campaigns', template: '/templates', sender: '/senders' };
    if (by === 'domain') return key;
    return name === null
      ? html`<span class="soft" title=${key}>deleted</span>`
      : link(`${paths[by]}/${key}`, name);
  };
  const csv = withQuery(`/reports/csv/${by}`, { ...period });
  return card(
    traits[by],
    together(
      html`<div class="picks"><nav class="seg" aria-label="Rows of the table">${(Object.keys(traits) as Trait[]).map((one) => html`<a href=${`/console${to(one)}`} aria-current=${one === by ? 'true' : undefined}>${traits[one]}</a>`)}</nav></div>`,
      table(
        asked,
        { items },
        [
          { head: traits[by].slice('By '.length), cell: nameOf },
          { head: 'Messages', isNumber: true, cell: ({ sent }) => counted(sent) },
          { head: 'Before', isNumber: true, cell: ({ key }) => counted(before.get(key) ?? 0) },
          {
            head: 'Delivered',
            isNumber: true,
            cell: (one) => percent(isTried(one) ? one.deliveryRate : null),
          },
          {
            head: 'Opened',
            isNumber: true,
            cell: ({ uniqueMessageOpenRate: rate, openTrackingEligibleDeliveredMessages: of }) =>
              percent(of === 0 ? null : rate),
          },
          {
            head: 'Clicked',
            isNumber: true,
            cell: ({ uniqueMessageClickRate: rate, clickTrackingEligibleDeliveredMessages: of }) =>
              percent(of === 0 ? null : rate),
          },
          {
            head: 'Bounced',
            isNumber: true,
            cell: (one) => percent(isTried(one) ? one.bounceRate : null),
          },
        ],
        'No mail of this kind was sent in this period.',
      ),
    ),
    { more: link(csv, 'Save as CSV') },
  );
}

/** Draws usage, quota and cost of a month. */
async function month({ ask, may, query }: Asked): Promise<Part> {
  if (!may('organization:read')) return null;
  const usage = await ask(usageRoutes.usage, { query: { period: query['period'] } });
  const known = facts(usage, [
    ['Begins', 'usage.periodStart'],
    ['Emails', 'usage.emailCount'],
    ['Messages', 'usage.totalMessages'],
    ['Plan', 'billing.planName'],
    ['Included', 'billing.includedEmails'],
    ['Above', 'billing.overageEmails'],
    ['Cost', 'billing.overageCost'],
    ['Currency', 'billing.currency'],
  ]);
  return folded(
    'Usage of the month',
    known,
    `${counted(usage.usage.emailCount)} emails, plan ${usage.billing.planName}`,
  );
}

async function show(asked: Asked): Promise<View> {
  const { ask, query } = asked;
  const { period, before } = periodsOf(asked);
  const by = traitOf(asked);
  const [now, old, series, seriesBefore, found, foundBefore, usage] = await Promise.all([
    ask(usageRoutes.channels, { query: period }),
    ask(usageRoutes.channels, { query: before }),
    ask(usageRoutes.timeseries, { query: { ...period, interval: 'day' } }),
    ask(usageRoutes.timeseries, { query: { ...before, interval: 'day' } }),
    ask(usageRoutes.breakdown, { query: { by, ...period } }),
    ask(usageRoutes.breakdown, { query: { by, ...before } }),
    month(asked),
  ]);
  const today = dayIn(asked.timezone, asked.now);
  const isDays = !query['startDate'] && !query['endDate'];
  const chosen = isDays ? query['days'] || `${defaultDays}` : null;
  const choose = (days: number) =>
    html`<a href=${`/console${withQuery('/reports', { by: query['by'], days })}`} aria-current=${`${days}` === chosen ? 'true' : undefined}>${days} days</a>`;
  const field = (name: 'startDate' | 'endDate', label: string) => ({
    name,
    label,
    type: 'date',
    value: query[name],
  });
  return {
    title: 'Reports',
    below: `${dayInWords(period.startDate, today)} to ${dayInWords(period.endDate, today)}, beside as many days before. Mail counts on the day on which it was accepted.`,
    actions: html`<nav class="seg" aria-label="Period">${periods.map(choose)}</nav>`,
    body: together(
      filterRow(asked, {
        chips: [
          field('startDate', 'From'),
          field('endDate', 'To'),
          { name: 'period', label: 'Month of the usage', value: query['period'] },
        ],
      }),
      figures(now, old),
      card('Mail by day', chart(asked, series, seriesBefore)),
      rows(asked, found, foundBefore, period),
      usage,
    ),
    command: `svc stats --by ${by}`,
    request: `GET /v1/analytics/breakdown?by=${by}`,
  };
}

/** Returns the rows of a trait as a file. */
async function csv({ ask, params, query }: Asked): Promise<Download> {
  const { startDate, endDate } = query;
  const found = await ask(usageRoutes.breakdown, {
    query: { by: params['by'], startDate, endDate },
  });
  return {
    contentType: 'text/csv; charset=utf-8',
    disposition: `attachment; filename="${found.by}.csv"`,
    bytes: breakdownCsv(found),
  };
}

export const reportPages: readonly Page[] = [
  { path: '/reports', needs: 'analytics:read', show },
  { path: '/reports/csv/:by', needs: 'analytics:read', show: csv },
];
