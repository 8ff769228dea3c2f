// A delivery of an event to a webhook: the payload, each attempt with its answer, and failures in
// words. The catalogue of events with samples.
import { webhookRoutes } from '../../../src/webhooks/routes.ts';
import type { WebhookDelivery, WebhookDeliveryWithAttempts } from '../../../src/webhooks/schema.ts';
import { eventRoutes } from '../../http/event-kinds.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page, View } from '../page.ts';
import { card, folded, foldedCard } from '../parts/card.ts';
import { facts } from '../parts/facts.ts';
import { button } from '../parts/form.ts';
import { icon } from '../parts/icon.ts';
import { link } from '../parts/link.ts';
import { counted, time } from '../parts/times.ts';
import { state } from '../states.ts';

const steps: Readonly<Record<string, string>> = {
  dns: 'The name of the host was not found',
  'refused-address': 'The address is not allowed',
  connect: 'No connection was possible',
  tls: 'No safe connection was possible',
  timeout: 'No answer came in time',
  response: 'The answer broke off',
};

/** Returns an error such as `status 500: no database` in words. */
export function failureInWords(error: string): string {
  const [kind = '', ...rest] = error.split(': ');
  const text = rest.join(': ');
  const [, status] = kind.split(' ');
  if (status === undefined) return `${steps[kind] ?? kind}${text && `: ${text}`}`;
  const answered = status.startsWith('3')
    ? `The receiver named another address (${status}), which is not followed`
    : `The receiver answered with an error (${status})`;
  return `${answered}${text && `: “${text}”`}`;
}

/** Returns the host of an endpoint, which names an endpoint without a name. */
export const hostOf = (url: string) => new URL(url).host;

type Attempt = WebhookDeliveryWithAttempts['attempts'][number];

function attemptPart({ at, trigger, outcome, statusCode, ...rest }: Attempt): Part {
  const { errorClass, response, durationMs } = rest;
  const isArrived = outcome === 'succeeded';
  const kind = statusCode === null ? (errorClass ?? '') : `status ${statusCode}`;
  const why = isArrived ? `answered with ${statusCode}` : failureInWords(kind);
  const soft = html`${time(at)} · ${why} · ${counted(durationMs)} ms${trigger === 'manual' && ' · by hand'}`;
  const answer =
    response === null ? html`<p class="soft">Nothing.</p>` : html`<pre>${response}</pre>`;
  return folded(isArrived ? 'Arrived' : 'Failed', answer, soft);
}

/** Draws the reason of the last failed attempt. */
export function failurePart({ lastError, updatedAt }: WebhookDelivery, more: Part): Part {
  if (lastError === null) return null;
  return html`<section class="find-out bad" aria-label="The last failure">${icon('warning', 'bad')}
    <p>The last failure was ${time(updatedAt)}. <b>${failureInWords(lastError)}.</b></p>${more}</section>`;
}

/** Returns JSON with indentation; any other text as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function one(asked: Asked): Promise<View> {
  const { ask, params, may } = asked;
  const [delivery, { name, url }] = await Promise.all([
    ask(webhookRoutes.delivery, { params }),
    ask(webhookRoutes.get, { params: { id: params['id'] } }),
  ]);
  const { eventType, status, createdAt, nextAttemptAt, attempts, payload } = delivery;
  const next = nextAttemptAt === null ? null : html` · next attempt ${time(nextAttemptAt)}`;
  return {
    title: eventType,
    heading: html`${eventType} ${state(status)}`,
    crumb: html`${link('/webhooks', 'Webhooks')} / ${link(`/webhooks/${params['id']}`, name || hostOf(url))}`,
    below: html`${time(createdAt)}${next}`,
    actions:
      may('webhooks:write') &&
      button(asked, { action: 'redeliver', label: 'Post it again', isFirst: true }),
    body: together(
      failurePart(delivery, null),
      attempts.length === 0
        ? html`<p class="note">It was not posted yet.</p>`
        : card(
            'Attempts, with the answers',
            html`<div class="folds">${attempts.toReversed().map(attemptPart)}</div>`,
          ),
      foldedCard(
        'Payload',
        html`<pre data-copy="">${indented(payload)}</pre>`,
        'what the receiver gets',
      ),
      foldedCard(
        'For developers',
        facts(delivery, [
          ['Id', 'id'],
          ['Id of the event', 'eventId'],
        ]),
        'ids',
      ),
    ),
    command: `svc webhooks deliveries ${params['id']} ${params['deliveryId']}`,
    request: `GET /v1/webhooks/${params['id']}/deliveries/${params['deliveryId']}`,
  };
}

async function catalogue({ ask }: Asked): Promise<View> {
  const { items } = await ask(eventRoutes.kinds);
  const sample = (shown: object) => html`<pre data-copy="">${JSON.stringify(shown, null, 2)}</pre>`;
  return {
    title: 'Kinds of events',
    below: 'each with a sample of its data',
    body: html`<div class="card folds">${items.map((kind) => folded(kind.type, sample(kind.sample), kind.summary))}</div>`,
    command: 'svc webhooks events',
    request: 'GET /v1/events/kinds',
  };
}

export const eventsPage: Page = {
  path: '/webhooks/events',
  needs: 'webhooks:read',
  show: catalogue,
};

export const deliveryPage: Page = {
  path: '/webhooks/:id/:deliveryId',
  needs: 'webhooks:read',
  show: one,
  actions: {
    redeliver: {
      needs: 'webhooks:write',
      async run({ ask, params, path }) {
        const { outcome } = await ask(webhookRoutes.redeliver, { params });
        const said = outcome === 'succeeded' ? 'It was posted, and arrived.' : 'It failed again.';
        return { to: `/console${path}`, said };
      },
    },
  },
};
