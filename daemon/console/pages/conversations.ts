// Conversations, and one with its messages.
import { conversationStatuses as statuses } from '../../../src/people/conversations/schema.ts';
import { html, together } from '../html.ts';
import type { Asked, Page } from '../page.ts';
import {
  button,
  choice,
  facts,
  field,
  filters,
  type List,
  link,
  state,
  table,
  time,
} from '../parts.ts';

interface Conversation {
  id: string;
  title: string | null;
  status: string;
  tags: readonly string[];
  messageCount: number;
  lastActivityAt: string | null;
}

const conversationPath = ({ params }: Asked) => `/v1/conversations/${params['id']}`;

const move = (verb: 'resolve' | 'archive' | 'reopen') => ({
  needs: 'conversations:write' as const,
  async run(asked: Asked) {
    await asked.api.send('POST', `${conversationPath(asked)}/${verb}`, {});
    return `/console/conversations/${asked.params['id']}`;
  },
});

export const conversationPages: readonly Page[] = [
  {
    path: '/conversations',
    label: 'Conversations',
    needs: 'conversations:read',
    async show(asked) {
      const { status, tag, page } = asked.query;
      const wanted = { status, tag, page };
      const found = await asked.api.get<List<Conversation>>('/v1/conversations', wanted);
      return {
        title: 'Conversations',
        live: 'announce',
        body: together(
          filters(html`
          ${choice({ name: 'status', label: 'Status', options: statuses, value: status })}
          ${field({ name: 'tag', label: 'Tag', value: tag })}
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
        ),
        command: 'svc conversations list',
        request: 'GET /v1/conversations',
      };
    },
  },
  {
    path: '/conversations/:id',
    needs: 'conversations:read',
    async show(asked) {
      const { api, may, params } = asked;
      const path = conversationPath(asked);
      const [conversation, messages] = await Promise.all([
        api.get<Conversation>(path),
        may('messages:read')
          ? api.get<
              List<{ id: string; subject: string | null; status: string; createdAt: string }>
            >('/v1/messages', { conversationId: params['id'] })
          : null,
      ]);
      const isOpen = !['resolved', 'archived'].includes(conversation.status);
      return {
        title: conversation.title || 'Conversation',
        body: together(
          may('conversations:write') &&
            html`<div class="row">
              ${isOpen && button(asked, { action: 'resolve', label: 'Resolve' })}
              ${isOpen && button(asked, { action: 'archive', label: 'Archive' })}
              ${!isOpen && button(asked, { action: 'reopen', label: 'Open again' })}
            </div>`,
          html`<p>${state(conversation.status)}</p>`,
          facts(conversation, [
            ['Description', 'description'],
            ['Tags', 'tags'],
            ['Priority', 'priority'],
            ['Contacts', 'contacts'],
            ['External id', 'externalId'],
            ['Started', 'startedAt'],
            ['Id', 'id'],
          ]),
          messages && html`<h2>Messages</h2>`,
          messages &&
            table(
              asked,
              messages,
              [
                ['Status', ({ status }) => state(status)],
                [
                  'Subject',
                  ({ id, subject }) => link(`/messages/${id}`, subject || '(no subject)'),
                ],
                ['Accepted', ({ createdAt }) => time(createdAt)],
              ],
              'No message belongs to it yet.',
            ),
        ),
        command: `svc conversations show ${params['id']}`,
        request: `GET ${path}`,
      };
    },
    actions: { resolve: move('resolve'), archive: move('archive'), reopen: move('reopen') },
  },
];
