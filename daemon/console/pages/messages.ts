// Messages: the list with its filters, one message with its way, and a test message.
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page, Titled } from '../page.ts';
import {
  button,
  choice,
  facts,
  field,
  filters,
  form,
  type List,
  link,
  state,
  table,
  time,
  titleOfMail,
} from '../parts.ts';

interface Address {
  email: string;
  name?: string | null;
}

interface Message {
  id: string;
  direction: 'inbound' | 'outbound';
  status: string;
  from: Address | null;
  to: readonly Address[];
  subject: string | null;
  createdAt: string;
  recipients: readonly { kind: string; email: string; status: string }[];
}

interface Delivery {
  id: string;
  status: string;
  errorMessage: string | null;
  nextRetryAt: string | null;
  attempts: readonly {
    number: number;
    at: string;
    host: string | null;
    outcome: string;
    code: number | null;
    reply: string | null;
    transcript: unknown;
  }[];
}

interface Content {
  text: string | null;
  attachments: readonly { filename: string | null; contentType: string; size: number }[];
  dkimVerdict: string | null;
  spfVerdict: string | null;
  dmarcVerdict: string | null;
  storageUrls?: { raw: string; html: string | null; text: string | null };
}

interface Step {
  eventType: string;
  status: string;
  timestamp: string;
  metadata: unknown;
}

const statuses = [
  'pending',
  'queued',
  'processing',
  'sent',
  'delivered',
  'read',
  'bounced',
  'complained',
  'failed',
  'scheduled',
];
const longestText = 100_000;
const pathOf = ({ params }: Asked) => `/v1/messages/${params['id']}`;

const whoOf = ({ direction, from, to }: Message) =>
  direction === 'inbound'
    ? `← ${from?.email ?? ''}`
    : `→ ${to.map(({ email }) => email).join(', ')}`;

async function list(asked: Asked): Promise<Part> {
  const { api, query } = asked;
  const { status, recipient, sender, subject, direction, page } = query;
  const found = await api.get<List<Message>>('/v1/messages', {
    status,
    recipient,
    sender,
    subject,
    direction,
    page,
  });
  return together(
    filters(html`
      ${field({ name: 'recipient', label: 'Recipient', value: recipient, type: 'search' })}
      ${field({ name: 'sender', label: 'Sender', value: sender, type: 'search' })}
      ${field({ name: 'subject', label: 'Subject', value: subject, type: 'search' })}
      ${choice({ name: 'status', label: 'Status', options: statuses, value: status })}
      ${choice({ name: 'direction', label: 'Direction', options: ['inbound', 'outbound'], value: direction })}
    `),
    table(
      asked,
      found,
      [
        ['Status', ({ status: word }) => state(word)],
        ['Who', (message) => whoOf(message)],
        ['Subject', ({ id, subject: text }) => link(`/messages/${id}`, text || '(no subject)')],
        ['Accepted', ({ createdAt }) => time(createdAt)],
      ],
      'No message fits. "svc messages send" sends one, and so does the page of a test message.',
    ),
  );
}

function preview({ storageUrls, text }: Content): Part {
  const url = storageUrls?.html ?? null;
  const { pathname, search } = new URL(url ?? '/', 'http://self');
  return together(
    url !== null &&
      html`<h2>Preview</h2>
        <iframe class="preview" sandbox="" title="The message as HTML" loading="lazy"
          src=${`${pathname}${search === '' ? '?' : `${search}&`}preview=1`}></iframe>`,
    text !== null && html`<h2>Text</h2><pre>${text.slice(0, longestText)}</pre>`,
  );
}

/** Returns the details of a step as `name: value`. */
function detailsOf(metadata: unknown): string {
  const entries = Object.entries((metadata ?? {}) as object);
  const said = entries.filter(([name, value]) => value !== null && name !== 'deliveryId');
  return said.map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(', ');
}

async function one(asked: Asked): Promise<Titled> {
  const { api, may } = asked;
  const path = pathOf(asked);
  const [message, content, steps, deliveries] = await Promise.all([
    api.get<Message>(path),
    api.get<Content>(`${path}/email`, { includeStorageUrls: true }),
    api.get<readonly Step[]>(`${path}/events`),
    api.get<readonly Delivery[]>(`${path}/deliveries`),
  ]);
  const isWaiting = ['pending', 'queued', 'scheduled'].includes(message.status);
  const body = together(
    html`<div class="row">
      ${may('messages:send') && isWaiting && button(asked, { action: 'cancel', label: 'Cancel' })}
      ${may('messages:send') && message.direction === 'outbound' && button(asked, { action: 'resend', label: 'Send again as new' })}
      ${may('messages:delete') && button(asked, { action: 'delete', label: 'Delete' })}
    </div>`,
    html`<p>${state(message.status)} ${whoOf(message)}</p>`,
    facts(message, [
      ['From', 'from.email'],
      ['To', 'to'],
      ['Accepted', 'createdAt'],
      ['Id', 'id'],
      ['Tags', 'tags'],
      ['Came by', 'origin.via'],
    ]),
    message.recipients.length > 1 &&
      html`<ul>${message.recipients.map(({ kind, email, status }) => html`<li>${kind} ${email}: ${state(status)}</li>`)}</ul>`,
    html`<h2>Timeline</h2>
      <ol class="timeline">
        ${steps.map(
          ({ eventType, timestamp, metadata }) =>
            html`<li>${time(timestamp)} <strong>${eventType}</strong> <small>${detailsOf(metadata)}</small></li>`,
        )}
      </ol>`,
    deliveries.flatMap(({ attempts }) => attempts).length > 0 &&
      html`<h2>Attempts</h2>${deliveries.flatMap(({ attempts }) =>
        attempts.map(
          ({ at, host, outcome, code, reply, transcript }) =>
            html`<details class="mail"><summary>${time(at)} ${state(outcome)} ${host} ${code} ${reply}</summary>
              <pre>${typeof transcript === 'string' ? transcript : JSON.stringify(transcript, null, 2)}</pre></details>`,
        ),
      )}`,
    content.attachments.length > 0 &&
      html`<h2>Attachments</h2><ul>${content.attachments.map(
        ({ filename, contentType, size }) =>
          html`<li>${filename ?? '(no name)'} (${contentType}, ${size.toLocaleString('en')} bytes)</li>`,
      )}</ul>`,
    preview(content),
  );
  return { title: titleOfMail(message.subject), body };
}

async function send({ api }: Asked, given: Form): Promise<string> {
  const { to = '', subject = '', text = '', from = '' } = given;
  const body = {
    channel: 'email',
    to: [{ email: to.trim() }],
    ...(from.trim() !== '' && { from: { email: from.trim() } }),
    email: { subject, text },
  };
  const { id } = await api.send<Message>('POST', '/v1/messages', body);
  return `/console/messages/${id}`;
}

export const messagePages: readonly Page[] = [
  {
    path: '/messages',
    label: 'Messages',
    needs: 'messages:read',
    show: async (asked) => ({
      title: 'Messages',
      live: 'announce',
      body: together(
        asked.may('messages:send') && html`<p>${link('/messages/new', 'Send a test message')}</p>`,
        await list(asked),
      ),
      command: 'svc messages list',
      request: 'GET /v1/messages',
    }),
  },
  {
    path: '/messages/new',
    needs: 'messages:send',
    show: async (asked) => ({
      title: 'Send a test message',
      body: form(
        asked,
        'send',
        'Send',
        html`
        ${field({ name: 'to', label: 'To', value: 'inbox@sandbox.test', isRequired: true, hint: 'delivered@simulator.test and bounced@simulator.test never leave this machine' })}
        ${field({ name: 'from', label: 'From', hint: 'Empty: the default sender' })}
        ${field({ name: 'subject', label: 'Subject', value: 'Hello', isRequired: true })}
        ${field({ name: 'text', label: 'Text', type: 'textarea', value: 'It works.', isRequired: true })}
      `,
      ),
      command: 'svc messages send --to inbox@sandbox.test --subject Hello --text "It works."',
      request: 'POST /v1/messages',
    }),
    actions: { send: { needs: 'messages:send', run: send } },
  },
  {
    path: '/messages/:id',
    needs: 'messages:read',
    show: async (asked) => ({
      ...(await one(asked)),
      live: 'exchange',
      command: `svc messages explain ${asked.params['id']}`,
      request: `GET ${pathOf(asked)}`,
    }),
    actions: {
      cancel: {
        needs: 'messages:send',
        async run(asked) {
          await asked.api.send('POST', `${pathOf(asked)}/cancel`);
          return `/console/messages/${asked.params['id']}`;
        },
      },
      resend: {
        needs: 'messages:send',
        async run(asked) {
          const { id } = await asked.api.send<Message>('POST', `${pathOf(asked)}/resend`, {});
          return `/console/messages/${id}`;
        },
      },
      delete: {
        needs: 'messages:delete',
        async run(asked) {
          await asked.api.send('DELETE', pathOf(asked));
          return '/console/messages';
        },
      },
    },
  },
];
