// A thread: the mails with quoted text folded, attachments, labels, notes, an answer, a forward.
import type { Doorway } from '../../../../src/core/api/route.ts';
import { answeringRoutes } from '../../../../src/inbox/replies/routes.ts';
import {
  attachmentRoutes,
  noteRoutes,
  threadRoutes,
} from '../../../../src/inbox/threads/routes.ts';
import type { Thread, ThreadMessage, ThreadNote } from '../../../../src/inbox/threads/schema.ts';
import { messageRoutes } from '../../../../src/outbound/messages/routes.ts';
import { dayIn, timeIn } from '../../../../src/platform/runtime/calendar.ts';
import { downloadOf } from '../../api.ts';
import { html, type Part, together } from '../../html.ts';
import { framedHtml } from '../../mail-picture.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { confirmed } from '../../parts/confirm.ts';
import { addressesIn, button, field, form } from '../../parts/form.ts';
import { link, titleOfMail } from '../../parts/link.ts';
import { time } from '../../parts/times.ts';
import { written } from '../../parts/written.ts';
import { messageState } from '../../states.ts';
import { afterSend, keepDraft } from './drafts.ts';

export const folders = ['inbox', 'drafts', 'sent', 'archive', 'spam', 'trash'];
/** Folders that mail is moved to by hand. */
const places = ['inbox', 'archive', 'spam', 'trash'];
const keys: Readonly<Record<string, string>> = { archive: 'e' };
const snoozes = { 'in 3 hours': null, 'until tomorrow, 8:00': 1, 'for a week, until 8:00': 7 };
const hourMs = 3_600_000;
const morning = 8 * 60;
const longestWhole = 100_000;

const ownPath = ({ path }: Asked) => `/console${path}`;

function mail(asked: Asked, one: ThreadMessage, whole: string | null): Part {
  const { params } = asked;
  const { id, from, to, cc, createdAt, newContent, preview, origin, attachments, deliveries } = one;
  const by = origin?.keyName ?? origin?.user;
  const files = `/console/mailboxes/${params['id']}/files/${id}`;
  return html`<article class="mail" id=${id}>
    <p><span class="from">${from.name || from.email}</span> to ${to.map(({ email }) => email).join(', ')}
      ${cc.length > 0 && `, copy to ${cc.map(({ email }) => email).join(', ')}`}
      ${' '}${time(createdAt)} ${messageState(one, deliveries)} ${by && html`<small>by ${by}</small>`} ${link(`/messages/${id}`, 'details')}</p>
    <pre>${whole ?? newContent ?? preview ?? ''}</pre>
    ${whole === null && asked.may('messages:read') && html`<p><a href=${`${ownPath(asked)}?whole=${id}#${id}`}>Show quoted text and signature</a></p>`}
    ${asked.may('messages:read') && html`<details><summary>As it looks</summary><iframe class="preview" sandbox="" title="The mail as HTML" loading="lazy" src=${`${ownPath(asked)}/messages/${id}/html`}></iframe></details>`}
    ${attachments.length > 0 && html`<ul>${attachments.map(({ n, filename, contentType, size }) => html`<li><a href=${`${files}/${n}`}>${filename ?? '(no name)'}</a> (${contentType}, ${size.toLocaleString('en')} bytes)</li>`)}</ul>`}
  </article>`;
}

function standing(asked: Asked, { read, starred, folder, snoozedUntil }: Thread): Part {
  const change = (label: string, fields: Record<string, string>, key?: string) =>
    button(asked, { action: 'change', label, fields, ...(key !== undefined && { key }) });
  const to = places.filter((place) => place !== folder);
  return html`<div class="row">
    ${change(read ? 'Mark as unread' : 'Mark as read', { read: String(!read) }, 'm')}
    ${change(starred ? 'Remove the star' : 'Star', { starred: String(!starred) }, 's')}
    ${to.map((place) => change(`To ${place}`, { folder: place }, keys[place]))}
    ${snoozedUntil && change('End the snooze', { snooze: '' })}
    ${folder === 'trash' && asked.may('mailboxes:delete') && confirmed(asked, { action: 'delete', label: 'Delete for good', question: 'Delete this thread for good?', goes: 'Its mails, notes and drafts go. Nothing brings them back.' })}
  </div>
  ${!snoozedUntil && html`<details><summary>Snooze</summary><div class="row">${Object.keys(snoozes).map((until) => change(until, { snooze: until }))}</div></details>`}`;
}

function labels(asked: Asked, { labels: own }: Thread): Part {
  const mayWrite = asked.may('mailboxes:write');
  if (!mayWrite) return own.length > 0 && html`<p>Labels: ${own.join(', ')}</p>`;
  return together(
    own.length > 0 &&
      html`<div class="row">${own.map((label) => button(asked, { action: 'unlabel', label: `Remove label ${label}`, fields: { label } }))}</div>`,
    html`<details><summary>Add a label</summary>${form(asked, 'label', 'Add', field({ name: 'label', label: 'Label', isRequired: true }))}</details>`,
  );
}

function notesOf(asked: Asked, notes: readonly ThreadNote[]): Part {
  return together(
    html`<h2>Notes</h2>`,
    notes.map(
      ({ id, author, body, createdAt }) =>
        html`<div class="mail"><p>${author.displayName} ${time(createdAt)}
          ${asked.may('mailboxes:delete') && confirmed(asked, { action: 'forget', label: 'Delete the note', question: 'Delete this note?', goes: 'Nothing brings it back.', fields: { id }, look: 'plain' })}</p><pre>${body}</pre></div>`,
    ),
    asked.may('mailboxes:write') &&
      form(
        asked,
        'note',
        'Add the note',
        field({ name: 'body', label: 'Note', type: 'textarea', isRequired: true, rows: 2 }),
      ),
  );
}

function answer(asked: Asked, last: ThreadMessage | undefined, given: Form): Part {
  if (!asked.may('mailboxes:send') || last === undefined) return null;
  const own = html`<input type="hidden" name="messageId" value=${given['messageId'] ?? last.id} />`;
  const keep = [{ action: 'keep', label: 'Keep as a draft' }];
  return together(
    html`<h2>Reply</h2>`,
    form(
      asked,
      'reply',
      'Reply',
      html`${own}
        ${field({ name: 'text', label: 'Text', type: 'textarea', value: given['text'], isRequired: true, rows: 8 })}
        <label><span><input type="checkbox" name="all" value="1" checked=${given['all'] === '1'} /> to all</span></label>`,
      asked.may('mailboxes:write') ? keep : [],
    ),
    html`<h2>Forward</h2>`,
    form(
      asked,
      'forward',
      'Forward',
      html`${own}
        ${field({ name: 'to', label: 'To', value: given['to'], isRequired: true })}
        ${field({ name: 'comment', label: 'Text above it', type: 'textarea', value: given['comment'], rows: 2 })}`,
    ),
  );
}

/** Returns the whole text of a mail of the thread. */
async function wholeText({ ask, query }: Asked, mails: readonly ThreadMessage[]) {
  const id = query['whole'];
  if (!mails.some((one) => one.id === id)) return null;
  const { text } = await ask(messageRoutes.email, { params: { id } });
  return text?.slice(0, longestWhole) ?? '';
}

async function thread(asked: Asked, given: Form = {}, problem: Part = null): Promise<View> {
  const { ask, may, params, query } = asked;
  const [about, { items, nextCursor }, notes] = await Promise.all([
    ask(threadRoutes.get, { params }),
    ask(threadRoutes.messages, { params, query: { limit: 50, cursor: query['cursor'] } }),
    ask(noteRoutes.list, { params }),
  ]);
  const whole = may('messages:read') ? await wholeText(asked, items) : null;
  const last = items.findLast(({ direction }) => direction === 'inbound') ?? items.at(-1);
  const body = together(
    problem,
    may('mailboxes:write') && standing(asked, about),
    about.snoozedUntil && html`<p>Snoozed until ${time(about.snoozedUntil)}</p>`,
    labels(asked, about),
    items.map((one) => mail(asked, one, one.id === query['whole'] ? whole : null)),
    nextCursor &&
      html`<p><a href=${`${ownPath(asked)}?cursor=${encodeURIComponent(nextCursor)}`}>More mails</a></p>`,
    notesOf(asked, notes.items),
    answer(asked, last, given),
  );
  return {
    title: titleOfMail(about.subject),
    live: 'announce',
    body,
    command: `svc threads show ${params['threadId']}`,
    request: `GET /v1/mailboxes/${params['id']}/threads/${params['threadId']}/messages`,
  };
}

/** Returns the end of a snooze in the time zone of the organization; null without a snooze. */
function snoozeEnd({ now, timezone }: Asked, until: string): string | null {
  if (!Object.hasOwn(snoozes, until)) return null;
  const days = snoozes[until as keyof typeof snoozes];
  if (days === null) return new Date(now + 3 * hourMs).toISOString();
  const day = dayIn(timezone, now + days * 24 * hourMs);
  return new Date(timeIn(timezone, day, morning)).toISOString();
}

async function change(asked: Asked, { read, starred, folder, snooze }: Form): Promise<string> {
  const body = {
    ...(read !== undefined && { read: read === 'true' }),
    ...(starred !== undefined && { starred: starred === 'true' }),
    ...(folder !== undefined && { folder }),
    ...(snooze !== undefined && { snoozedUntil: snoozeEnd(asked, snooze) }),
  };
  await asked.ask(threadRoutes.update, { params: asked.params, body });
  return ownPath(asked);
}

async function reply(asked: Asked, { messageId, text = '', all }: Form) {
  const way = all === '1' ? answeringRoutes.replyAll : answeringRoutes.reply;
  const params = { id: asked.params['id'], messageId };
  return afterSend(asked, await asked.ask(way, { params, body: { text } }));
}

async function forward(asked: Asked, { messageId, to, comment = '' }: Form) {
  const params = { id: asked.params['id'], messageId };
  const body = { to: addressesIn(to), ...(comment !== '' && { text: comment }) };
  return afterSend(asked, await asked.ask(answeringRoutes.forward, { params, body }));
}

const keep = (asked: Asked, { messageId = '', text = '' }: Form) =>
  keepDraft(asked, { inReplyToMessageId: messageId, text });

const onLabels =
  (way: Doorway) =>
  async (asked: Asked, { label = '' }: Form) => {
    await asked.ask(way, { params: asked.params, body: { labels: [label] } });
    return ownPath(asked);
  };

export const threadPages: readonly Page[] = [
  {
    path: '/mailboxes/:id/threads/:threadId',
    needs: 'mailboxes:read',
    show: (asked) => thread(asked),
    actions: {
      change: { needs: 'mailboxes:write', run: change },
      delete: {
        needs: 'mailboxes:delete',
        destroys: true,
        async run({ ask, params }) {
          await ask(threadRoutes.delete, { params });
          return `/console/mailboxes/${params['id']}?folder=trash`;
        },
      },
      label: { needs: 'mailboxes:write', run: onLabels(threadRoutes.addLabels) },
      unlabel: { needs: 'mailboxes:write', run: onLabels(threadRoutes.removeLabels) },
      reply: written('mailboxes:send', reply, thread),
      forward: written('mailboxes:send', forward, thread),
      keep: written('mailboxes:write', keep, thread),
      note: {
        needs: 'mailboxes:write',
        async run(asked, { body = '' }) {
          await asked.ask(noteRoutes.create, { params: asked.params, body: { body } });
          return ownPath(asked);
        },
      },
      forget: {
        needs: 'mailboxes:delete',
        destroys: true,
        async run(asked, { id }) {
          await asked.ask(noteRoutes.delete, { params: { ...asked.params, noteId: id } });
          return ownPath(asked);
        },
      },
    },
  },
  {
    path: '/mailboxes/:id/threads/:threadId/messages/:messageId/html',
    needs: 'messages:read',
    async show({ ask, params }) {
      const { messageId: id } = params;
      const email = await ask(messageRoutes.email, { params: { id } });
      return framedHtml({ html: email.html ?? '<p>This mail has no HTML, only its text.</p>' });
    },
  },
  {
    path: '/mailboxes/:id/files/:messageId/:n',
    needs: 'mailboxes:read',
    show: async ({ ask, params }) => downloadOf(await ask(attachmentRoutes.get, { params })),
  },
];
