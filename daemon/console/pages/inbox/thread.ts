// A thread beside the list of its mailbox: its actions, its mails with notes and proposals at their
// place, and the answer below.
import type { Doorway } from '../../../../src/core/api/route.ts';
import { mailboxRoutes } from '../../../../src/identity/mailboxes/routes.ts';
import { answeringRoutes } from '../../../../src/inbox/replies/routes.ts';
import { undoRoutes } from '../../../../src/inbox/replies/undo/routes.ts';
import {
  attachmentRoutes,
  latestMessages,
  noteRoutes,
  threadRoutes,
} from '../../../../src/inbox/threads/routes.ts';
import type { Thread } from '../../../../src/inbox/threads/schema.ts';
import { messageRoutes } from '../../../../src/outbound/messages/routes.ts';
import { dayIn, timeIn } from '../../../../src/platform/runtime/calendar.ts';
import { downloadOf, withQuery } from '../../api.ts';
import { html, type Part } from '../../html.ts';
import { framedHtml, mostShown } from '../../mail-picture.ts';
import type { Asked, Done, Form, Page, View } from '../../page.ts';
import { calls } from '../../parts/calls.ts';
import { confirmed } from '../../parts/confirm.ts';
import { button, field, form, hidden } from '../../parts/form.ts';
import { icon } from '../../parts/icon.ts';
import { titleOfMail } from '../../parts/link.ts';
import { time } from '../../parts/times.ts';
import { keepDraft } from './drafts.ts';
import { listPath, listQuery, mailList } from './list.ts';
import { flow, type Opened } from './mails.ts';
import { proposalsOf } from './proposals.ts';
import { forward, reply, replyDock, replyDone } from './reply.ts';

/** Folders that mail is moved to by hand, with the names of the moves. */
const moves = { inbox: 'Back to the inbox', archive: 'Done', spam: 'Spam', trash: 'Trash' };
const moved = {
  inbox: 'Back in the inbox.',
  archive: 'Done.',
  spam: 'Spam.',
  trash: 'In the trash.',
};
type Place = keyof typeof moves;

const snoozes = { 'In 3 hours': null, 'Tomorrow, 8:00': 1, 'In a week, 8:00': 7 };
const hourMs = 3_600_000;
const morning = 8 * 60;
const mostDrafts = 100;
/** Most characters of the text of a mail on the page. */
const longestText = 100_000;

/** Returns the path of the thread, with the filters of the list beside it. */
const here = (asked: Asked) => withQuery(asked.path, listQuery(asked));
const ownPath = (asked: Asked) => `/console${here(asked)}`;

function tools(asked: Asked, { read, starred, folder, snoozedUntil }: Thread): Part {
  const change = (label: Part, fields: Record<string, string>, key?: string) =>
    button(asked, {
      action: 'change',
      label,
      fields: { ...fields, was: folder },
      look: 'plain',
      ...(key !== undefined && { key }),
    });
  const to = (place: Place, shape: 'archive' | 'blocked' | 'trash' | 'inbox', key?: string) =>
    place !== folder &&
    change(html`${icon(shape)} <span class="lab">${moves[place]}</span>`, { folder: place }, key);
  return html`<div class="tools">
    <a class="btn plain" href=${listPath(asked)} aria-label="Back to the list">${icon('list')}</a>
    ${to('archive', 'archive', 'e')}${folder !== 'inbox' && to('inbox', 'inbox')}
    ${
      snoozedUntil
        ? change('End the snooze', { snooze: '' })
        : html`<button type="button" class="btn plain" popovertarget="snooze" data-key="h" aria-keyshortcuts="h">${icon('clock')} <span class="lab">Snooze</span></button>`
    }
    <button type="button" class="btn plain" popovertarget="label" data-key="l" aria-keyshortcuts="l">${icon('label')} <span class="lab">Label</span></button>
    <button type="button" class="btn plain" popovertarget="note" data-key="n" aria-keyshortcuts="n">${icon('note')} <span class="lab">Note</span></button>
    <button type="button" class="btn plain" popovertarget="further" aria-label="More to do">…</button>
    <div id="further" popover="auto" class="menu">
      ${change(read ? 'Mark as unread' : 'Mark as read', { read: String(!read) }, 'm')}
      ${change(starred ? 'Remove the star' : 'Star', { starred: String(!starred) }, 's')}
      ${to('spam', 'blocked')}${to('trash', 'trash')}
      ${folder === 'trash' && asked.may('mailboxes:delete') && confirmed(asked, { action: 'delete', label: 'Delete for good', question: 'Delete this thread?', goes: 'All its mails, notes and drafts go with it.' })}</div>
    <div id="snooze" popover="auto"><h2>Snooze until</h2><p class="soft">The thread leaves the inbox and comes back unread.</p>
      <div class="row">${Object.keys(snoozes).map((until) => change(until, { snooze: until }))}</div></div>
    <div id="label" popover="auto"><h2>Add a label</h2>${form(asked, 'label', 'Add', field({ name: 'label', label: 'Label', isRequired: true }))}</div>
    <div id="note" popover="auto"><h2>Note for your team</h2>${form(asked, 'note', 'Add the note', field({ name: 'body', label: 'Note', type: 'textarea', isRequired: true, rows: 3 }))}</div>
    ${!read && opens(asked)}
  </div>`;
}

/** Draws a form that the script posts when the thread opens. Without a script it is a button. */
function opens(asked: Asked): Part {
  return html`<form method="post" class="action" data-opens="">${hidden(asked, 'opened')}
    <button class="btn plain">${icon('done')} <span class="lab">Mark as read</span></button></form>`;
}

function about(asked: Asked, { labels, snoozedUntil, folder }: Thread): Part {
  const mayWrite = asked.may('mailboxes:write');
  const label = (own: string) =>
    mayWrite
      ? button(asked, {
          action: 'unlabel',
          label: html`${own} ✕<span class="sr">, remove the label</span>`,
          fields: { label: own },
          look: 'tag',
        })
      : html`<span class="tag">${own}</span>`;
  return html`<p class="about">${folder !== 'inbox' && html`<span>${moves[folder as Place] ?? folder}</span>`}
    ${snoozedUntil && html`<span>Snoozed until ${time(snoozedUntil)}</span>`}</p>
    ${labels.length > 0 && html`<div class="about">${labels.map(label)}</div>`}`;
}

/** Reads the open mails: the newest, the last received mail, and the mail of the query. */
async function openedOf(
  { ask, may, query }: Asked,
  mails: readonly { id: string; direction: string }[],
): Promise<Opened[]> {
  if (!may('messages:read')) return [];
  const ids = mails.map(({ id }) => id);
  const question = mails.findLast(({ direction }) => direction === 'inbound')?.id;
  const whole = query['whole'];
  const asked = [ids.at(-1), question, whole];
  const wanted = new Set(asked.filter((id) => id !== undefined && ids.includes(id)));
  return Promise.all(
    [...wanted].map(async (id = '') => {
      const { text, html: source } = await ask(messageRoutes.email, { params: { id } });
      return { id, text: text?.slice(0, longestText) ?? '', hasHtml: Boolean(source) };
    }),
  );
}

/** Returns the mails to show: the newest, or with `from` in the query a page of 50 in order. */
async function mailsOf({ ask, params, query }: Asked) {
  const from = query['from'];
  if (from === undefined) return { mails: await ask(latestMessages, { params }), next: null };
  const wanted = { limit: 50, cursor: from === 'first' ? undefined : from };
  const page = await ask(threadRoutes.messages, { params, query: wanted });
  return { mails: page.items, next: page.nextCursor };
}

async function draftsOf({ ask, params: { id: mailboxId } }: Asked, { hasDraft, id }: Thread) {
  if (!hasDraft) return [];
  const params = { id: mailboxId };
  const query = { limit: mostDrafts };
  const { items } = await ask(answeringRoutes.listDrafts, { params, query });
  return items.filter(({ threadId }) => threadId === id);
}

async function thread(asked: Asked): Promise<View> {
  const { ask, may, params } = asked;
  const [own, { mails, next }, { items: notes }, mailbox, proposals] = await Promise.all([
    ask(threadRoutes.get, { params }),
    mailsOf(asked),
    ask(noteRoutes.list, { params }),
    ask(mailboxRoutes.get, { params: { id: params['id'] } }),
    proposalsOf(asked),
  ]);
  const [drafts, opened, list] = await Promise.all([
    draftsOf(asked, own),
    openedOf(asked, mails),
    mailList(asked, mailbox, new Set(proposals.map(({ threadId }) => threadId))),
  ]);
  const proposed = proposals.filter(({ threadId }) => threadId === own.id);
  const last = mails.findLast(({ direction }) => direction === 'inbound') ?? mails.at(-1);
  const path = (from: string) => withQuery(ownPath(asked), { from });
  const older = own.messageCount - mails.length;
  const isWhole = asked.query['from'] !== undefined;
  const title = titleOfMail(own.subject);
  const body = html`<div class="mailapp">${list}
    <section class="read" aria-label="Thread"><header>${may('mailboxes:write') ? tools(asked, own) : html`<div class="tools"><a class="btn plain" href=${listPath(asked)}>Back to the list</a></div>`}
      <h1>${title}</h1>${about(asked, own)}</header>
      <div class="flow">${asked.problem}
        ${!isWhole && older > 0 && html`<p class="event"><a href=${path('first')}>${older} earlier mails</a></p>`}
        ${flow(asked, { mails, notes: afterFirst(notes, mails, older > 0), drafts, opened })}
        ${next && html`<p class="event"><a href=${path(next)}>Later mails</a></p>`}
        ${proposed.map(({ part }) => part)}</div>
      ${may('mailboxes:send') && last && (await replyDock(asked, { last, mailbox, isFirst: proposed.length === 0 }))}
    </section></div>`;
  return {
    title,
    isBare: true,
    live: 'announce',
    body,
    command: `svc threads show ${params['threadId']}`,
    request: `GET /v1/mailboxes/${params['id']}/threads/${params['threadId']}/messages`,
  };
}

/** If earlier mails are not shown (`isCut`), leaves out notes from before the first shown mail. */
function afterFirst<Note extends { createdAt: string }>(
  notes: readonly Note[],
  [first]: readonly { createdAt: string }[],
  isCut: boolean,
): readonly Note[] {
  if (!isCut || !first) return notes;
  return notes.filter(({ createdAt }) => createdAt >= first.createdAt);
}

/** Returns the end of a snooze in the time zone of the organization; null without a snooze. */
function snoozeEnd({ now, timezone }: Asked, until: string): string | null {
  if (!Object.hasOwn(snoozes, until)) return null;
  const days = snoozes[until as keyof typeof snoozes];
  if (days === null) return new Date(now + 3 * hourMs).toISOString();
  const day = dayIn(timezone, now + days * 24 * hourMs);
  return new Date(timeIn(timezone, day, morning)).toISOString();
}

async function change(asked: Asked, given: Form): Promise<string | Done> {
  const { read, starred, folder, snooze, was = 'inbox' } = given;
  const snoozedUntil = snooze === undefined ? undefined : snoozeEnd(asked, snooze);
  const body = {
    ...(read !== undefined && { read: read === 'true' }),
    ...(starred !== undefined && { starred: starred === 'true' }),
    ...(folder !== undefined && { folder }),
    ...(snoozedUntil !== undefined && { snoozedUntil }),
  };
  await asked.ask(threadRoutes.update, { params: asked.params, body });
  const back = (said: string, fields: Record<string, string>) => ({
    to: listPath(asked),
    said,
    undo: { path: asked.path, action: 'change', fields },
  });
  if (folder !== undefined) {
    return back(moved[folder as Place] ?? 'Moved.', { folder: was, was: folder });
  }
  return snoozedUntil ? back('Snoozed.', { snooze: '' }) : ownPath(asked);
}

const onLabels = (way: Doorway, undo: 'label' | 'unlabel') =>
  calls(way, {
    to: here,
    body: ({ label = '' }) => ({ labels: [label] }),
    said: ({ label }) =>
      undo === 'unlabel' ? `It has the label “${label}”.` : `The label “${label}” is gone.`,
    undo: [undo, 'label'],
  });

const keep = (asked: Asked, { messageId = '', text = '' }: Form) =>
  keepDraft(asked, { inReplyToMessageId: messageId, text });

/** Undoes a send: the mail becomes a draft of the thread. */
async function undo(asked: Asked, { messageId = '' }: Form): Promise<Done> {
  await asked.ask(undoRoutes.cancel, { params: { id: messageId } });
  return { to: ownPath(asked), said: 'Not sent: it is a draft.' };
}

export const threadPages: readonly Page[] = [
  {
    path: '/mailboxes/:id/threads/:threadId',
    needs: 'mailboxes:read',
    show: thread,
    actions: {
      change: { needs: 'mailboxes:write', run: change },
      opened: calls(threadRoutes.update, { to: here, body: () => ({ read: true }) }),
      delete: calls(threadRoutes.delete, {
        destroys: true,
        to: ({ params }) => `/mailboxes/${params['id']}?folder=trash`,
      }),
      label: onLabels(threadRoutes.addLabels, 'unlabel'),
      unlabel: onLabels(threadRoutes.removeLabels, 'label'),
      reply: { needs: 'mailboxes:send', run: reply },
      replyDone: { needs: 'mailboxes:send', run: replyDone },
      forward: { needs: 'mailboxes:send', run: forward },
      keep: { needs: 'mailboxes:write', run: keep },
      undo: { needs: 'mailboxes:send', run: undo },
      note: calls(noteRoutes.create, { to: here, body: ({ body = '' }) => ({ body }) }),
      forget: calls(noteRoutes.delete, {
        destroys: true,
        to: here,
        params: ({ id }) => ({ noteId: id }),
      }),
    },
  },
  {
    path: '/mailboxes/:id/threads/:threadId/messages/:messageId/html',
    needs: 'messages:read',
    async show({ ask, params }) {
      const { messageId: id } = params;
      const email = await ask(messageRoutes.email, { params: { id } });
      const source = email.html ?? '<p>This mail has no HTML, only its text.</p>';
      return framedHtml({ html: source.slice(0, mostShown) });
    },
  },
  {
    path: '/mailboxes/:id/files/:messageId/:n',
    needs: 'mailboxes:read',
    show: async ({ ask, params }) => downloadOf(await ask(attachmentRoutes.get, { params })),
  },
];
