// The list of messages with filters, and a test message.
import { mailboxRoutes } from '../../../src/identity/mailboxes/routes.ts';
import { messageRoutes } from '../../../src/outbound/messages/routes.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { sendingRoutes } from '../../../src/outbound/sending/routes.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page, View } from '../page.ts';
import { filters } from '../parts/filter-row.ts';
import { choice, field, form } from '../parts/form.ts';
import { link } from '../parts/link.ts';
import { table } from '../parts/table.ts';
import { time } from '../parts/times.ts';
import { written } from '../parts/written.ts';
import { messageState } from '../states.ts';
import { messagePage } from './message.ts';

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
const simulators = [
  'inbox@sandbox.test',
  'delivered@simulator.test',
  'bounced@simulator.test',
  'deferred@simulator.test',
  'complained@simulator.test',
];
const filterNames = [
  'status',
  'recipient',
  'sender',
  'subject',
  'direction',
  'tag',
  'startDate',
  'endDate',
  'conversationId',
  'contactId',
  'page',
];

const whoOf = ({ direction, from, to }: Message) =>
  direction === 'inbound' ? `← ${from.email}` : `→ ${to.map(({ email }) => email).join(', ')}`;

/** Draws a filter that only links from pages outside of the list set. */
const linked = ({ query }: Asked, name: string, label: string): Part =>
  query[name] && field({ name, label, value: query[name] });

async function list(asked: Asked): Promise<Part> {
  const { ask, query } = asked;
  const wanted = Object.fromEntries(filterNames.map((name) => [name, query[name]]));
  const found = await ask(messageRoutes.list, { query: wanted });
  const search = (name: string, label: string, type = 'search') =>
    field({ name, label, value: query[name], type });
  return together(
    filters(html`
      ${search('recipient', 'Recipient')}
      ${search('sender', 'Sender')}
      ${search('subject', 'Subject begins with')}
      ${search('tag', 'Tag')}
      ${choice({ name: 'status', label: 'Status', options: statuses, value: query['status'] })}
      ${choice({ name: 'direction', label: 'Direction', options: ['inbound', 'outbound'], value: query['direction'] })}
      ${search('startDate', 'From', 'date')}
      ${search('endDate', 'To', 'date')}
      ${linked(asked, 'conversationId', 'Conversation')}
      ${linked(asked, 'contactId', 'Contact')}
    `),
    table(
      asked,
      found,
      [
        ['Status', (message) => messageState(message, message.deliveries)],
        ['Who', (message) => whoOf(message)],
        ['Subject', ({ id, subject: text }) => link(`/messages/${id}`, text || '(no subject)')],
        ['Accepted', ({ createdAt }) => time(createdAt)],
      ],
      'No message fits. "svc messages send" sends one, and so does the page of a test message.',
    ),
  );
}

/** Draws the form of a test message. */
async function compose(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, may } = asked;
  const mailboxes = may('mailboxes:read') ? await ask(mailboxRoutes.list) : { items: [] };
  const own = mailboxes.items.flatMap(({ addresses }) => addresses.map(({ address }) => address));
  const { to = 'inbox@sandbox.test', from, subject = 'Hello', text = 'It works.' } = given;
  return {
    title: 'Send a test message',
    body: together(
      problem,
      form(
        asked,
        'send',
        'Send',
        html`
        ${field({ name: 'to', label: 'To', value: to, isRequired: true, offers: [...new Set([...simulators, ...own])], hint: 'Mail to simulator.test and to your own mailboxes never leaves this machine' })}
        ${field({ name: 'from', label: 'From', value: from, hint: 'Empty: the default sender' })}
        ${field({ name: 'subject', label: 'Subject', value: subject, isRequired: true })}
        ${field({ name: 'text', label: 'Text', type: 'textarea', value: text, isRequired: true })}
        ${field({ name: 'html', label: 'HTML', type: 'textarea', value: given['html'] })}
      `,
      ),
    ),
    command: 'svc messages send --to inbox@sandbox.test --subject Hello --text "It works."',
    request: 'POST /v1/messages',
  };
}

async function send({ ask }: Asked, given: Form): Promise<string> {
  const { to = '', subject = '', text = '', from = '', html: page = '' } = given;
  const body = {
    channel: 'email',
    to: [{ email: to.trim() }],
    ...(from.trim() !== '' && { from: { email: from.trim() } }),
    email: { subject, text, ...(page !== '' && { html: page }) },
  };
  const { id } = await ask(sendingRoutes.send, { body });
  return `/console/messages/${id}`;
}

export const messagePages: readonly Page[] = [
  {
    path: '/messages',
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
    show: (asked) => compose(asked, asked.query),
    actions: {
      send: written('messages:send', send, compose),
    },
  },
  messagePage,
];
