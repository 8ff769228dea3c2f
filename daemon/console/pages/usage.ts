// Rates by day and by recipient domain, and the usage of the month.
import { barChart } from '../charts.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page } from '../page.ts';
import { facts, type List, percent, table } from '../parts.ts';

interface Day {
  start: string;
  sent: number;
  delivered: number;
  bounced: number;
  complained: number;
}

interface ByDomain {
  domain: string;
  sent: number;
  deliveryRate: number | null;
  bounceRate: number | null;
  complained: number;
}

async function draw(asked: Asked): Promise<Part> {
  const { api, may } = asked;
  const [days, domains, usage] = await Promise.all([
    api.get<{ items: readonly Day[] }>('/v1/analytics/timeseries', { interval: 'day' }),
    api.get<List<ByDomain>>('/v1/analytics/domains'),
    may('organization:read') ? api.get('/v1/organizations/usage') : null,
  ]);
  const barsOf = (field: 'sent' | 'delivered' | 'bounced') =>
    days.items.map((day) => ({ label: day.start.slice(0, 10), value: day[field] }));
  return together(
    usage !== null &&
      facts(usage, [
        ['Month', 'usage.periodStart'],
        ['Emails', 'usage.emailCount'],
        ['Plan', 'billing.planName'],
        ['Included', 'billing.includedEmails'],
        ['Above', 'billing.overageEmails'],
        ['Cost', 'billing.overageCost'],
      ]),
    barChart('Sent, by day', barsOf('sent')),
    barChart('Bounced, by day', barsOf('bounced')),
    html`<h2>By recipient domain</h2>`,
    table(
      asked,
      domains,
      [
        ['Domain', ({ domain }) => domain],
        ['Sent', ({ sent }) => sent],
        ['Delivered', ({ deliveryRate }) => percent(deliveryRate)],
        ['Bounced', ({ bounceRate }) => percent(bounceRate)],
        ['Complaints', ({ complained }) => complained],
      ],
      'No mail was sent in this time.',
    ),
  );
}

export const usagePages: readonly Page[] = [
  {
    path: '/usage',
    label: 'Usage',
    needs: 'analytics:read',
    show: async (asked) => ({
      title: 'Usage',
      body: await draw(asked),
      command: 'svc stats',
      request: 'GET /v1/analytics/timeseries',
    }),
  },
];
