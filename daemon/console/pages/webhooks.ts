// Webhook endpoints, the deliveries to them, and the catalogue of events with samples.
import type { Doorway } from '../../../src/core/api/route.ts';
import { webhookRoutes } from '../../../src/webhooks/routes.ts';
import type { Webhook } from '../../../src/webhooks/schema.ts';
import { eventRoutes } from '../../http/event-kinds.ts';
import { html, type Part, together } from '../html.ts';
import type { Action, Asked, Done, Form, Page, View } from '../page.ts';
import { columnChart } from '../parts/chart.ts';
import { confirmed } from '../parts/confirm.ts';
import { facts } from '../parts/facts.ts';
import { filters } from '../parts/filter-row.ts';
import { button, choice, field, form } from '../parts/form.ts';
import { link } from '../parts/link.ts';
import { table } from '../parts/table.ts';
import { counted, percent, time } from '../parts/times.ts';
import { written } from '../parts/written.ts';
import { state } from '../states.ts';

const statuses = ['pending', 'delivered', 'exhausted', 'cancelled'];
const periods = ['7', '30', '90'];
const endpointPath = ({ params }: Asked) => `/v1/webhooks/${params['id']}`;

const wordsIn = (text = '') => text.split(/[\s,]+/).filter((word) => word !== '');

function fieldsOf(given: Form): Part {
  return html`
    ${field({ name: 'url', label: 'URL', type: 'url', value: given['url'], isRequired: true })}
    ${field({ name: 'name', label: 'Name', value: given['name'] })}
    ${field({ name: 'events', label: 'Events', value: given['events'] ?? '*', isRequired: true, hint: 'Kinds and patterns: message.delivered message.* *' })}
  `;
}

const bodyOf = ({ url = '', name = '', events }: Form) => ({
  url: url.trim(),
  name: name.trim() || null,
  events: wordsIn(events),
});

/** Goes on to an endpoint, whose secret is shown once. */
function once({ id, secret }: Webhook): Done {
  const fields = [{ label: 'It signs each post', value: secret ?? '' }];
  return { to: `/console/webhooks/${id}`, secret: { title: 'The secret of the webhook', fields } };
}

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, query, may } = asked;
  const found = await ask(webhookRoutes.list, { query: { page: query['page'] } });
  const body = together(
    problem,
    html`<p>${link('/webhooks/events', 'All kinds of events, with samples')}</p>`,
    table(
      asked,
      found,
      [
        ['Name', ({ id, name, url }) => link(`/webhooks/${id}`, name || url)],
        ['URL', ({ url }) => html`<code>${url}</code>`],
        ['Events', ({ events }) => events.join(', ')],
        ['Status', ({ status }) => state(status)],
      ],
      'There is no endpoint yet: "svc webhooks create" makes one, and so does the form below.',
    ),
    may('webhooks:write') && html`<h2>Make a webhook</h2>`,
    may('webhooks:write') && form(asked, 'make', 'Make the webhook', fieldsOf(given)),
  );
  return { title: 'Webhooks', body, command: 'svc webhooks list', request: 'GET /v1/webhooks' };
}

function controls(asked: Asked, endpoint: Webhook): Part {
  if (endpoint.installationId !== null)
    return html`<p class="note">It belongs to an extension.</p>`;
  const { may } = asked;
  const isActive = endpoint.status === 'active';
  return html`<div class="row">
    ${may('webhooks:write') && button(asked, { action: 'test', label: 'Post a test event' })}
    ${may('webhooks:write') && button(asked, { action: 'status', label: isActive ? 'Disable' : 'Enable', fields: { status: isActive ? 'disabled' : 'active' } })}
    ${may('webhooks:write') && confirmed(asked, { action: 'secret', label: 'Replace the secret', question: 'Make a new secret?', goes: 'The new secret is shown once. The present one signs beside it for 24 hours.', look: '' })}
    ${may('webhooks:delete') && confirmed(asked, { action: 'delete', label: 'Delete', question: `Delete ${endpoint.name || endpoint.url}?`, goes: 'It gets no more events, and its list of posts goes.' })}
  </div>`;
}

/** Draws the forms that change an endpoint and post logged events again. */
function changes(asked: Asked, endpoint: Webhook, given: Form): Part {
  if (!asked.may('webhooks:write') || endpoint.installationId !== null) return null;
  const { name, url, events } = endpoint;
  const values = { url, name: name ?? '', events: events.join(' '), ...given };
  return together(
    html`<details><summary>Change it</summary>${form(asked, 'change', 'Save', fieldsOf(values))}</details>`,
    html`<details><summary>Post logged events again</summary>${form(
      asked,
      'replay',
      'Post them again',
      html`
      ${choice({ name: 'status', label: 'Whose delivery is', options: statuses, value: 'exhausted' })}
      ${field({ name: 'since', label: 'From', type: 'date' })}
      ${field({ name: 'until', label: 'Before', type: 'date' })}
      ${field({ name: 'kinds', label: 'Kinds of events', hint: 'Empty: those of the webhook' })}
    `,
    )}</details>`,
  );
}

type Stats = Awaited<ReturnType<typeof webhookRoutes.stats.run>>;
type Deliveries = Awaited<ReturnType<typeof webhookRoutes.deliveries.run>>;

/** Says how many events arrived, and why the last failed one did not. */
function success({ daily }: Stats, { items }: Deliveries): Part {
  const sum = (name: 'delivered' | 'exhausted') => daily.reduce((all, day) => all + day[name], 0);
  const [delivered, exhausted] = [sum('delivered'), sum('exhausted')];
  const ended = delivered + exhausted;
  if (ended === 0) return html`<p class="soft">No event was posted in this time.</p>`;
  const failed = items.find(({ lastError }) => lastError !== null);
  return html`<p><b>${percent(delivered / ended)}</b> of ${counted(ended)} events arrived.
    ${failed && html`The last trouble, ${time(failed.createdAt)}: ${failed.lastError} ${link(`/webhooks/${failed.endpointId}/${failed.id}`, 'See the answers')}.`}</p>`;
}

async function one(asked: Asked, given: Form = {}, problem: Part = null): Promise<View> {
  const { ask, params } = asked;
  const { status, eventType, since, page, period } = asked.query;
  const [endpoint, stats, deliveries] = await Promise.all([
    ask(webhookRoutes.get, { params }),
    ask(webhookRoutes.stats, { params, query: { period } }),
    ask(webhookRoutes.deliveries, { params, query: { status, eventType, since, page } }),
  ]);
  const body = together(
    problem,
    controls(asked, endpoint),
    html`<p>${state(endpoint.status)} <code>${endpoint.url}</code></p>`,
    facts(endpoint, [
      ['Events', 'events'],
      ['Disabled because', 'disabledReason'],
      ['Id', 'id'],
    ]),
    changes(asked, endpoint, given),
    success(stats, deliveries),
    columnChart({
      title: 'Events by day',
      columns: stats.daily.map(({ date, delivered, exhausted }) => ({
        label: date,
        shortLabel: date.slice(5),
        value: delivered,
        bad: exhausted,
      })),
      words: { value: 'delivered', bad: 'exhausted' },
    }),
    filters(html`
      ${choice({ name: 'status', label: 'Status', options: statuses, value: status })}
      ${field({ name: 'eventType', label: 'Kind of event', value: eventType, type: 'search' })}
      ${field({ name: 'since', label: 'Since', value: since, type: 'date' })}
      ${choice({ name: 'period', label: 'Days in the chart', options: periods, value: period })}
    `),
    table(
      asked,
      deliveries,
      [
        ['Event', ({ id, eventType: type }) => link(`/webhooks/${params['id']}/${id}`, type)],
        ['Status', (posted) => state(posted.status)],
        ['Attempts', ({ attemptCount }) => attemptCount],
        ['Last error', ({ lastError }) => lastError],
        ['Since', ({ createdAt }) => time(createdAt)],
      ],
      'No event fits. A test event shows at once whether the endpoint answers.',
    ),
  );
  return {
    title: endpoint.name || endpoint.url,
    live: 'announce',
    body,
    command: `svc webhooks deliveries ${params['id']}`,
    request: `GET ${endpointPath(asked)}/deliveries`,
  };
}

async function replay(
  { ask, params }: Asked,
  { status, since, until, kinds }: Form,
): Promise<Done> {
  const events = wordsIn(kinds);
  const body = {
    ...(status && { status }),
    ...(since && { since }),
    ...(until && { until }),
    ...(events.length > 0 && { events }),
  };
  const { deliveries, isComplete } = await ask(webhookRoutes.replay, { params, body });
  const more = isComplete ? '' : ' More remain: repeat it when these are done.';
  const said = `${deliveries.toLocaleString('en')} events wait to be posted again.${more}`;
  return { to: `/console/webhooks/${params['id']}`, said };
}

async function onePosted(asked: Asked): Promise<View> {
  const { ask, params, may } = asked;
  const posted = await ask(webhookRoutes.delivery, { params });
  const body = together(
    may('webhooks:write') &&
      html`<div class="row">${button(asked, { action: 'redeliver', label: 'Post it again' })}</div>`,
    facts(posted, [
      ['Event', 'eventType'],
      ['Id of the event', 'eventId'],
      ['Status', 'status'],
      ['Next attempt', 'nextAttemptAt'],
      ['Last error', 'lastError'],
      ['Id', 'id'],
    ]),
    html`<h2>Attempts</h2>`,
    posted.attempts.map(
      ({ at, trigger, outcome, statusCode, response, durationMs }) =>
        html`<article class="mail"><p>${time(at)} ${state(outcome)} ${statusCode} <small>${trigger}, ${durationMs} ms</small></p><pre>${response}</pre></article>`,
    ),
  );
  const request = `GET ${endpointPath(asked)}/deliveries/${params['deliveryId']}`;
  return { title: 'Delivery of an event', body, request };
}

async function catalogue({ ask }: Asked): Promise<View> {
  const { items } = await ask(eventRoutes.kinds);
  const body = items.map(
    ({ type, summary, sample }) =>
      html`<details class="mail"><summary><strong>${type}</strong> ${summary}</summary>
        <pre data-copy="">${JSON.stringify(sample, null, 2)}</pre></details>`,
  );
  return {
    title: 'Kinds of events',
    body,
    command: 'svc webhooks events',
    request: 'GET /v1/events/kinds',
  };
}

const own = ({ params }: Asked) => `/console/webhooks/${params['id']}`;

const act = (way: Doorway, bodyOf?: (given: Form) => object, asks?: string): Action => ({
  needs: 'webhooks:write',
  ...(asks !== undefined && { asks }),
  async run(asked, given) {
    await asked.ask(way, { params: asked.params, body: bodyOf?.(given) });
    return own(asked);
  },
});

export const webhookPages: readonly Page[] = [
  {
    path: '/webhooks',
    needs: 'webhooks:read',
    show: (asked) => list(asked, {}),
    actions: {
      make: written(
        'webhooks:write',
        async ({ ask }, given) => once(await ask(webhookRoutes.create, { body: bodyOf(given) })),
        list,
        'make this webhook',
      ),
    },
  },
  { path: '/webhooks/events', needs: 'webhooks:read', show: catalogue },
  {
    path: '/webhooks/:id',
    needs: 'webhooks:read',
    show: (asked) => one(asked),
    actions: {
      test: act(webhookRoutes.test),
      status: act(webhookRoutes.update, ({ status }) => ({ status }), 'change this webhook'),
      change: written(
        'webhooks:write',
        act(webhookRoutes.update, bodyOf).run,
        one,
        'change this webhook',
      ),
      secret: {
        needs: 'webhooks:write',
        asks: 'make a new secret',
        destroys: true,
        run: async ({ ask, params }) => once(await ask(webhookRoutes.rotateSecret, { params })),
      },
      replay: { needs: 'webhooks:write', run: replay },
      delete: {
        needs: 'webhooks:delete',
        asks: 'delete this webhook',
        destroys: true,
        async run({ ask, params }) {
          await ask(webhookRoutes.delete, { params });
          return { to: '/console/webhooks', said: 'The webhook is deleted.' };
        },
      },
    },
  },
  {
    path: '/webhooks/:id/:deliveryId',
    needs: 'webhooks:read',
    show: onePosted,
    actions: {
      redeliver: {
        needs: 'webhooks:write',
        async run({ ask, params, path }) {
          await ask(webhookRoutes.redeliver, { params });
          return `/console${path}`;
        },
      },
    },
  },
];
