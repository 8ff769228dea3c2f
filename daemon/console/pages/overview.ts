// The first page: what needs work, and the last 14 days.
import { barChart } from '../charts.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page } from '../page.ts';
import { type List, link } from '../parts.ts';

interface Tile {
  label: string;
  value: string;
  path: string;
  command: string;
}

interface Named {
  status: string;
}

const dayMs = 24 * 3600_000;
const days = 14;

/** Counts the items of the first hundred that are not in one of these states. */
function others(list: List<Named>, fine: readonly string[]): number {
  return list.items.filter(({ status }) => !fine.includes(status)).length;
}

async function tilesOf({ api, may }: Asked): Promise<Tile[]> {
  const tiles: Promise<Tile>[] = [];
  if (may('messages:read')) {
    const list = async (): Promise<Tile> => {
      const { pagination } = await api.get<List<object>>('/v1/messages', {
        limit: 1,
        status: 'processing',
      });
      const value = (pagination?.total ?? 0).toLocaleString('en');
      const path = '/messages?status=processing';
      return { label: 'messages under way or waiting', value, path, command: 'svc queue list' };
    };
    tiles.push(list());
  }
  if (may('mailboxes:read')) {
    const list = async (): Promise<Tile> => {
      const found = await api.get<List<object>>('/v1/mailbox-actions', {
        state: 'proposed',
        limit: 100,
      });
      const value = `${found.items.length}${found.nextCursor ? '+' : ''}`;
      return {
        label: 'proposals to review',
        value,
        path: '/review',
        command: 'svc mailboxes review',
      };
    };
    tiles.push(list());
  }
  if (may('domains:read')) {
    const list = async (): Promise<Tile> => {
      const found = await api.get<List<Named>>('/v1/email/domains', { limit: 100 });
      const value = String(others(found, ['verified']));
      return {
        label: 'domains not verified',
        value,
        path: '/domains',
        command: 'svc domains list',
      };
    };
    tiles.push(list());
  }
  if (may('webhooks:read')) {
    const list = async (): Promise<Tile> => {
      const found = await api.get<List<Named>>('/v1/webhooks', { limit: 100 });
      const value = String(others(found, ['active']));
      return {
        label: 'webhooks not active',
        value,
        path: '/webhooks',
        command: 'svc webhooks list',
      };
    };
    tiles.push(list());
  }
  return Promise.all(tiles);
}

interface Series {
  items: readonly { start: string; sent: number }[];
}

async function lastDays({ api, may, now }: Asked): Promise<Part> {
  if (!may('analytics:read')) return null;
  const date = (at: number) => new Date(at).toISOString().slice(0, 10);
  const asked = { startDate: date(now - (days - 1) * dayMs), endDate: date(now), interval: 'day' };
  const { items } = await api.get<Series>('/v1/analytics/timeseries', asked);
  const bars = items.map(({ start, sent }) => ({ label: start.slice(0, 10), value: sent }));
  return together(
    barChart('Mail sent, by day', bars),
    html`<p>${link('/usage', 'Rates and usage')}</p>`,
  );
}

async function draw(asked: Asked): Promise<Part> {
  const [tiles, chart] = await Promise.all([tilesOf(asked), lastDays(asked)]);
  return together(
    html`<ul class="tiles">${tiles.map(
      ({ label, value, path, command }) =>
        html`<li><strong>${value}</strong> ${link(path, label)}<br /><code>${command}</code></li>`,
    )}</ul>`,
    chart,
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
