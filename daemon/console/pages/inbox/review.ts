// Proposals of keys that may only propose: the mail that would leave, and the decision of a person.
import type { Doorway } from '../../../../src/core/api/route.ts';
import { mailboxActionRoutes } from '../../../../src/inbox/approvals/routes.ts';
import type { MailboxAction, ShownAction } from '../../../../src/inbox/approvals/schema.ts';
import { answeringRoutes } from '../../../../src/inbox/replies/routes.ts';
import { downloadOf } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import { drawMail, framedHtml } from '../../mail-picture.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { facts } from '../../parts/facts.ts';
import { filters } from '../../parts/filter-row.ts';
import { addressesIn, changedText, choice, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { type Column, table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { written } from '../../parts/written.ts';
import { state } from '../../states.ts';

const actionStates = ['proposed', 'approved', 'rejected', 'executed', 'failed', 'expired'];
const actionTypes = ['sendMessage', 'reply', 'forward', 'label', 'move', 'note'];
/** Returns the path of an action for the routes. */
const placeOf = ({ params }: Pick<Asked, 'params'>) => ({
  id: params['mailboxId'],
  actionId: params['id'],
});

const whatOf = ({ type, summary: { to, subject } }: MailboxAction) => {
  const recipients = Array.isArray(to) && to.length > 0 ? `to ${to.join(', ')}` : '';
  return `${type} ${recipients} ${subject ? `“${subject}”` : ''}`.trim();
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
    ${choice({ name: 'type', label: 'Type', options: actionTypes, value: type })}
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

function decisions(asked: Asked, action: ShownAction, given: Form): Part {
  const { may } = asked;
  const { content } = action;
  if (action.state !== 'proposed') return null;
  const note = field({ name: 'note', label: 'Note', value: given['note'] });
  const edited = content && {
    to: given['to'] ?? content.to.join(', '),
    subject: given['subject'] ?? content.subject,
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
  const action = await asked.ask(mailboxActionRoutes.get, { params: placeOf(asked) });
  const { id, content, messageId, threadId, mailboxId } = action;
  const body = together(
    problem,
    html`<p>${state(action.state)} ${whatOf(action)}</p>`,
    threadId !== null &&
      html`<p>${link(`/mailboxes/${mailboxId}/threads/${threadId}`, 'Its thread')}</p>`,
    messageId !== null && html`<p>${link(`/messages/${messageId}`, 'The message that left')}</p>`,
    content &&
      drawMail(content, {
        htmlPath: `/console${asked.path}/html`,
        filePath: (n) => `/console${asked.path}/files/${n}`,
      }),
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
  return { title: 'Proposal', body, request: `GET /v1/mailboxes/${mailboxId}/actions/${id}` };
}

/** Returns the fields that a person changed. */
async function editsOf({ ask, params }: Asked, { to, subject = '', text = '' }: Form) {
  const { content } = await ask(mailboxActionRoutes.get, { params: placeOf({ params }) });
  return { to: addressesIn(to), subject, text: changedText(content?.text ?? null, text) };
}

const decide =
  (way: Doorway, isEdited: boolean) =>
  async (asked: Asked, given: Form): Promise<string> => {
    const { note = '' } = given;
    const body = {
      ...(note !== '' && { note }),
      ...(isEdited && { edits: await editsOf(asked, given) }),
    };
    await asked.ask(way, { params: placeOf(asked), body });
    return '/console/review';
  };

export const reviewPages: readonly Page[] = [
  {
    path: '/review',
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
      approve: written('mailboxes:send', decide(answeringRoutes.approve, false), one),
      edit: written('mailboxes:send', decide(answeringRoutes.approve, true), one),
      reject: written('mailboxes:write', decide(mailboxActionRoutes.reject, false), one),
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
    path: '/review/:mailboxId/:id/files/:n',
    needs: 'mailboxes:read',
    async show(asked) {
      const params = { ...placeOf(asked), n: asked.params['n'] };
      return downloadOf(await asked.ask(mailboxActionRoutes.attachment, { params }));
    },
  },
];
