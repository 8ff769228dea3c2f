// The first page: queued mail, the limit in force, open tasks, and the last 14 days. Each line
// leads to a page and names the command that shows the same.
import { planRoutes } from '../../../src/access/admission/routes.ts';
import type { Doorway } from '../../../src/core/api/route.ts';
import { domainRoutes } from '../../../src/identity/domains/routes.ts';
import { usageRoutes } from '../../../src/identity/reputation/routes.ts';
import { mailboxActionRoutes } from '../../../src/inbox/approvals/routes.ts';
import { messageRoutes } from '../../../src/outbound/messages/routes.ts';
import { dayIn } from '../../../src/platform/runtime/calendar.ts';
import { webhookRoutes } from '../../../src/webhooks/routes.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page } from '../page.ts';
import { columnChart } from '../parts/chart.ts';
import { link } from '../parts/link.ts';
import type { List } from '../parts/table.ts';
import { dayInWords, percent } from '../parts/times.ts';
import { state } from '../states.ts';

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
async function messagesIn({ ask }: Asked, status: string, label: string): Promise<Tile> {
  const { pagination } = await ask(messageRoutes.list, { query: { limit: 1, status } });
  const path = `/messages?status=${status}`;
  return { label, value: counted(pagination.total), path, command: 'svc queue list' };
}

async function proposals({ ask }: Asked): Promise<Tile> {
  const query = { state: 'proposed', limit: mostLooked };
  const { items, nextCursor } = await ask(mailboxActionRoutes.listAll, { query });
  const value = counted(items.length, nextCursor !== null);
  const command = 'svc mailboxes review';
  return { label: 'proposals to review', value, path: '/review', command };
}

/** Counts the items, among the first hundred, that have a different status. */
async function others(
  { ask }: Asked,
  route: Doorway<List<{ status: string }>>,
  fine: string,
  tile: Omit<Tile, 'value'>,
): Promise<Tile> {
  const { items, pagination } = await ask(route, { query: { limit: mostLooked } });
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
    ...(may('domains:read') ? [others(asked, domainRoutes.list, 'verified', domains)] : []),
    ...(may('webhooks:read') ? [others(asked, webhookRoutes.list, 'active', webhooks)] : []),
  ]);
}

/** Draws the limits of the plan, and the limit that is in force now. */
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
async function health({ ask, may, config, now, timezone }: Asked): Promise<Part> {
  if (!may('analytics:read')) return null;
  const { windowHours, maxBounceRate, maxComplaintRate } = config.health;
  const query = { startDate: dayIn(timezone, now - windowHours * 3600_000), interval: 'hour' };
  const { items } = await ask(usageRoutes.timeseries, { query });
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

async function lastDays({ ask, may, now, timezone }: Asked): Promise<Part> {
  if (!may('analytics:read')) return null;
  const date = (at: number) => dayIn(timezone, at);
  const query = { startDate: date(now - (days - 1) * dayMs), endDate: date(now), interval: 'day' };
  const { items } = await ask(usageRoutes.timeseries, { query });
  const columns = items.map(({ start, sent }) => {
    const day = dayIn(timezone, Date.parse(start));
    return { label: dayInWords(day, date(now)), shortLabel: day.slice(8), value: sent };
  });
  return together(
    html`<h2>Mail sent, by day</h2>`,
    columnChart({ title: 'Mail sent, by day', columns, words: { value: 'sent' } }),
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
