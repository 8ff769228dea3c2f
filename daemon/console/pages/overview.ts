// The first page: what waits, what binds, what needs work, and the last 14 days. Each line leads to its page and names
// the command that tells the same.
import { planRoutes } from '../../../src/access/admission/routes.ts';
import { dayIn } from '../../../src/platform/runtime/calendar.ts';
import { barChart } from '../charts.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page } from '../page.ts';
import { type List, link, percent, state } from '../parts.ts';

interface Tile {
  label: string;
  value: Part;
  path: string;
  command: string;
}

const dayMs = 24 * 3600_000;
const days = 14;
const mostLooked = 100;

const counted = (value: number, isMore = false) =>
  `${value.toLocaleString('en')}${isMore ? '+' : ''}`;

/** Counts the messages in a status. */
async function messagesIn({ api }: Asked, status: string, label: string): Promise<Tile> {
  const { pagination } = await api.get<List<object>>('/v1/messages', { limit: 1, status });
  const path = `/messages?status=${status}`;
  return { label, value: counted(pagination?.total ?? 0), path, command: 'svc queue list' };
}

async function proposals({ api }: Asked): Promise<Tile> {
  const asked = { state: 'proposed', limit: mostLooked };
  const { items, nextCursor } = await api.get<List<object>>('/v1/mailbox-actions', asked);
  const value = counted(items.length, Boolean(nextCursor));
  const command = 'svc mailboxes review';
  return { label: 'proposals to review', value, path: '/review', command };
}

/** Counts the items of the first hundred that are not in this status. */
async function others(
  { api }: Asked,
  route: string,
  fine: string,
  tile: Omit<Tile, 'value'>,
): Promise<Tile> {
  const { items, pagination } = await api.get<List<{ status: string }>>(route, {
    limit: mostLooked,
  });
  const isMore = (pagination?.total ?? 0) > mostLooked;
  return { ...tile, value: counted(items.filter(({ status }) => status !== fine).length, isMore) };
}

function tilesOf(asked: Asked): Promise<Tile[]> {
  const { may } = asked;
  const messages = may('messages:read')
    ? [
        messagesIn(asked, 'processing', 'messages under way or waiting'),
        messagesIn(asked, 'scheduled', 'messages scheduled'),
      ]
    : [];
  const domains = { label: 'domains to work on', path: '/domains', command: 'svc domains list' };
  const webhooks = {
    label: 'webhooks not active',
    path: '/webhooks',
    command: 'svc webhooks list',
  };
  return Promise.all([
    ...messages,
    ...(may('mailboxes:read') ? [proposals(asked)] : []),
    ...(may('domains:read') ? [others(asked, '/v1/email/domains', 'verified', domains)] : []),
    ...(may('webhooks:read') ? [others(asked, '/v1/webhooks', 'active', webhooks)] : []),
  ]);
}

/** Draws the limits of the plan, and the one that binds now. */
async function limits({ ask, may }: Asked): Promise<Part> {
  if (!may('organization:read')) return null;
  const { binds, liftedBy, daily, rate, sendingStatus } = await ask(planRoutes.show);
  return together(
    html`<h2>Limits</h2>`,
    html`<p>${state(sendingStatus)} ${binds}</p>`,
    daily &&
      html`<p><label>Emails today: ${counted(daily.usedEmails)} of ${counted(daily.limitEmails)}${' '}
        <progress max=${daily.limitEmails} value=${daily.usedEmails}></progress></label></p>`,
    rate &&
      html`<p>${counted(rate.perSecond)} requests a second, ${counted(rate.burst)} at once.</p>`,
    liftedBy && html`<p class="note">Lifted by <code>${liftedBy}</code></p>`,
    html`<p class="note"><code>${'svc plan show'}</code></p>`,
  );
}

/** Draws the rates of the health window beside the limits that would pause sending. */
async function health({ api, may, config, now, timezone }: Asked): Promise<Part> {
  if (!may('analytics:read')) return null;
  const { windowHours, maxBounceRate, maxComplaintRate } = config.health;
  const asked = { startDate: dayIn(timezone, now - windowHours * 3600_000), interval: 'hour' };
  const { items } = await api.get<Series>('/v1/analytics/timeseries', asked);
  const last = items.slice(-windowHours);
  const sum = (name: 'attempted' | 'bounced' | 'complained') =>
    last.reduce((all, one) => all + one[name], 0);
  const rate = (count: number) => (sum('attempted') === 0 ? null : count / sum('attempted'));
  return together(
    html`<h2>Health of ${windowHours} hours</h2>`,
    html`<p>${percent(rate(sum('bounced')))} bounced (${percent(maxBounceRate)} hard bounces pause sending),
      ${percent(rate(sum('complained')))} complaints (${percent(maxComplaintRate)} pause it).</p>`,
    html`<p class="note"><code>${'svc stats'}</code></p>`,
  );
}

interface Series {
  items: readonly {
    start: string;
    sent: number;
    attempted: number;
    bounced: number;
    complained: number;
  }[];
}

async function lastDays({ api, may, now, timezone }: Asked): Promise<Part> {
  if (!may('analytics:read')) return null;
  const date = (at: number) => dayIn(timezone, at);
  const asked = { startDate: date(now - (days - 1) * dayMs), endDate: date(now), interval: 'day' };
  const { items } = await api.get<Series>('/v1/analytics/timeseries', asked);
  const bars = items.map(({ start, sent }) => ({
    label: dayIn(timezone, Date.parse(start)),
    value: sent,
  }));
  return together(
    barChart('Mail sent, by day', bars),
    html`<p>${link('/usage', 'Rates and usage')}</p>`,
  );
}

async function draw(asked: Asked): Promise<Part> {
  const [tiles, ...parts] = await Promise.all([
    tilesOf(asked),
    lastDays(asked),
    limits(asked),
    health(asked),
  ]);
  return together(
    html`<ul class="tiles">${tiles.map(
      ({ label, value, path, command }) =>
        html`<li><strong>${value}</strong> ${link(path, label)}<br /><code>${command}</code></li>`,
    )}</ul>`,
    ...parts,
    asked.may('messages:send') && html`<p>${link('/messages/new', 'Send a test message')}</p>`,
  );
}

export const overviewPages: readonly Page[] = [
  {
    path: '',
    label: 'Overview',
    needs: null,
    show: async (asked) => ({
      title: 'Overview',
      live: 'exchange',
      body: await draw(asked),
      command: 'svc status',
      ...(asked.may('analytics:read') && { request: 'GET /v1/analytics/timeseries' }),
    }),
  },
];
