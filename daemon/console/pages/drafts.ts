// Mail that a person writes in a mailbox: new mail, drafts, and what became of a send.
import { html, type Part, together } from '../html.ts';
import type { Asked, Form, Page, View } from '../page.ts';
import {
  addressesIn,
  button,
  field,
  form,
  type List,
  link,
  table,
  time,
  written,
} from '../parts.ts';

interface Draft {
  id: string;
  threadId: string;
  to: readonly string[];
  cc: readonly string[];
  bcc: readonly string[];
  subject: string | null;
  text: string | null;
  html: string | null;
  author: { displayName: string | null };
  updatedAt: string;
}

/** Outcome of a send from a mailbox. */
export interface Outcome {
  status: 'sent' | 'proposed' | 'skipped';
  threadId: string | null;
  skippedRecipients: readonly { address: string; reason: string }[];
}

const mailboxPath = ({ params }: Asked) => `/v1/mailboxes/${params['id']}`;
const ownPath = ({ params }: Asked) => `/mailboxes/${params['id']}`;
const draftPath = (asked: Asked) => `${mailboxPath(asked)}/drafts/${asked.params['draftId']}`;

/** Goes on to the thread of a mail; tells if recipients were left out. */
export function afterSend(asked: Asked, { status, threadId, skippedRecipients }: Outcome) {
  const thread = threadId === null ? ownPath(asked) : `${ownPath(asked)}/threads/${threadId}`;
  if (skippedRecipients.length === 0) return `/console${thread}`;
  return {
    title: status === 'skipped' ? 'Nothing was sent' : 'Sent, but not to all',
    body: together(
      html`<ul>${skippedRecipients.map(({ address, reason }) => html`<li>${address}: ${reason}</li>`)}</ul>`,
      html`<p>${link(thread, 'Go on')}</p>`,
    ),
  } satisfies View;
}

function fieldsOf(given: Form): Part {
  const line = (name: string, label: string) => field({ name, label, value: given[name] });
  return html`
    ${line('to', 'To')} ${line('cc', 'Cc')} ${line('bcc', 'Bcc')} ${line('subject', 'Subject')}
    ${field({ name: 'text', label: 'Text', type: 'textarea', value: given['text'], rows: 12 })}
  `;
}

const mailOf = ({ to, cc, bcc, subject = '', text = '' }: Form) => ({
  to: addressesIn(to),
  cc: addressesIn(cc),
  bcc: addressesIn(bcc),
  subject,
  text,
});

function newMail(asked: Asked, given: Form, problem: Part = null): View {
  return {
    title: 'Write a mail',
    body: together(
      problem,
      form(
        asked,
        'send',
        'Send',
        fieldsOf(given),
        asked.may('mailboxes:write') ? [{ action: 'keep', label: 'Keep as a draft' }] : [],
      ),
    ),
    request: `POST ${mailboxPath(asked)}/messages`,
  };
}

async function sendNew(asked: Asked, given: Form): Promise<string | View> {
  const path = `${mailboxPath(asked)}/messages`;
  return afterSend(asked, await asked.api.send<Outcome>('POST', path, mailOf(given)));
}

/** Keeps a mail as a draft; `more` are fields beside it. */
export async function keepDraft(asked: Asked, mail: object): Promise<string> {
  const { id } = await asked.api.send<Draft>('POST', `${mailboxPath(asked)}/drafts`, mail);
  return `/console${ownPath(asked)}/drafts/${id}`;
}

async function drafts(asked: Asked): Promise<Part> {
  const { cursor } = asked.query;
  const found = await asked.api.get<List<Draft>>(`${mailboxPath(asked)}/drafts`, { cursor });
  return table(
    asked,
    found,
    [
      [
        'Subject',
        ({ id, subject }) => link(`${ownPath(asked)}/drafts/${id}`, subject || '(no subject)'),
      ],
      ['To', ({ to }) => to.join(', ')],
      ['By', ({ author }) => author.displayName],
      ['Changed', ({ updatedAt }) => time(updatedAt)],
    ],
    'No draft is kept. "Keep as a draft" stands beside each send.',
  );
}

async function draft(asked: Asked, given: Form | null, problem: Part = null): Promise<View> {
  const { api, may } = asked;
  const kept = await api.get<Draft>(draftPath(asked));
  const { to, cc, bcc, subject, text, threadId, updatedAt } = kept;
  const saved = {
    to: to.join(', '),
    cc: cc.join(', '),
    bcc: bcc.join(', '),
    subject: subject ?? '',
    text: text ?? '',
  };
  const send = { action: 'send', label: 'Send' };
  const body = together(
    problem,
    may('mailboxes:write') &&
      form(
        asked,
        'save',
        'Save',
        html`<input type="hidden" name="updatedAt" value=${updatedAt} />${fieldsOf(given ?? saved)}`,
        may('mailboxes:send') ? [send] : [],
      ),
    html`<p>${link(`${ownPath(asked)}/threads/${threadId}`, 'Its thread')}</p>`,
    may('mailboxes:delete') && button(asked, { action: 'delete', label: 'Delete the draft' }),
  );
  return { title: subject || 'Draft', body, request: `GET ${draftPath(asked)}` };
}

async function save(asked: Asked, given: Form): Promise<Draft> {
  const expectedUpdatedAt = given['updatedAt'] || undefined;
  const body = { ...mailOf(given), expectedUpdatedAt };
  return asked.api.send<Draft>('PATCH', draftPath(asked), body);
}

async function sendKept(asked: Asked, given: Form): Promise<string | View> {
  const { updatedAt } = await save(asked, given);
  const body = { expectedUpdatedAt: updatedAt };
  return afterSend(asked, await asked.api.send<Outcome>('POST', `${draftPath(asked)}/send`, body));
}

export const draftPages: readonly Page[] = [
  {
    path: '/mailboxes/:id/new',
    needs: 'mailboxes:send',
    show: async (asked) => newMail(asked, asked.query),
    actions: {
      send: written('mailboxes:send', sendNew, newMail),
      keep: written('mailboxes:write', (asked, given) => keepDraft(asked, mailOf(given)), newMail),
    },
  },
  {
    path: '/mailboxes/:id/drafts',
    needs: 'mailboxes:read',
    show: async (asked) => ({
      title: 'Drafts',
      body: await drafts(asked),
      request: `GET ${mailboxPath(asked)}/drafts`,
    }),
  },
  {
    path: '/mailboxes/:id/drafts/:draftId',
    needs: 'mailboxes:read',
    show: (asked) => draft(asked, null),
    actions: {
      save: written(
        'mailboxes:write',
        async (asked, given) => {
          await save(asked, given);
          return `/console${asked.path}`;
        },
        draft,
      ),
      send: written('mailboxes:send', sendKept, draft),
      delete: {
        needs: 'mailboxes:delete',
        async run(asked) {
          await asked.api.send('DELETE', draftPath(asked));
          return `/console${ownPath(asked)}/drafts`;
        },
      },
    },
  },
];
