// A message: the state in sentences, the route, the headers, and the mail as it looks.

import { explainRoutes } from '../../../src/outbound/explain/routes.ts';
import type { RecipientExplanation } from '../../../src/outbound/explain/schema.ts';
import { metadataOf, shownStatus } from '../../../src/outbound/messages/captured.ts';
import type { EmailProjection } from '../../../src/outbound/messages/email-schema.ts';
import { messageRoutes } from '../../../src/outbound/messages/routes.ts';
import type { Delivery, Message, TimelineEvent } from '../../../src/outbound/messages/schema.ts';
import { sendingRoutes } from '../../../src/outbound/sending/routes.ts';
import { withQuery } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page, View } from '../page.ts';
import { parsingErrors } from '../parsing-errors.ts';
import { facts } from '../parts/facts.ts';
import { button } from '../parts/form.ts';
import { link, titleOfMail } from '../parts/link.ts';
import { table } from '../parts/table.ts';
import { time } from '../parts/times.ts';
import { messageState, state } from '../states.ts';

const views = ['html', 'text', 'source'];
const widths = ['whole', '375', '700'];
const looks = ['light', 'dark'];
const longestText = 100_000;
const ownPath = ({ params }: Asked) => `/console/messages/${params['id']}`;

/** Draws the explanation of a recipient. */
function explained(one: RecipientExplanation): Part {
  const { email, kind, status, happened, happenedAt, because, next, help } = one;
  const { remedy, memberRefusals, attempts } = one;
  return html`<article class="mail">
    <p><strong>${email}</strong> ${kind} ${state(shownStatus({ status, metadata: metadataOf(attempts) }))}</p>
    <p>${happened} ${time(happenedAt)} ${because} ${next}</p>
    ${remedy && remedy !== next && html`<p>Remedy: ${remedy}</p>`}
    ${memberRefusals && html`<p class="note">${memberRefusals}</p>`}
    ${help && html`<p class="note">${help.purpose}:</p><pre data-copy="">${help.command}</pre>`}
  </article>`;
}

/** Returns the details of a step as `name: value`. */
function detailsOf(metadata: TimelineEvent['metadata']): string {
  const said = Object.entries(metadata).filter(
    ([name, value]) => value !== null && name !== 'deliveryId',
  );
  return said.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ');
}

function timeline(steps: readonly TimelineEvent[]): Part {
  const lines = steps.map(
    ({ eventType, timestamp, metadata }) =>
      html`<li>${time(timestamp)} <strong>${eventType}</strong> <small>${detailsOf(metadata)}</small></li>`,
  );
  return together(html`<h2>Timeline</h2>`, html`<ol class="timeline">${lines}</ol>`);
}

/** Draws the links that recipients followed, the most followed first. */
function clicks(asked: Asked, steps: readonly TimelineEvent[]): Part {
  const counts = new Map<string, number>();
  for (const { eventType, metadata } of steps) {
    const url = eventType === 'clicked' ? metadata['url'] : null;
    if (typeof url === 'string') counts.set(url, (counts.get(url) ?? 0) + 1);
  }
  if (counts.size === 0) return null;
  const items = [...counts].sort(([, a], [, b]) => b - a);
  return together(
    html`<h2>Followed links</h2>`,
    table(
      asked,
      { items },
      [
        ['Link', ([url]) => html`<code>${url}</code>`],
        ['Clicks', ([, count]) => count],
      ],
      '',
    ),
  );
}

function attempts(deliveries: readonly Delivery[]): Part {
  const all = deliveries.flatMap((delivery) => delivery.attempts);
  if (all.length === 0) return null;
  return together(
    html`<h2>Attempts</h2>`,
    all.map(
      ({ at, host, tls, outcome, code, reply, transcript }) =>
        html`<details class="mail"><summary>${time(at)} ${state(outcome)} ${host} ${code} ${reply} <small>${tls}</small></summary>
          <pre>${transcript ?? 'No transcript was kept.'}</pre></details>`,
    ),
  );
}

function headers(email: EmailProjection): Part {
  return together(
    html`<h2>Headers</h2>`,
    facts(email, [
      ['From', 'fromEmail'],
      ['To', 'toEmails'],
      ['Cc', 'ccEmails'],
      ['Bcc', 'bccEmails'],
      ['Reply-To', 'replyToEmails'],
      ['Message-ID', 'messageIdHeader'],
      ['In-Reply-To', 'inReplyTo'],
      ['References', 'references'],
      ['DKIM', 'dkimVerdict'],
      ['SPF', 'spfVerdict'],
      ['DMARC', 'dmarcVerdict'],
      ['ARC', 'arcVerdict'],
      ['Authentication-Results', 'authenticationResults'],
      ['Answered by itself', 'autoReplyReason'],
      ['Unsubscribe', 'listUnsubscribeUrl'],
    ]),
  );
}

/** Returns the value of a choice in the query; the first choice without a value. */
function chosen({ query }: Asked, name: string, values: readonly string[]): string {
  const [first = ''] = values;
  const value = query[name] ?? first;
  return values.includes(value) ? value : first;
}

function tabs(asked: Asked, name: string, values: readonly string[]): Part {
  const here = chosen(asked, name, values);
  const { query } = asked;
  return values.map((value) => {
    const to = `${ownPath(asked)}${withQuery('', { ...query, [name]: value })}#preview`;
    return html`<a href=${to} aria-current=${value === here ? 'true' : undefined}>${value}</a>`;
  });
}

function cut(text: string | null): Part {
  if (text === null) return html`<p class="empty">The message has none.</p>`;
  const rest = text.length - longestText;
  return together(
    html`<pre>${text.slice(0, longestText)}</pre>`,
    rest > 0 &&
      html`<p class="note">${rest.toLocaleString('en')} more characters are not shown.</p>`,
  );
}

function frame(asked: Asked, url: string | null): Part {
  if (url === null) return cut(null);
  const { pathname } = new URL(url);
  const size = `preview width-${chosen(asked, 'width', widths)} ${chosen(asked, 'look', looks)}`;
  return html`<iframe class=${size} sandbox="" title="The message as HTML" loading="lazy"
    src=${`${pathname}?preview=1`}></iframe>`;
}

function rawPathOf({ storageUrls }: EmailProjection): string | null {
  return storageUrls ? new URL(storageUrls.raw).pathname : null;
}

function preview(asked: Asked, email: EmailProjection): Part {
  const { html: source, text, storageUrls } = email;
  const view = chosen(asked, 'view', views);
  const raw = rawPathOf(email);
  return html`<section id="preview" data-keep="" aria-label="The mail">
    <h2>The mail</h2>
    <nav class="tabs" aria-label="Views of the mail">${tabs(asked, 'view', views)}
      ${raw && html`<a href=${raw}>raw</a>`}
      ${view === 'html' && html`<span>width</span>${tabs(asked, 'width', widths)}<span>look</span>${tabs(asked, 'look', looks)}`}
    </nav>
    ${view === 'html' && frame(asked, storageUrls?.html ?? null)}
    ${view === 'text' && cut(text)}
    ${view === 'source' && cut(source)}
  </section>`;
}

function actions(asked: Asked, { status, direction }: Message): Part {
  const { may } = asked;
  const isWaiting = ['pending', 'queued', 'scheduled', 'processing'].includes(status);
  return html`<div class="row">
    ${may('messages:send') && isWaiting && button(asked, { action: 'cancel', label: 'Cancel' })}
    ${may('messages:send') && direction === 'outbound' && !isWaiting && button(asked, { action: 'resend', label: 'Send again as new' })}
    ${may('messages:delete') && button(asked, { action: 'delete', label: 'Delete' })}
  </div>`;
}

async function show(asked: Asked): Promise<View> {
  const { ask, params, may } = asked;
  // Reads the message first: this decides whether the caller may see the rest.
  const message = await ask(messageRoutes.get, { params });
  const [email, steps, deliveries, explanation] = await Promise.all([
    ask(messageRoutes.email, { params, query: { includeStorageUrls: true } }),
    ask(messageRoutes.events, { params }),
    ask(messageRoutes.deliveries, { params }),
    ask(explainRoutes.message, { params }),
  ]);
  const { conversationId } = message;
  const body = together(
    actions(asked, message),
    html`<p>${messageState(message, deliveries)} ${message.direction === 'outbound' && explanation.summary}</p>`,
    message.direction === 'outbound' && explanation.recipients.map(explained),
    facts(message, [
      ['From', 'from'],
      ['To', 'to'],
      ['Accepted', 'createdAt'],
      ['Id', 'id'],
      ['Tags', 'tags'],
      ['Metadata', 'metadata'],
      ['Template', 'templateId'],
      ['Run of a campaign', 'campaignRunId'],
      ['Came by', 'origin.via'],
    ]),
    conversationId !== null &&
      may('conversations:read') &&
      html`<p>${link(`/conversations/${conversationId}`, 'Its conversation')}</p>`,
    timeline(steps),
    clicks(asked, steps),
    attempts(deliveries),
    parsingErrors(email, rawPathOf(email)),
    preview(asked, email),
    email.attachments.length > 0 && html`<h2>Attachments</h2>`,
    email.attachments.length > 0 &&
      html`<ul>${email.attachments.map(
        ({ filename, contentType, size }) =>
          html`<li>${filename ?? '(no name)'} (${contentType}, ${size.toLocaleString('en')} bytes)</li>`,
      )}</ul>`,
    headers(email),
  );
  return {
    title: titleOfMail(message.subject),
    live: 'exchange',
    about: params['id'],
    body,
    command: `svc messages explain ${params['id']}`,
    request: `GET /v1/messages/${params['id']}`,
  };
}

export const messagePage: Page = {
  path: '/messages/:id',
  needs: 'messages:read',
  show,
  actions: {
    cancel: {
      needs: 'messages:send',
      async run(asked) {
        await asked.ask(sendingRoutes.cancel, { params: asked.params });
        return ownPath(asked);
      },
    },
    resend: {
      needs: 'messages:send',
      async run({ ask, params }) {
        const { id } = await ask(sendingRoutes.resend, { params });
        return `/console/messages/${id}`;
      },
    },
    delete: {
      needs: 'messages:delete',
      async run({ ask, params }) {
        await ask(messageRoutes.delete, { params });
        return '/console/messages';
      },
    },
  },
};
