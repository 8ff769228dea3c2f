// Conversations, and a conversation with the messages.
import { messageRoutes } from '../../../../src/outbound/messages/routes.ts';
import { conversationRoutes } from '../../../../src/people/conversations/routes.ts';
import {
  type Conversation,
  createConversationInput,
  conversationStatuses as statuses,
} from '../../../../src/people/conversations/schema.ts';
import { withQuery } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { facts } from '../../parts/facts.ts';
import { filters } from '../../parts/filter-row.ts';
import { addressesIn, button, choice, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { written } from '../../parts/written.ts';
import { state } from '../../states.ts';

const urgencies = createConversationInput.shape.urgency.unwrap().options;
const filterNames = ['status', 'tag', 'externalId', 'contactId', 'page'];

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, query, may } = asked;
  const wanted = Object.fromEntries(filterNames.map((name) => [name, query[name]]));
  const found = await ask(conversationRoutes.list, { query: wanted });
  const line = (name: string, label: string) => field({ name, label, value: query[name] });
  const typed = (name: string, label: string, hint = '') =>
    field({ name, label, value: given[name], hint });
  const body = together(
    problem,
    filters(html`
      ${choice({ name: 'status', label: 'Status', options: statuses, value: query['status'] })}
      ${line('tag', 'Tag')}
      ${line('externalId', 'External id')}
      ${line('contactId', 'Contact')}
    `),
    table(
      asked,
      found,
      [
        ['Title', ({ id, title }) => link(`/conversations/${id}`, title || id.slice(-8))],
        ['Status', ({ status }) => state(status)],
        ['Tags', ({ tags }) => tags.join(', ')],
        ['Messages', ({ messageCount }) => messageCount],
        ['Last', ({ lastActivityAt }) => lastActivityAt && time(lastActivityAt)],
      ],
      'No conversation fits: "svc conversations create" makes one.',
    ),
    may('conversations:write') &&
      html`<details open=${problem !== null}><summary>Make a conversation</summary>${form(
        asked,
        'make',
        'Make the conversation',
        html`
        ${typed('title', 'Title')}
        ${field({ name: 'description', label: 'Description', type: 'textarea', value: given['description'] })}
        ${typed('newTags', 'Tags', 'Divided by commas')}
        ${typed('newExternalId', 'External id', 'Your own id of it')}
        ${choice({ name: 'urgency', label: 'Urgency', options: urgencies, value: given['urgency'], empty: 'normal, unless chosen' })}
      `,
      )}</details>`,
  );
  return {
    title: 'Conversations',
    live: 'announce',
    body,
    command: 'svc conversations list',
    request: 'GET /v1/conversations',
  };
}

async function make({ ask }: Asked, given: Form): Promise<string> {
  const { title = '', description = '', newTags, newExternalId = '', urgency } = given;
  const body = {
    title: title.trim() || null,
    description: description.trim() || null,
    tags: addressesIn(newTags),
    externalId: newExternalId.trim() || null,
    ...(urgency && { urgency }),
  };
  const { id } = await ask(conversationRoutes.create, { body });
  return `/console/conversations/${id}`;
}

function moves(asked: Asked, { status }: Conversation, given: Form): Part {
  if (!asked.may('conversations:write')) return null;
  if (['resolved', 'archived'].includes(status)) {
    return html`<div class="row">${button(asked, { action: 'reopen', label: 'Open again' })}</div>`;
  }
  const notes = field({
    name: 'notes',
    label: 'Notes on the resolution',
    type: 'textarea',
    value: given['notes'],
    rows: 2,
  });
  return html`${form(asked, 'resolve', 'Resolve', notes)}
    <div class="row">${button(asked, { action: 'archive', label: 'Archive' })}</div>`;
}

function people({ may }: Asked, { contacts }: Conversation): Part {
  if (contacts.length === 0) return null;
  const shown = contacts.map(({ id, name, identities }) => {
    const text = name ?? identities[0]?.identifier ?? id;
    return html`<li>${may('contacts:read') ? link(`/contacts/${id}`, text) : text}</li>`;
  });
  return html`<h2>Contacts</h2><ul>${shown}</ul>`;
}

async function one(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, may, query, params } = asked;
  const ofIt = { conversationId: params['id'], page: query['page'] };
  const [conversation, messages] = await Promise.all([
    ask(conversationRoutes.get, { params }),
    may('messages:read') ? ask(messageRoutes.list, { query: ofIt }) : null,
  ]);
  const body = together(
    problem,
    moves(asked, conversation, given),
    html`<p>${state(conversation.status)}</p>`,
    facts(conversation, [
      ['Description', 'description'],
      ['Tags', 'tags'],
      ['Urgency', 'urgency'],
      ['Priority', 'priority'],
      ['Continues', 'parentConversationId'],
      ['External id', 'externalId'],
      ['Started', 'startedAt'],
      ['Resolved', 'resolvedAt'],
      ['Notes on the resolution', 'resolutionNotes'],
      ['Id', 'id'],
    ]),
    people(asked, conversation),
    messages &&
      html`<h2>Messages</h2><p>${link(withQuery('/messages', { conversationId: params['id'] }), 'Filter them')}</p>`,
    messages &&
      table(
        asked,
        messages,
        [
          ['Status', ({ status }) => state(status)],
          ['Subject', ({ id, subject }) => link(`/messages/${id}`, subject || '(no subject)')],
          ['Accepted', ({ createdAt }) => time(createdAt)],
        ],
        'No message belongs to it yet.',
      ),
  );
  return {
    title: conversation.title || 'Conversation',
    body,
    command: `svc conversations show ${params['id']}`,
    request: `GET /v1/conversations/${params['id']}`,
  };
}

const move = (verb: 'resolve' | 'archive' | 'reopen') =>
  written(
    'conversations:write',
    async ({ ask, params, path }, { notes = '' }) => {
      const body = notes.trim() === '' ? {} : { resolutionNotes: notes };
      await ask(conversationRoutes[verb], { params, body });
      return `/console${path}`;
    },
    one,
  );

export const conversationPages: readonly Page[] = [
  {
    path: '/conversations',
    needs: 'conversations:read',
    show: (asked) => list(asked, {}),
    actions: { make: written('conversations:write', make, list) },
  },
  {
    path: '/conversations/:id',
    needs: 'conversations:read',
    show: (asked) => one(asked, {}),
    actions: { resolve: move('resolve'), archive: move('archive'), reopen: move('reopen') },
  },
];
