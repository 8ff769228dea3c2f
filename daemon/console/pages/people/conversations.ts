// Conversations, and a conversation with the messages.
import { messageRoutes } from '../../../../src/outbound/messages/routes.ts';
import type { Message } from '../../../../src/outbound/messages/schema.ts';
import { conversationRoutes } from '../../../../src/people/conversations/routes.ts';
import {
  type Conversation,
  createConversationInput,
  conversationStatuses as statuses,
} from '../../../../src/people/conversations/schema.ts';
import { withQuery } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import type { Action, Asked, Done, Form, Page, View } from '../../page.ts';
import { card, foldedCard } from '../../parts/card.ts';
import { facts } from '../../parts/facts.ts';
import { filterRow } from '../../parts/filter-row.ts';
import { addressesIn, button, choice, field, form } from '../../parts/form.ts';
import { link, titleOfMail } from '../../parts/link.ts';
import { emptyState, table } from '../../parts/table.ts';
import { counted, time } from '../../parts/times.ts';
import { messageState, state } from '../../states.ts';
import { contactsBy, nameOf } from './names.ts';

const urgencies = createConversationInput.shape.urgency.unwrap().options;
const filterNames = ['status', 'tag', 'externalId', 'contactId', 'page'];

/** Draws the form of a new conversation, folded unless `isOpen`. */
function making(asked: Asked, given: Form, isOpen: boolean): Part {
  if (!asked.may('conversations:write')) return null;
  const typed = (name: string, label: string, hint = '') =>
    field({ name, label, value: given[name], ...(hint && { hint }) });
  const fields = html`
    ${typed('title', 'Title')}
    ${field({ name: 'description', label: 'Description', type: 'textarea', value: given['description'] })}
    ${typed('newTags', 'Tags', 'Divided by commas')}
    ${typed('newExternalId', 'External id', 'Your own id of it')}
    ${choice({ name: 'urgency', label: 'Urgency', options: urgencies, value: given['urgency'], empty: 'normal, unless chosen' })}`;
  return foldedCard(
    'Begin a conversation',
    form(asked, 'make', 'Begin', fields),
    'title, tags, urgency',
    isOpen,
  );
}

async function list(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, query } = asked;
  const wanted = Object.fromEntries(filterNames.map((name) => [name, query[name]]));
  const [found, contacts] = await Promise.all([
    ask(conversationRoutes.list, { query: wanted }),
    contactsBy(asked, [query['contactId'] || null]),
  ]);
  const named = [...contacts.values()].map((contact) => [contact.id, nameOf(contact)] as const);
  const filtering = filterRow(asked, {
    chips: [
      { name: 'status', label: 'State', options: statuses, value: query['status'] },
      { name: 'tag', label: 'Tag', value: query['tag'] },
      { name: 'externalId', label: 'External id', value: query['externalId'] },
      {
        name: 'contactId',
        label: 'With',
        options: named,
        value: query['contactId'],
        isLinked: true,
      },
    ],
  });
  const rows = table<Conversation>(
    asked,
    found,
    [
      {
        head: 'Conversation',
        cell: ({ id, title }) => link(`/conversations/${id}`, title || '(no title)'),
      },
      { head: 'State', isPlain: true, cell: ({ status }) => state(status) },
      {
        head: 'Tags',
        cell: ({ tags }) => tags.map((tag) => html`<span class="tag">${tag}</span> `),
      },
      { head: 'Messages', isNumber: true, cell: ({ messageCount }) => counted(messageCount) },
      {
        head: 'Last',
        isNumber: true,
        cell: ({ lastActivityAt }) => lastActivityAt && time(lastActivityAt),
      },
    ],
    emptyState('No conversation fits. Mail that names one joins it.'),
  );
  return {
    title: 'Conversations',
    crumb: link('/contacts', 'Contacts'),
    live: 'announce',
    body: together(
      problem,
      html`<section class="card" aria-label="List">${filtering}${rows}</section>`,
      making(asked, given, problem !== null),
    ),
    command: 'svc conversations list',
    request: 'GET /v1/conversations',
  };
}

async function make({ ask }: Asked, given: Form): Promise<Done> {
  const { title = '', description = '', newTags, newExternalId = '', urgency } = given;
  const body = {
    title: title.trim() || null,
    description: description.trim() || null,
    tags: addressesIn(newTags),
    externalId: newExternalId.trim() || null,
    ...(urgency && { urgency }),
  };
  const { id } = await ask(conversationRoutes.create, { body });
  return { to: `/console/conversations/${id}`, said: 'It has begun.' };
}

/** Draws the form that resolves an open conversation. */
function resolving(asked: Asked, { status }: Conversation, given: Form): Part {
  const isOver = ['resolved', 'archived'].includes(status);
  if (isOver || !asked.may('conversations:write')) return null;
  const notes = field({
    name: 'notes',
    label: 'Notes on the resolution',
    type: 'textarea',
    value: given['notes'],
    rows: 2,
  });
  return card('Resolve it', form(asked, 'resolve', 'Resolve', notes));
}

function moves(asked: Asked, { status }: Conversation): Part {
  if (!asked.may('conversations:write')) return null;
  const isOver = ['resolved', 'archived'].includes(status);
  const [action, label] = isOver ? ['reopen', 'Open again'] : ['archive', 'Archive'];
  return button(asked, { action, label });
}

function people({ may }: Asked, { contacts }: Conversation): Part {
  if (contacts.length === 0) return null;
  const shown = contacts.map(({ id, name, identities }) => {
    const text = name ?? identities[0]?.identifier ?? id;
    return html`<li>${may('contacts:read') ? link(`/contacts/${id}`, text) : text}</li>`;
  });
  return card('With', html`<ul>${shown}</ul>`);
}

async function one(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, may, query, params } = asked;
  const ofIt = { conversationId: params['id'], page: query['page'] };
  const [conversation, messages] = await Promise.all([
    ask(conversationRoutes.get, { params }),
    may('messages:read') ? ask(messageRoutes.list, { query: ofIt }) : null,
  ]);
  const rows =
    messages &&
    table<Message>(
      asked,
      messages,
      [
        {
          head: 'Subject',
          cell: ({ id, subject }) => link(`/messages/${id}`, titleOfMail(subject)),
        },
        {
          head: 'State',
          isPlain: true,
          cell: (message) => messageState(message, message.deliveries),
        },
        { head: 'Time', isNumber: true, cell: ({ createdAt }) => time(createdAt) },
      ],
      emptyState('No message belongs to it yet.'),
    );
  const about = facts(conversation, [
    ['Description', 'description'],
    ['Tags', 'tags'],
    ['Urgency', 'urgency'],
    ['Priority', 'priority'],
    ['Continues', 'parentConversationId'],
    ['External id', 'externalId'],
    ['Started', 'startedAt'],
    ['Resolved', 'resolvedAt'],
    ['Notes on the resolution', 'resolutionNotes'],
  ]);
  return {
    title: conversation.title || 'Conversation',
    crumb: link('/conversations', 'Conversations'),
    below: state(conversation.status),
    actions: moves(asked, conversation),
    body: together(
      problem,
      people(asked, conversation),
      rows &&
        card('Messages', rows, {
          more: link(withQuery('/messages', { conversationId: params['id'] }), 'Filter them'),
        }),
      about && card('About it', about),
      resolving(asked, conversation, given),
    ),
    command: `svc conversations show ${params['id']}`,
    request: `GET /v1/conversations/${params['id']}`,
  };
}

const said = { resolve: 'Resolved.', archive: 'Archived.', reopen: 'It is open again.' };

const move = (verb: 'resolve' | 'archive' | 'reopen'): Action => ({
  needs: 'conversations:write',
  run: async ({ ask, params, path }, { notes = '' }) => {
    const body = notes.trim() === '' ? {} : { resolutionNotes: notes };
    const { status } = await ask(conversationRoutes.get, { params });
    await ask(conversationRoutes[verb], { params, body });
    const before = status === 'resolved' ? 'resolve' : 'archive';
    const action = verb === 'reopen' ? before : 'reopen';
    return { to: `/console${path}`, said: said[verb], undo: { path, action, fields: {} } };
  },
});

export const conversationPages: readonly Page[] = [
  {
    path: '/conversations',
    needs: 'conversations:read',
    show: (asked) => list(asked, {}),
    actions: { make: { needs: 'conversations:write', run: make } },
  },
  {
    path: '/conversations/:id',
    needs: 'conversations:read',
    show: (asked) => one(asked, {}),
    actions: { resolve: move('resolve'), archive: move('archive'), reopen: move('reopen') },
  },
];
