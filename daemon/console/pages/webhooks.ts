// Webhooks: how many events arrived, why the last failed one did not, and the deliveries.
// webhook-deliveries.ts shows a delivery.
import { dayIn } from '../../../src/platform/runtime/calendar.ts';
import { webhookRoutes } from '../../../src/webhooks/routes.ts';
import type { Webhook, WebhookDelivery, WebhookStats } from '../../../src/webhooks/schema.ts';
import { withQuery } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Done, Form, Page, View } from '../page.ts';
import { calls } from '../parts/calls.ts';
import { card, foldedCard } from '../parts/card.ts';
import { columnChart } from '../parts/chart.ts';
import { confirmed } from '../parts/confirm.ts';
import { facts } from '../parts/facts.ts';
import { filterRow } from '../parts/filter-row.ts';
import { button, choice, field, form } from '../parts/form.ts';
import { icon } from '../parts/icon.ts';
import { link } from '../parts/link.ts';
import { emptyState, table } from '../parts/table.ts';
import { tiles } from '../parts/tiles.ts';
import { counted, dayInWords, percent, time } from '../parts/times.ts';
import { addressPart } from '../parts/who.ts';
import { state } from '../states.ts';
import {
  deliveryPage,
  eventsPage,
  failureInWords,
  failurePart,
  hostOf,
} from './webhook-deliveries.ts';

const statuses = ['pending', 'delivered', 'exhausted', 'cancelled'];
const periods = ['7', '30', '90'];

const wordsIn = (text = '') => text.split(/[\s,]+/).filter((word) => word !== '');

function fieldsOf(given: Form): Part {
  const kinds = html`Kinds and patterns, such as message.delivered message.* · ${link('/webhooks/events', 'all kinds')}`;
  return html`
    ${field({ name: 'url', label: 'URL', type: 'url', value: given['url'], isRequired: true })}
    ${field({ name: 'name', label: 'Name', value: given['name'] })}
    ${field({ name: 'events', label: 'Events', value: given['events'] ?? '*', isRequired: true, hint: kinds })}
  `;
}

const bodyOf = ({ url = '', name = '', events }: Form) => ({
  url: url.trim(),
  name: name.trim() || null,
  events: wordsIn(events),
});

/** Leads to the page of an endpoint, which shows the secret once. */
function once({ id, secret }: Webhook): Done {
  const fields = [{ label: 'It signs each post', value: secret ?? '' }];
  return { to: `/console/webhooks/${id}`, secret: { title: 'The secret of the webhook', fields } };
}

interface Share {
  rate: number | null;
  words: string;
}

/** Returns the share of arrived events in all events that arrived or were given up. */
function shareOf({ delivered, exhausted }: WebhookStats): Share {
  const ended = delivered + exhausted;
  if (ended === 0) return { rate: null, words: 'none posted' };
  return { rate: delivered / ended, words: `${counted(delivered)} of ${counted(ended)}` };
}

function shareCell(stats: WebhookStats): Part {
  const { rate, words } = shareOf(stats);
  return html`${rate !== null && html`<b>${percent(rate)}</b> `}<small>${words}</small>`;
}

async function list(asked: Asked): Promise<View> {
  const { ask, query, may } = asked;
  const found = await ask(webhookRoutes.list, { query: { page: query['page'] } });
  const stats = await Promise.all(
    found.items.map(({ id }) => ask(webhookRoutes.stats, { params: { id }, query: { period: 7 } })),
  );
  const items = found.items.map((item, at) => ({ ...item, stats: stats[at] }));
  return {
    title: 'Webhooks',
    below: 'Programs that get each event as a signed post; shares of the last 7 days',
    actions: link('/webhooks/events', 'Kinds of events'),
    body: together(
      table(
        asked,
        { ...found, items },
        [
          {
            head: 'Webhook',
            cell: ({ id, name, url }) =>
              html`<b>${link(`/webhooks/${id}`, name || hostOf(url))}</b><br /><small>${addressPart(url)}</small>`,
          },
          { head: 'State', isPlain: true, cell: ({ status }) => state(status) },
          { head: 'Events', cell: ({ events }) => (events[0] === '*' ? 'all' : events.join(', ')) },
          {
            head: 'Arrived',
            isNumber: true,
            cell: (item) => item.stats && shareCell(item.stats),
          },
        ],
        'There is no webhook yet.',
      ),
      may('webhooks:write') &&
        foldedCard(
          'Add a webhook',
          form(asked, 'make', 'Add the webhook', fieldsOf({})),
          'a URL of yours gets the events',
          found.items.length === 0,
        ),
    ),
    command: 'svc webhooks list',
    request: 'GET /v1/webhooks',
  };
}

/** Draws the forms that change an endpoint and post logged events again, folded. */
function settings(asked: Asked, endpoint: Webhook): Part {
  const { may } = asked;
  const { name, url, events, installationId, status } = endpoint;
  const ids = facts(endpoint, [
    ['Id', 'id'],
    ['Made', 'createdAt'],
  ]);
  if (installationId !== null)
    return foldedCard('For developers', ids, 'it belongs to an extension');
  const isActive = status === 'active';
  const values = { url, name: name ?? '', events: events.join(' ') };
  const again = html`
    ${choice({
      name: 'status',
      label: 'Which events',
      options: [
        ['exhausted', 'Given up'],
        ['delivered', 'Delivered'],
        ['cancelled', 'Cancelled'],
      ],
      value: 'exhausted',
      empty: 'All',
    })}
    <div class="pair">${field({ name: 'since', label: 'From', type: 'date' })}
    ${field({ name: 'until', label: 'Before', type: 'date' })}</div>
    ${field({ name: 'kinds', label: 'Kinds of events', hint: 'Empty: those of the webhook' })}`;
  const act = html`<div class="row">
    ${may('webhooks:write') && button(asked, { action: 'status', label: isActive ? 'Disable' : 'Enable', fields: { status: isActive ? 'disabled' : 'active' } })}
    ${may('webhooks:write') && confirmed(asked, { action: 'secret', label: 'Replace the secret', question: 'Make a new secret?', goes: 'The new secret is shown once. The present one signs beside it for 24 hours.', look: '' })}
    ${may('webhooks:delete') && confirmed(asked, { action: 'delete', label: 'Delete', question: `Delete ${name || hostOf(url)}?`, goes: 'It gets no more events, and its list of deliveries goes.' })}
  </div>`;
  return together(
    may('webhooks:write') &&
      foldedCard(
        'URL, name and events',
        form(asked, 'change', 'Save', fieldsOf(values)),
        html`<code>${url}</code>`,
      ),
    may('webhooks:write') &&
      foldedCard(
        'Post past events again',
        form(asked, 'replay', 'Post them again', again),
        'such as after a fault of the receiver',
      ),
    foldedCard('Secret and removal', html`${ids}${act}`, 'the secret signs each post'),
  );
}

function figures(stats: WebhookStats, days: string): Part {
  const { delivered, exhausted, pending } = stats;
  const { rate, words } = shareOf(stats);
  if (stats.total === 0) return html`<p class="note">No event was posted in ${days} days.</p>`;
  return tiles([
    {
      label: 'Arrived',
      value: percent(rate),
      below: rate === null ? words : `${words} in ${days} days`,
    },
    { label: 'Delivered', value: counted(delivered) },
    { label: 'Given up', value: counted(exhausted) },
    { label: 'Waiting', value: counted(pending) },
  ]);
}

function byDay({ timezone, now }: Asked, { daily }: WebhookStats): Part {
  const today = dayIn(timezone, now);
  return columnChart({
    title: 'Events by day',
    columns: daily.map(({ date, delivered, exhausted }) => ({
      label: dayInWords(date, today),
      shortLabel: date.slice(5),
      value: delivered,
      bad: exhausted,
    })),
    words: { value: 'delivered', bad: 'given up' },
  });
}

function deliveryList(asked: Asked, found: { items: readonly WebhookDelivery[] }): Part {
  const { params, query } = asked;
  const { status, eventType, since } = query;
  const filtering = filterRow(asked, {
    search: { name: 'eventType', label: 'Kind of event, such as message.bounced' },
    chips: [
      { name: 'status', label: 'State', options: statuses, value: status },
      { name: 'since', label: 'Since', type: 'date', value: since },
    ],
  });
  const rows = table(
    asked,
    found,
    [
      {
        head: 'Event',
        cell: ({ id, eventType: type, lastError }) =>
          html`<b>${link(`/webhooks/${params['id']}/${id}`, type)}</b>${lastError !== null && html`<br /><small>${failureInWords(lastError)}</small>`}`,
      },
      {
        head: 'State',
        isPlain: true,
        cell: ({ status: word, nextAttemptAt }) =>
          html`${state(word)}${nextAttemptAt && html`<br /><small>next ${time(nextAttemptAt)}</small>`}`,
      },
      { head: 'Attempts', isNumber: true, cell: ({ attemptCount }) => attemptCount },
      { head: 'Since', isNumber: true, cell: ({ createdAt }) => time(createdAt) },
    ],
    status || eventType || since
      ? 'No delivery fits.'
      : emptyState(
          'No event was posted yet. A test event shows at once whether the receiver answers.',
        ),
  );
  return card('Deliveries', html`${filtering}${rows}`);
}

/**
 * Returns the delivery with the latest failure, among the newest given-up and pending deliveries.
 */
async function lastFailureOf({ ask, params }: Asked): Promise<WebhookDelivery | undefined> {
  const lists = await Promise.all(
    ['exhausted', 'pending'].map((status) =>
      ask(webhookRoutes.deliveries, { params, query: { status, limit: 10 } }),
    ),
  );
  return lists
    .flatMap(({ items }) => items)
    .filter(({ lastError }) => lastError !== null)
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))[0];
}

async function one(asked: Asked): Promise<View> {
  const { ask, params, may, path, query } = asked;
  const { status, eventType, since, page } = query;
  const period = periods.find((days) => days === query['period']) ?? '7';
  const [endpoint, stats, deliveries, failure] = await Promise.all([
    ask(webhookRoutes.get, { params }),
    ask(webhookRoutes.stats, { params, query: { period } }),
    ask(webhookRoutes.deliveries, { params, query: { status, eventType, since, page } }),
    lastFailureOf(asked),
  ]);
  const { name, url, disabledReason, installationId } = endpoint;
  const isOwn = installationId === null;
  const choices = html`<span class="seg" role="group" aria-label="Time">${periods.map(
    (days) =>
      html`<a href=${`/console${withQuery(path, { period: days })}`} aria-current=${days === period ? 'true' : undefined}>${days} days</a>`,
  )}</span>`;
  return {
    title: name || hostOf(url),
    heading: html`${name || hostOf(url)} ${state(endpoint.status)}`,
    below: addressPart(url),
    actions:
      may('webhooks:write') &&
      isOwn &&
      button(asked, { action: 'test', label: 'Send a test event', isFirst: true }),
    live: 'announce',
    body: together(
      disabledReason !== null &&
        html`<section class="find-out" aria-label="Disabled">${icon('warning')}<p><b>It gets no events.</b> ${disabledReason}</p></section>`,
      failure &&
        failurePart(
          failure,
          html`<span class="row">${link(`/webhooks/${params['id']}/${failure.id}`, 'See the answer')}</span>`,
        ),
      figures(stats, period),
      stats.total > 0 && card('Events by day', byDay(asked, stats), { more: choices }),
      deliveryList(asked, deliveries),
      settings(asked, endpoint),
    ),
    command: `svc webhooks deliveries ${params['id']}`,
    request: `GET /v1/webhooks/${params['id']}/deliveries`,
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
  const said = `${counted(deliveries)} events wait to be posted again.${more}`;
  return { to: `/console/webhooks/${params['id']}`, said };
}

const changing = 'change this webhook';

export const webhookPages: readonly Page[] = [
  {
    path: '/webhooks',
    needs: 'webhooks:read',
    show: list,
    actions: {
      make: {
        needs: 'webhooks:write',
        asks: 'make this webhook',
        run: async ({ ask }, given) =>
          once(await ask(webhookRoutes.create, { body: bodyOf(given) })),
      },
    },
  },
  eventsPage,
  {
    path: '/webhooks/:id',
    needs: 'webhooks:read',
    show: one,
    actions: {
      test: calls(webhookRoutes.test, { said: 'A test event is on its way.' }),
      status: calls(webhookRoutes.update, {
        said: 'Saved.',
        body: ({ status }) => ({ status }),
        asks: changing,
      }),
      change: calls(webhookRoutes.update, { said: 'Saved.', body: bodyOf, asks: changing }),
      secret: {
        needs: 'webhooks:write',
        asks: 'make a new secret',
        destroys: true,
        run: async ({ ask, params }) => once(await ask(webhookRoutes.rotateSecret, { params })),
      },
      replay: { needs: 'webhooks:write', run: replay },
      delete: calls(webhookRoutes.delete, {
        asks: 'delete this webhook',
        destroys: true,
        to: '/webhooks',
        said: 'The webhook is deleted.',
      }),
    },
  },
  deliveryPage,
];
