// Webhooks: endpoints, their deliveries, and the attempts of one.
import { barChart } from '../charts.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page, Titled } from '../page.ts';
import { button, choice, facts, filters, type List, link, state, table, time } from '../parts.ts';

interface Endpoint {
  id: string;
  name: string | null;
  url: string;
  status: string;
  events: readonly string[];
}

interface Posted {
  id: string;
  eventType: string;
  status: string;
  attemptCount: number;
  lastError: string | null;
  createdAt: string;
  attempts?: readonly {
    at: string;
    outcome: string;
    statusCode: number | null;
    response: string | null;
    durationMs: number;
  }[];
}

interface Stats {
  daily: readonly { date: string; delivered: number; exhausted: number }[];
}

const statuses = ['pending', 'delivered', 'exhausted', 'cancelled'];
const endpointPath = ({ params }: Asked) => `/v1/webhooks/${params['id']}`;
const postedPath = (asked: Asked) =>
  `${endpointPath(asked)}/deliveries/${asked.params['deliveryId']}`;

async function one(asked: Asked): Promise<Titled> {
  const { api, query, may } = asked;
  const path = endpointPath(asked);
  const { status, page } = query;
  const [endpoint, stats, deliveries] = await Promise.all([
    api.get<Endpoint>(path),
    api.get<Stats>(`${path}/stats`),
    api.get<List<Posted>>(`${path}/deliveries`, { status, page }),
  ]);
  const body = together(
    may('webhooks:write') &&
      html`<div class="row">${button(asked, { action: 'test', label: 'Post a test event' })}</div>`,
    html`<p>${state(endpoint.status)} <code>${endpoint.url}</code></p>`,
    facts(endpoint, [
      ['Events', 'events'],
      ['Disabled because', 'disabledReason'],
      ['Id', 'id'],
    ]),
    barChart(
      'Delivered events, by day',
      stats.daily.map(({ date, delivered }) => ({ label: date, value: delivered })),
    ),
    filters(choice({ name: 'status', label: 'Status', options: statuses, value: status })),
    table(
      asked,
      deliveries,
      [
        ['Event', ({ id, eventType }) => link(`/webhooks/${asked.params['id']}/${id}`, eventType)],
        ['Status', (posted) => state(posted.status)],
        ['Attempts', ({ attemptCount }) => attemptCount],
        ['Last error', ({ lastError }) => lastError],
        ['Since', ({ createdAt }) => time(createdAt)],
      ],
      'No event was posted yet.',
    ),
  );
  return { title: endpoint.name || endpoint.url, body };
}

async function onePosted(asked: Asked): Promise<Part> {
  const posted = await asked.api.get<Posted>(postedPath(asked));
  return together(
    asked.may('webhooks:write') &&
      html`<div class="row">${button(asked, { action: 'redeliver', label: 'Post it again' })}</div>`,
    facts(posted, [
      ['Event', 'eventType'],
      ['Status', 'status'],
      ['Next attempt', 'nextAttemptAt'],
      ['Last error', 'lastError'],
      ['Id', 'id'],
    ]),
    html`<h2>Attempts</h2>`,
    (posted.attempts ?? []).map(
      ({ at, outcome, statusCode, response, durationMs }) =>
        html`<article class="mail"><p>${time(at)} ${state(outcome)} ${statusCode} <small>${durationMs} ms</small></p><pre>${response}</pre></article>`,
    ),
  );
}

export const webhookPages: readonly Page[] = [
  {
    path: '/webhooks',
    label: 'Webhooks',
    needs: 'webhooks:read',
    async show(asked) {
      const found = await asked.api.get<List<Endpoint>>('/v1/webhooks', {
        page: asked.query['page'],
      });
      return {
        title: 'Webhooks',
        body: table(
          asked,
          found,
          [
            ['Name', ({ id, name, url }) => link(`/webhooks/${id}`, name || url)],
            ['URL', ({ url }) => html`<code>${url}</code>`],
            ['Events', ({ events }) => events.join(', ')],
            ['Status', ({ status }) => state(status)],
          ],
          'There is no endpoint yet: "svc webhooks create" makes one.',
        ),
        command: 'svc webhooks list',
        request: 'GET /v1/webhooks',
      };
    },
  },
  {
    path: '/webhooks/:id',
    needs: 'webhooks:read',
    async show(asked) {
      return {
        ...(await one(asked)),
        live: 'announce',
        command: `svc webhooks deliveries ${asked.params['id']}`,
        request: `GET ${endpointPath(asked)}/deliveries`,
      };
    },
    actions: {
      test: {
        needs: 'webhooks:write',
        async run(asked) {
          await asked.api.send('POST', `${endpointPath(asked)}/test`);
          return `/console/webhooks/${asked.params['id']}`;
        },
      },
    },
  },
  {
    path: '/webhooks/:id/:deliveryId',
    needs: 'webhooks:read',
    show: async (asked) => ({
      title: 'Delivery of an event',
      body: await onePosted(asked),
      request: `GET ${postedPath(asked)}`,
    }),
    actions: {
      redeliver: {
        needs: 'webhooks:write',
        async run(asked) {
          await asked.api.send('POST', `${postedPath(asked)}/redeliver`);
          return `/console/webhooks/${asked.params['id']}/${asked.params['deliveryId']}`;
        },
      },
    },
  },
];
