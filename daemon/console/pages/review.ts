// Proposals of keys that may only propose: what would be sent, and the decision of a person.
import { mailboxActionRoutes } from '../../../src/inbox/approvals/routes.ts';
import { downloadOf } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page, View } from '../page.ts';
import {
  addressesIn,
  type Column,
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
  written,
} from '../parts.ts';

export interface MailboxAction {
  id: string;
  mailboxId: string;
  type: string;
  state: string;
  actor: { displayName: string | null };
  summary: { to?: readonly string[]; subject?: string | null };
  createdAt: string;
  decidedAt: string | null;
  messageId: string | null;
  threadId: string | null;
}

interface Shown extends MailboxAction {
  content: {
    from: unknown;
    to: readonly string[];
    cc: readonly string[];
    bcc: readonly string[];
    replyTo: readonly string[];
    subject: string | null;
    text: string | null;
    html: string | null;
    attachments: readonly { n: number; filename: string; size: number; digest: string }[];
  } | null;
}

export const actionStates = ['proposed', 'approved', 'rejected', 'executed', 'failed', 'expired'];
export const actionTypes = ['sendMessage', 'reply', 'forward', 'label', 'move', 'note'];
const longestSource = 100_000;
const pathOf = ({ params }: Asked) =>
  `/v1/mailboxes/${params['mailboxId']}/actions/${params['id']}`;

const whatOf = ({ type, summary: { to = [], subject } }: MailboxAction) =>
  `${type} ${to.length > 0 ? `to ${to.join(', ')}` : ''} ${subject ? `“${subject}”` : ''}`.trim();

export const actionColumns: readonly Column<MailboxAction>[] = [
  ['What', (action) => link(`/review/${action.mailboxId}/${action.id}`, whatOf(action))],
  ['By', ({ actor }) => actor.displayName],
  ['State', ({ state: word }) => state(word)],
  ['Since', ({ createdAt }) => time(createdAt)],
];

async function list(asked: Asked): Promise<Part> {
  const { state: wanted = 'proposed', type, cursor } = asked.query;
  const found = await asked.api.get<List<MailboxAction>>('/v1/mailbox-actions', {
    state: wanted,
    type,
    cursor,
  });
  return together(
    filters(html`
      ${choice({ name: 'state', label: 'State', options: actionStates, value: wanted })}
      ${choice({ name: 'type', label: 'Type', options: actionTypes, value: type })}
    `),
    table(
      asked,
      found,
      actionColumns,
      'Nothing waits. A key with sendMode "approval" only proposes: "svc keys create --send-mode approval".',
    ),
  );
}

/** Draws the mail of a proposal as it would leave. */
function proposed({ params }: Asked, content: NonNullable<Shown['content']>): Part {
  const { from, to, cc, bcc, replyTo, subject, text, html: source, attachments } = content;
  const at = `/console/review/${params['mailboxId']}/${params['id']}/files`;
  return html`<article class="mail" aria-label="The mail that would leave">
    <p>From ${inWords([from])}<br />To ${inWords(to)}<br />Cc ${inWords(cc)}<br />Bcc ${inWords(bcc)}<br />
      Replies go to ${inWords(replyTo)}</p>
    <p class="from">${subject}</p>
    <pre>${text}</pre>
    ${source && html`<details><summary>Its HTML</summary><pre>${source.slice(0, longestSource)}</pre></details>`}
    ${attachments.length > 0 && html`<ul>${attachments.map(({ n, filename, size, digest }) => html`<li><a href=${`${at}/${n}`}>${filename}</a> (${size.toLocaleString('en')} bytes) <small>${digest}</small></li>`)}</ul>`}
  </article>`;
}

function decisions(asked: Asked, action: Shown, given: Form): Part {
  const { may } = asked;
  const { content } = action;
  if (action.state !== 'proposed') return null;
  const note = field({ name: 'note', label: 'Note', value: given['note'] });
  const edited = content && {
    to: given['to'] ?? content.to.join(', '),
    subject: given['subject'] ?? content.subject ?? '',
    text: given['text'] ?? content.text ?? '',
  };
  return together(
    may('mailboxes:send') && form(asked, 'approve', 'Approve: exactly this leaves', note),
    may('mailboxes:write') && form(asked, 'reject', 'Reject', note),
    may('mailboxes:send') &&
      edited &&
      html`<details><summary>Change it, then approve</summary>${form(
        asked,
        'edit',
        'Approve the changed mail',
        html`
        ${field({ name: 'to', label: 'To', value: edited.to, isRequired: true })}
        ${field({ name: 'subject', label: 'Subject', value: edited.subject })}
        ${field({ name: 'text', label: 'Text', type: 'textarea', value: edited.text, rows: 10 })}
        ${note}
      `,
      )}</details>`,
  );
}

async function one(asked: Asked, given: Form = {}, problem: Part = null): Promise<View> {
  const action = await asked.api.get<Shown>(pathOf(asked));
  const { content, messageId, threadId, mailboxId } = action;
  const body = together(
    problem,
    html`<p>${state(action.state)} ${whatOf(action)}</p>`,
    threadId !== null &&
      html`<p>${link(`/mailboxes/${mailboxId}/threads/${threadId}`, 'Its thread')}</p>`,
    messageId !== null && html`<p>${link(`/messages/${messageId}`, 'The message that left')}</p>`,
    content && proposed(asked, content),
    decisions(asked, action, given),
    facts(action, [
      ['By', 'actor.displayName'],
      ['Type', 'type'],
      ['Since', 'createdAt'],
      ['Expires', 'expiresAt'],
      ['Digest', 'digest'],
      ['Digest as changed', 'editedDigest'],
      ['Decided by', 'decidedBy.displayName'],
      ['Decided', 'decidedAt'],
      ['Note', 'note'],
      ['Failed because', 'failure.message'],
    ]),
  );
  return { title: 'Proposal', body, request: `GET ${pathOf(asked)}` };
}

/** Returns the fields that a person changed; nothing stands for the frozen mail. */
function editsOf({ to, subject, text }: Form) {
  return { to: addressesIn(to), subject: subject ?? '', text: text ?? '' };
}

const decide =
  (verb: 'approve' | 'reject', isEdited: boolean) =>
  async (asked: Asked, given: Form): Promise<string> => {
    const { note = '' } = given;
    const body = { ...(note !== '' && { note }), ...(isEdited && { edits: editsOf(given) }) };
    await asked.api.send('POST', `${pathOf(asked)}/${verb}`, body);
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
    show: (asked) => one(asked),
    actions: {
      approve: written('mailboxes:send', decide('approve', false), one),
      edit: written('mailboxes:send', decide('approve', true), one),
      reject: written('mailboxes:write', decide('reject', false), one),
    },
  },
  {
    path: '/review/:mailboxId/:id/files/:n',
    needs: 'mailboxes:read',
    async show({ ask, params: { mailboxId, id, n } }) {
      const file = { id: mailboxId, actionId: id, n };
      return downloadOf(await ask(mailboxActionRoutes.attachment, { params: file }));
    },
  },
];
