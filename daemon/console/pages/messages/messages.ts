// The list of messages: people, states and subjects below lines of days, with a row of filters.
import { captorOf } from '../../../../src/outbound/messages/captured.ts';
import { messageRoutes } from '../../../../src/outbound/messages/routes.ts';
import type { Message } from '../../../../src/outbound/messages/schema.ts';
import type { Contact } from '../../../../src/people/contacts/schema.ts';
import { dayAfter, dayIn, startOfDayIn } from '../../../../src/platform/runtime/calendar.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Page, View } from '../../page.ts';
import { filterRow } from '../../parts/filter-row.ts';
import { icon } from '../../parts/icon.ts';
import { link, titleOfMail } from '../../parts/link.ts';
import { emptyState, table } from '../../parts/table.ts';
import { dayInWords, timeOfDay, timeWords } from '../../parts/times.ts';
import { who } from '../../parts/who.ts';
import { messageState } from '../../states.ts';
import { causeLabel } from '../causes.ts';
import { contactsBy, nameOf } from '../people/names.ts';
import { composePage } from './compose.ts';
import { messagePage } from './message.ts';
import type { When } from './verdict.ts';

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
const directions = [
  ['outbound', 'Sent by us'],
  ['inbound', 'Received'],
] as const;

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/**
 * Returns the first or the last instant of a day in the organization's zone; any further text as it
 * is.
 */
function instantOf(zone: string, given: string | undefined, edge: 'first' | 'last') {
  if (!given || !isDay(given)) return given;
  const start = startOfDayIn(zone, edge === 'first' ? given : dayAfter(given));
  return new Date(edge === 'first' ? start : start - 1).toISOString();
}

/** Returns the query of the route for the query of the page: `q` is an address or a subject. */
function wantedOf({ query, timezone }: Pick<Asked, 'query' | 'timezone'>) {
  const { q = '', recipient, subject, startDate, endDate } = query;
  const words = q.trim();
  const isAddress = words.includes('@');
  const { status, sender, direction, tag, conversationId, contactId, page } = query;
  return {
    ...{ status, sender, direction, tag, conversationId, contactId, page },
    recipient: recipient || (isAddress ? words : undefined),
    subject: subject || (isAddress || words === '' ? undefined : words),
    startDate: instantOf(timezone, startDate, 'first'),
    endDate: instantOf(timezone, endDate, 'last'),
  };
}

/**
 * Returns the cause of a failure or deferral, or that mail was captured; empty for all further
 * mail.
 */
function hintOf(
  { deliveries, status }: Pick<Message, 'deliveries' | 'status'>,
  when: When,
): string {
  const bad = deliveries.find((one) => one.status === 'bounced' || one.status === 'failed');
  if (bad) return causeLabel(bad.errorCode);
  const late = deliveries.find(({ attempts }) => attempts.at(-1)?.outcome === 'deferred');
  const next = late?.nextRetryAt ?? late?.scheduling?.dueAt ?? null;
  if (late && status === 'processing') {
    const then = next === null ? '' : `; next try ${when(next)}`;
    return `${causeLabel(late.errorCode)}${then}`;
  }
  return deliveries.some(captorOf) ? 'It stayed on this machine' : '';
}

type Party = { email: string; name: string | null; contactId?: string | null };

/** Returns the person of a message: the first recipient, or the sender of received mail. */
const partyOf = ({ direction, from, to, recipients }: Message): Party =>
  direction === 'inbound' ? from : (to[0] ?? recipients[0] ?? from);

function person(message: Message, contacts: ReadonlyMap<string, Contact>): Part {
  const party = partyOf(message);
  const contact = contacts.get(party.contactId ?? '');
  const known = contact && nameOf(contact);
  const name = party.name ?? (known === party.email ? null : (known ?? null));
  const more = message.direction === 'outbound' ? message.recipients.length - 1 : 0;
  return html`${who({ name, email: party.email })}${more > 0 && html` <small>and ${more} more</small>`}`;
}

function chips({ query }: Asked, contact: Contact | undefined) {
  const linked = (name: string, label: string) => ({ name, label, value: query[name] });
  return [
    {
      ...linked('status', 'State'),
      options: statuses,
    },
    { ...linked('direction', 'Direction'), options: directions },
    linked('sender', 'From'),
    linked('tag', 'Tag'),
    { ...linked('startDate', 'First day'), type: 'date' },
    { ...linked('endDate', 'Last day'), type: 'date' },
    { ...linked('recipient', 'To'), isLinked: true },
    { ...linked('subject', 'Subject'), isLinked: true },
    { ...linked('conversationId', 'Conversation'), isLinked: true },
    {
      ...linked('contactId', 'Contact'),
      ...(contact && { options: [[contact.id, nameOf(contact)] as const] }),
      isLinked: true,
    },
  ];
}

async function show(asked: Asked): Promise<View> {
  const { ask, query, may, timezone, now } = asked;
  const found = await ask(messageRoutes.list, { query: wantedOf(asked) });
  const contacts = await contactsBy(asked, [
    ...found.items.map((one) =>
      partyOf(one).name === null ? (partyOf(one).contactId ?? null) : null,
    ),
    query['contactId'] || null,
  ]);
  const dayOf = ({ createdAt }: Message) =>
    dayInWords(dayIn(timezone, Date.parse(createdAt)), dayIn(timezone, now));
  const isFiltered = Object.keys(query).some((name) => name !== 'page');
  const empty = isFiltered
    ? emptyState(
        'No mail fits these filters.',
        html`<a class="btn" href="/console/messages">Clear all filters</a>`,
      )
    : emptyState(
        'No mail yet. What is sent and received stands here.',
        may('messages:send') &&
          html`<a class="btn" href="/console/messages/new">Send a test mail</a>`,
      );
  const list = table<Message>(
    asked,
    found,
    [
      { head: 'Person', cell: (one) => person(one, contacts) },
      { head: 'State', isPlain: true, cell: (one) => messageState(one, one.deliveries) },
      {
        head: 'Subject',
        isPlain: true,
        cell: (one) => {
          const hint = hintOf(one, (at) => timeWords(asked, at));
          const isBad = one.status === 'bounced' || one.status === 'failed';
          return html`${link(`/messages/${one.id}`, titleOfMail(one.subject))}${hint && html`<br /><small class=${isBad ? 'down' : 'soft'}>${hint}</small>`}`;
        },
      },
      {
        head: 'Time',
        isPlain: true,
        isNumber: true,
        cell: ({ createdAt }) => timeOfDay(createdAt),
      },
    ],
    empty,
    { groupOf: dayOf },
  );
  return {
    title: 'Messages',
    below: 'newest first',
    actions:
      may('messages:send') &&
      html`<a class="btn" href="/console/messages/new">${icon('send')} Send a test mail</a>`,
    live: 'announce',
    body: html`<section class="card" aria-label="List">${together(
      filterRow(asked, {
        search: { name: 'q', label: 'Address, or beginning of the subject' },
        chips: chips(asked, contacts.get(query['contactId'] ?? '')),
      }),
      list,
    )}</section>`,
    command: 'svc messages list',
    request: 'GET /v1/messages',
  };
}

export const messagePages: readonly Page[] = [
  { path: '/messages', needs: 'messages:read', show },
  composePage,
  messagePage,
];
