// Proposals of keys that may only propose: what would be sent, and the decision of a person.
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page } from '../page.ts';
import {
  choice,
  facts,
  field,
  filters,
  form,
  inWords,
  type List,
  link,
  state,
  table,
  time,
} from '../parts.ts';

interface Action {
  id: string;
  mailboxId: string;
  type: string;
  state: string;
  actor: { displayName: string | null };
  summary: string;
  createdAt: string;
  expiresAt: string | null;
  digest: string | null;
  content?: {
    to: unknown;
    cc: unknown;
    bcc: unknown;
    from: unknown;
    subject: string | null;
    text: string | null;
  } | null;
}

const states = ['proposed', 'approved', 'rejected', 'expired', 'executed', 'failed'];
const pathOf = ({ params }: Asked) =>
  `/v1/mailboxes/${params['mailboxId']}/actions/${params['id']}`;

async function list(asked: Asked): Promise<Part> {
  const { state: wanted = 'proposed', cursor } = asked.query;
  const found = await asked.api.get<List<Action>>('/v1/mailbox-actions', { state: wanted, cursor });
  return together(
    filters(choice({ name: 'state', label: 'State', options: states, value: wanted })),
    table(
      asked,
      found,
      [
        ['What', ({ id, mailboxId, summary }) => link(`/review/${mailboxId}/${id}`, summary)],
        ['By', ({ actor }) => actor.displayName],
        ['State', ({ state: word }) => state(word)],
        ['Since', ({ createdAt }) => time(createdAt)],
      ],
      'Nothing waits. A key with sendMode "approval" only proposes: "svc keys create --send-mode approval".',
    ),
  );
}

async function one(asked: Asked): Promise<Part> {
  const { api, may } = asked;
  const action = await api.get<Action>(pathOf(asked));
  const { content } = action;
  const isOpen = action.state === 'proposed';
  return together(
    html`<p>${state(action.state)} ${action.summary}</p>`,
    facts(action, [
      ['By', 'actor.displayName'],
      ['Type', 'type'],
      ['Since', 'createdAt'],
      ['Expires', 'expiresAt'],
      ['Digest', 'digest'],
      ['Decided by', 'decidedBy.displayName'],
      ['Note', 'note'],
    ]),
    content &&
      html`<article class="mail">
        <p>From ${inWords([content.from])}<br />To ${inWords(content.to)}<br />Cc ${inWords(content.cc)}<br />Bcc ${inWords(content.bcc)}</p>
        <p class="from">${content.subject}</p><pre>${content.text}</pre>
      </article>`,
    isOpen &&
      may('mailboxes:send') &&
      form(
        asked,
        'approve',
        'Approve: exactly this leaves',
        field({ name: 'note', label: 'Note' }),
      ),
    isOpen &&
      may('mailboxes:write') &&
      form(asked, 'reject', 'Reject', field({ name: 'note', label: 'Note' })),
  );
}

const decide =
  (verb: 'approve' | 'reject') =>
  async (asked: Asked, { note = '' }: Form) => {
    await asked.api.send('POST', `${pathOf(asked)}/${verb}`, note === '' ? {} : { note });
    return '/console/review';
  };

export const reviewPages: readonly Page[] = [
  {
    path: '/review',
    label: 'Review',
    needs: 'mailboxes:read',
    show: async (asked) => ({
      title: 'Review',
      live: 'announce',
      body: await list(asked),
      command: 'svc mailboxes review',
      request: 'GET /v1/mailbox-actions?state=proposed',
    }),
  },
  {
    path: '/review/:mailboxId/:id',
    needs: 'mailboxes:read',
    show: async (asked) => ({
      title: 'Proposal',
      body: await one(asked),
      request: `GET ${pathOf(asked)}`,
    }),
    actions: {
      approve: { needs: 'mailboxes:send', run: decide('approve') },
      reject: { needs: 'mailboxes:write', run: decide('reject') },
    },
  },
];
