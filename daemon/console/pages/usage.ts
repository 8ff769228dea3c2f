// Rates by day or hour and by recipient domain, opens and clicks, and usage and cost of a month.
import { usageRoutes } from '../../../src/identity/reputation/routes.ts';
import type { ChannelStats } from '../../../src/identity/reputation/schema.ts';
import { dayIn, wallTimeIn } from '../../../src/platform/runtime/calendar.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page } from '../page.ts';
import { columnChart } from '../parts/chart.ts';
import { facts } from '../parts/facts.ts';
import { filters } from '../parts/filter-row.ts';
import { choice, field } from '../parts/form.ts';
import { table } from '../parts/table.ts';
import { percent } from '../parts/times.ts';

/** Draws the rates over all mail of the period. */
function rates({ email }: ChannelStats): Part {
  const rows: readonly (readonly [string, number, number | null])[] = [
    ['Accepted', email.sent, null],
    ['Delivered', email.sent, email.deliveryRate],
    ['Bounced', email.sent, email.bounceRate],
    ['Opened', email.openTrackingEligibleDeliveredMessages, email.uniqueMessageOpenRate],
    ['Clicked', email.clickTrackingEligibleDeliveredMessages, email.uniqueMessageClickRate],
  ];
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Rates"><table>
    <thead><tr><th scope="col">Of the mail</th><th scope="col">Rate</th><th scope="col">Of how many messages</th></tr></thead>
    <tbody>${rows.map(([name, count, rate]) => html`<tr><th scope="row">${name}</th><td>${percent(rate)}</td><td>${count.toLocaleString('en')}</td></tr>`)}</tbody>
  </table></div>`;
}

/** Draws usage, quota and cost of a month. */
async function month({ ask, may, query }: Asked): Promise<Part> {
  if (!may('organization:read')) return null;
  const usage = await ask(usageRoutes.usage, { query: { period: query['period'] } });
  return together(
    html`<h2>Month</h2>`,
    facts(usage, [
      ['Begins', 'usage.periodStart'],
      ['Emails', 'usage.emailCount'],
      ['Messages', 'usage.totalMessages'],
      ['Plan', 'billing.planName'],
      ['Included', 'billing.includedEmails'],
      ['Above', 'billing.overageEmails'],
      ['Cost', 'billing.overageCost'],
      ['Currency', 'billing.currency'],
    ]),
  );
}

/** Draws mail by day or hour of acceptance. */
async function series({ ask, query, timezone }: Asked): Promise<Part> {
  const { startDate, endDate } = query;
  const interval = query['interval'] || 'day';
  const { items } = await ask(usageRoutes.timeseries, { query: { startDate, endDate, interval } });
  const label = ({ start }: { start: string }) =>
    interval === 'hour'
      ? wallTimeIn(timezone, Date.parse(start))
      : dayIn(timezone, Date.parse(start));
  const named = (one: { start: string }) => ({
    label: label(one),
    shortLabel: label(one).slice(5),
  });
  const sent = items.map((one) => ({
    ...named(one),
    value: one.delivered,
    bad: one.bounced + one.failed,
  }));
  const inbound = items.map((one) => ({ ...named(one), value: one.inbound }));
  const titles = [`Sent mail, by ${interval}`, `Received mail, by ${interval}`] as const;
  return together(
    html`<h2>${titles[0]}</h2>`,
    columnChart({
      title: titles[0],
      columns: sent,
      words: { value: 'delivered', bad: 'not delivered' },
    }),
    html`<h2>${titles[1]}</h2>`,
    columnChart({ title: titles[1], columns: inbound, words: { value: 'received' } }),
  );
}

async function domains(asked: Asked): Promise<Part> {
  const { startDate, endDate } = asked.query;
  const found = await asked.ask(usageRoutes.domains, { query: { startDate, endDate } });
  return together(
    html`<h2>By recipient domain</h2>`,
    table(
      asked,
      found,
      [
        ['Domain', ({ domain }) => domain],
        ['Attempted', ({ attempted }) => attempted.toLocaleString('en')],
        ['Delivered', ({ deliveryRate }) => percent(deliveryRate)],
        ['Bounced', ({ bounceRate }) => percent(bounceRate)],
        ['Complaints', ({ complained }) => complained],
      ],
      'No mail was sent in this time.',
    ),
  );
}

async function draw(asked: Asked): Promise<Part> {
  const { startDate, endDate, interval, period } = asked.query;
  const [chart, channel, byDomain, usage] = await Promise.all([
    series(asked),
    asked.ask(usageRoutes.channels, { query: { startDate, endDate } }),
    domains(asked),
    month(asked),
  ]);
  return together(
    filters(html`
      ${field({ name: 'startDate', label: 'From', value: startDate, type: 'date' })}
      ${field({ name: 'endDate', label: 'To', value: endDate, type: 'date' })}
      ${choice({ name: 'interval', label: 'By', options: ['day', 'hour'], value: interval })}
      ${field({ name: 'period', label: 'Month of the usage', value: period, hint: 'Such as 2026-11' })}
    `),
    chart,
    html`<h2>Rates</h2>`,
    rates(channel),
    byDomain,
    usage,
  );
}

export const usagePages: readonly Page[] = [
  {
    path: '/usage',
    needs: 'analytics:read',
    show: async (asked) => ({
      title: 'Usage',
      body: await draw(asked),
      command: 'svc stats',
      request: 'GET /v1/analytics/timeseries',
    }),
  },
];
