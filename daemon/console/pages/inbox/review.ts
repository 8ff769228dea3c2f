// Proposals of keys that may only propose: the mail that would be sent, and the decision of a
// person.
import { mailboxActionRoutes } from '../../../../src/inbox/approvals/routes.ts';
import type { MailboxAction, ShownAction } from '../../../../src/inbox/approvals/schema.ts';
import { answeringRoutes } from '../../../../src/inbox/replies/routes.ts';
import { downloadOf } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import { drawMail, framedHtml } from '../../mail-picture.ts';
import type { Asked, Done, Form, Page, View } from '../../page.ts';
import { facts } from '../../parts/facts.ts';
import { filters } from '../../parts/filter-row.ts';
import { addressesIn, changedText, choice, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { type Column, table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { state } from '../../states.ts';
import { delaySeconds } from './drafts.ts';
import { decisionOn } from './proposals.ts';

const actionStates = ['proposed', 'approved', 'rejected', 'executed', 'failed', 'expired'];
/** Returns the path parameters of an action for the routes. */
const placeOf = ({ params }: Pick<Asked, 'params'>) => ({
  id: params['mailboxId'],
  actionId: params['id'],
});

/** Words for the kinds of actions. */
export const typeWords: Readonly<Record<string, string>> = {
  sendMessage: 'Mail',
  reply: 'Answer',
  forward: 'Forward',
  label: 'Label',
  move: 'Move',
  note: 'Note',
};

const whatOf = ({ type, summary: { to, subject } }: MailboxAction) => {
  const recipients = Array.isArray(to) && to.length > 0 ? `to ${to.join(', ')}` : '';
  return `${typeWords[type] ?? type} ${recipients} ${subject ? `“${subject}”` : ''}`.trim();
};

export const actionColumns: readonly Column<MailboxAction>[] = [
  ['What', (action) => link(`/review/${action.mailboxId}/${action.id}`, whatOf(action))],
  ['By', ({ actor }) => actor.displayName],
  ['State', ({ state: word }) => state(word)],
  ['Since', ({ createdAt }) => time(createdAt)],
];

/** Draws the filters of a list of actions. */
export function actionFilters(wanted: string | undefined, type: string | undefined): Part {
  return filters(html`
    ${choice({ name: 'state', label: 'State', options: actionStates, value: wanted })}
    ${choice({ name: 'type', label: 'Type', options: Object.entries(typeWords), value: type })}
  `);
}

async function list(asked: Asked): Promise<Part> {
  const { state: wanted = 'proposed', type, cursor } = asked.query;
  const query = { state: wanted, type, cursor };
  const found = await asked.ask(mailboxActionRoutes.listAll, { query });
  return together(
    actionFilters(wanted, type),
    table(
      asked,
      found,
      actionColumns,
      'Nothing waits. A key with sendMode "approval" only proposes: "svc keys create --send-mode approval".',
    ),
  );
}

function changeForm(asked: Asked, { state: now, content }: ShownAction): Part {
  if (now !== 'proposed' || !content || !asked.may('mailboxes:send')) return null;
  const { to, subject, text } = content;
  return html`<details class="fold" id="change"><summary><b>Change it, then approve</b></summary><div class="in">${form(
    asked,
    'edit',
    'Approve the changed mail',
    html`
      ${field({ name: 'to', label: 'To', value: to.join(', '), isRequired: true })}
      ${field({ name: 'subject', label: 'Subject', value: subject })}
      ${field({ name: 'text', label: 'Text', type: 'textarea', value: text ?? '', rows: 10 })}
      ${field({ name: 'note', label: 'Note' })}
    `,
  )}</div></details>`;
}

async function one(asked: Asked): Promise<View> {
  const action = await asked.ask(mailboxActionRoutes.get, { params: placeOf(asked) });
  const { id, content, messageId, threadId, mailboxId, actor } = action;
  const thread = `/mailboxes/${mailboxId}/threads/${threadId}`;
  const isOpen = action.state === 'proposed';
  const body = together(
    html`<p>${state(action.state)} ${threadId !== null && link(thread, 'Its thread')}
      ${messageId !== null && link(`/messages/${messageId}`, 'The message that left')}</p>`,
    isOpen && decisionOn(asked, action),
    content &&
      drawMail(content, {
        htmlPath: `/console${asked.path}/html`,
        filePath: (n) => `/console${asked.path}/files/${n}`,
      }),
    changeForm(asked, action),
    facts(action, [
      ['By', 'actor.displayName'],
      ['Since', 'createdAt'],
      ['Expires', 'expiresAt'],
      ['Decided by', 'decidedBy.displayName'],
      ['Decided', 'decidedAt'],
      ['Note', 'note'],
      ['Failed because', 'failure.message'],
      ['Digest', 'digest'],
      ['Digest as changed', 'editedDigest'],
    ]),
  );
  const title = isOpen ? `${actor.displayName ?? 'A key'} proposes a mail` : 'A proposal';
  return { title, body, request: `GET /v1/mailboxes/${mailboxId}/actions/${id}` };
}

/** Returns the edits in the form: recipients, subject, and the text if it was changed. */
async function editsOf({ ask, params }: Asked, { to, subject = '', text = '' }: Form) {
  const { content } = await ask(mailboxActionRoutes.get, { params: placeOf({ params }) });
  return { to: addressesIn(to), subject, text: changedText(content?.text ?? null, text) };
}

/** Approves a proposal: its mail leaves after some seconds, in which the send can be undone. */
const approve =
  (isEdited: boolean) =>
  async (asked: Asked, given: Form): Promise<Done> => {
    const { note = '' } = given;
    const body = {
      delaySeconds,
      ...(note !== '' && { note }),
      ...(isEdited && { edits: await editsOf(asked, given) }),
    };
    const params = placeOf(asked);
    const done = await asked.ask(answeringRoutes.approve, { params, body });
    const { messageId, threadId, mailboxId, failure } = done;
    const thread = `/mailboxes/${mailboxId}/threads/${threadId}`;
    if (messageId === null) {
      return { to: `/console${asked.path}`, said: `Not sent: ${failure?.message ?? 'refused'}.` };
    }
    const undo = { path: thread, action: 'undo', fields: { messageId } };
    const said = `Approved. It leaves in ${delaySeconds} seconds.`;
    return { to: `/console${thread}`, said, undo };
  };

async function reject(asked: Asked, { note = '' }: Form): Promise<Done> {
  const body = { ...(note !== '' && { note }) };
  await asked.ask(mailboxActionRoutes.reject, { params: placeOf(asked), body });
  return { to: '/console/review', said: 'Rejected.' };
}

export const reviewPages: readonly Page[] = [
  {
    path: '/review',
    needs: 'mailboxes:read',
    show: async (asked) => ({
      title: 'Approvals',
      live: 'announce',
      body: await list(asked),
      command: 'svc mailboxes review',
      request: 'GET /v1/mailbox-actions?state=proposed',
    }),
  },
  {
    path: '/review/:mailboxId/:id',
    needs: 'mailboxes:read',
    show: one,
    actions: {
      approve: { needs: 'mailboxes:send', run: approve(false) },
      edit: { needs: 'mailboxes:send', run: approve(true) },
      reject: { needs: 'mailboxes:write', run: reject },
    },
  },
  {
    path: '/review/:mailboxId/:id/html',
    needs: 'mailboxes:read',
    async show(asked) {
      const { content } = await asked.ask(mailboxActionRoutes.get, { params: placeOf(asked) });
      return framedHtml(content ?? { html: null });
    },
  },
  {
    path: '/review/:mailboxId/:id/raw',
    needs: 'mailboxes:read',
    show: async (asked) =>
      downloadOf(await asked.ask(mailboxActionRoutes.raw, { params: placeOf(asked) })),
  },
  {
    path: '/review/:mailboxId/:id/files/:n',
    needs: 'mailboxes:read',
    async show(asked) {
      const params = { ...placeOf(asked), n: asked.params['n'] };
      return downloadOf(await asked.ask(mailboxActionRoutes.attachment, { params }));
    },
  },
];
