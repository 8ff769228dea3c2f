// Mail that a person writes in a mailbox: new mail, drafts, and the result of a send.
import { answeringRoutes } from '../../../../src/inbox/replies/routes.ts';
import type { ReplyResult, ShownDraft } from '../../../../src/inbox/replies/schema.ts';
import { Refusal } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import { drawMail, framedHtml } from '../../mail-picture.ts';
import type { Asked, Done, Form, Page, View } from '../../page.ts';
import { calls } from '../../parts/calls.ts';
import { confirmed } from '../../parts/confirm.ts';
import { facts } from '../../parts/facts.ts';
import { addressesIn, changedText, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';

const mailboxPath = ({ params }: Asked) => `/v1/mailboxes/${params['id']}`;
const ownPath = ({ params }: Asked) => `/mailboxes/${params['id']}`;

/** Seconds in which a send can be undone. */
export const delaySeconds = 10;

/** Leads to the thread of a mail. The toast says what happened, and can undo it. */
export function afterSend(asked: Asked, result: ReplyResult, to?: string): Done {
  const { status, threadId, messageId, skippedRecipients } = result;
  const thread = threadId === null ? ownPath(asked) : `${ownPath(asked)}/threads/${threadId}`;
  const leftOut = skippedRecipients.map(({ address, reason }) => `${address} (${reason})`);
  const words = {
    sent: `Sent. It leaves in ${delaySeconds} seconds.`,
    proposed: 'A person has to approve it before it leaves.',
    skipped: 'Nothing was sent.',
  };
  const rest = leftOut.length > 0 ? ` Left out: ${leftOut.join(', ')}.` : '';
  const undo = { path: thread, action: 'undo', fields: { messageId: messageId ?? '' } };
  return {
    to: to ?? `/console${thread}`,
    said: words[status] + rest,
    ...(messageId !== null && { undo }),
  };
}

function fieldsOf(values: Form): Part {
  const line = (name: string, label: string) => field({ name, label, value: values[name] });
  return html`
    ${line('to', 'To')} ${line('cc', 'Cc')} ${line('bcc', 'Bcc')} ${line('subject', 'Subject')}
    ${field({ name: 'text', label: 'Text', type: 'textarea', value: values['text'], rows: 12 })}
  `;
}

const mailOf = ({ to, cc, bcc, subject = '', text = '' }: Form) => ({
  to: addressesIn(to),
  cc: addressesIn(cc),
  bcc: addressesIn(bcc),
  subject,
  text,
});

async function newMail(asked: Asked): Promise<View> {
  return {
    title: 'Write a mail',
    body: form(
      asked,
      'send',
      'Send',
      fieldsOf(asked.query),
      asked.may('mailboxes:write') ? [{ action: 'keep', label: 'Keep as a draft' }] : [],
    ),
    request: `POST ${mailboxPath(asked)}/messages`,
  };
}

async function sendNew(asked: Asked, given: Form): Promise<Done> {
  const input = { params: asked.params, body: { ...mailOf(given), delaySeconds } };
  return afterSend(asked, await asked.ask(answeringRoutes.send, input));
}

/** Stores a mail as a draft. */
export async function keepDraft(asked: Asked, body: object): Promise<string> {
  const params = { id: asked.params['id'] };
  const { id } = await asked.ask(answeringRoutes.createDraft, { params, body });
  return `/console${ownPath(asked)}/drafts/${id}`;
}

async function drafts(asked: Asked): Promise<Part> {
  const { ask, params, query } = asked;
  const input = { params, query: { cursor: query['cursor'] } };
  const found = await ask(answeringRoutes.listDrafts, input);
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

async function draft(asked: Asked): Promise<View> {
  const { ask, params, may } = asked;
  const kept = await ask(answeringRoutes.getDraft, { params });
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
    drawMail(kept, { htmlPath: `/console${asked.path}/html` }),
    facts(kept, [
      ['Written by', 'author.displayName'],
      ['Changed by', 'editedBy.displayName'],
    ]),
    kept.html !== null &&
      html`<p class="note">A changed text removes the HTML, which would still have the old words.</p>`,
    may('mailboxes:write') &&
      form(
        asked,
        'save',
        'Save',
        html`<input type="hidden" name="updatedAt" value=${updatedAt} />
          <input type="hidden" name="digest" value=${kept.digest} />${fieldsOf(saved)}`,
        may('mailboxes:send') ? [send] : [],
      ),
    html`<p>${link(`${ownPath(asked)}/threads/${threadId}`, 'Its thread')}</p>`,
    may('mailboxes:delete') &&
      confirmed(asked, {
        action: 'delete',
        label: 'Delete the draft',
        question: 'Delete this draft?',
        goes: 'What was written goes.',
      }),
  );
  const request = `GET ${mailboxPath(asked)}/drafts/${params['draftId']}`;
  return { title: subject || 'Draft', body, request };
}

/**
 * Saves the typed values if they differ from the draft. So a refused send leaves an unchanged draft
 * as it was.
 */
async function save({ ask, params }: Asked, given: Form): Promise<ShownDraft> {
  const expectedUpdatedAt = given['updatedAt'] || undefined;
  const kept = await ask(answeringRoutes.getDraft, { params });
  const { text: typed, ...mail } = mailOf(given);
  const { to, cc, bcc, subject } = kept;
  const text = changedText(kept.text, typed);
  const isSame = JSON.stringify({ to, cc, bcc, subject: subject ?? '' }) === JSON.stringify(mail);
  if (isSame && text === undefined) return kept;
  const body = { ...mail, text, expectedUpdatedAt };
  return ask(answeringRoutes.updateDraft, { params, body });
}

const authorsOf = ({ from, replyTo }: ShownDraft) => JSON.stringify([from, replyTo]);

/** Sends the mail that the page showed, with the text of the form. */
async function sendKept(asked: Asked, given: Form): Promise<Done> {
  const kept = await asked.ask(answeringRoutes.getDraft, { params: asked.params });
  const saved = kept.digest === given['digest'] ? await save(asked, given) : null;
  if (saved === null || authorsOf(saved) !== authorsOf(kept)) {
    throw new Refusal(
      409,
      { message: 'The mail was changed since it was shown: read it again.' },
      '',
    );
  }
  const { updatedAt: expectedUpdatedAt, digest: expectedDigest } = saved;
  const body = { expectedUpdatedAt, expectedDigest, delaySeconds };
  return afterSend(
    asked,
    await asked.ask(answeringRoutes.sendDraft, { params: asked.params, body }),
  );
}

export const draftPages: readonly Page[] = [
  {
    path: '/mailboxes/:id/new',
    needs: 'mailboxes:send',
    show: newMail,
    actions: {
      send: { needs: 'mailboxes:send', run: sendNew },
      keep: { needs: 'mailboxes:write', run: (asked, given) => keepDraft(asked, mailOf(given)) },
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
    show: draft,
    actions: {
      save: {
        needs: 'mailboxes:write',
        run: async (asked, given) => {
          await save(asked, given);
          return `/console${asked.path}`;
        },
      },
      send: { needs: 'mailboxes:send', run: sendKept },
      delete: calls(answeringRoutes.deleteDraft, {
        destroys: true,
        to: (asked) => `${ownPath(asked)}/drafts`,
      }),
    },
  },
  {
    path: '/mailboxes/:id/drafts/:draftId/html',
    needs: 'mailboxes:read',
    show: async ({ ask, params }) => framedHtml(await ask(answeringRoutes.getDraft, { params })),
  },
];
