// Mailboxes as in a mail program: folders, threads, search. thread.ts shows a thread, drafts.ts
// unsent mail. The first page of this file lists actions of keys.
import { mailboxRoutes } from '../../../../src/identity/mailboxes/routes.ts';
import { mailboxActionRoutes } from '../../../../src/inbox/approvals/routes.ts';
import { threadRoutes } from '../../../../src/inbox/threads/routes.ts';
import type { Thread } from '../../../../src/inbox/threads/schema.ts';
import { html, type Part, together } from '../../html.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { filters } from '../../parts/filter-row.ts';
import { choice, field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { written } from '../../parts/written.ts';
import { state } from '../../states.ts';
import { draftPages } from './drafts.ts';
import { actionColumns, actionFilters } from './review.ts';
import { folders, threadPages } from './thread.ts';

// Actions of keys and installations in a mailbox.

const activityPage: Page = {
  path: '/mailboxes/:id/activity',
  needs: 'mailboxes:read',
  async show(asked) {
    const { ask, params } = asked;
    const { state: wanted, type, cursor } = asked.query;
    const query = { state: wanted, type, cursor };
    const [activity, found] = await Promise.all([
      ask(mailboxActionRoutes.activity, { params }),
      ask(mailboxActionRoutes.list, { params, query }),
    ]);
    const counts = activity.actions.byType.map(({ type: name, count }) => `${count} ${name}`);
    return {
      title: 'Activity of keys',
      live: 'announce',
      body: together(
        html`<p>${counts.join(', ') || 'No key acted here.'} ${activity.pendingApprovals > 0 && html`${activity.pendingApprovals} ${state('proposed')}`}</p>`,
        actionFilters(wanted, type),
        table(
          asked,
          found,
          [...actionColumns, ['Decided', ({ decidedAt }) => decidedAt && time(decidedAt)]],
          'No action fits. "svc keys create --send-mode approval" makes a key that proposes.',
        ),
      ),
      command: `svc mailboxes activity ${params['id']}`,
      request: `GET /v1/mailboxes/${params['id']}/actions`,
    };
  },
};

const flags = ['true', 'false'];

async function mailboxes(asked: Asked, given: Form, problem: Part = null): Promise<View> {
  const { ask, query, may } = asked;
  const found = await ask(mailboxRoutes.list, { query: { page: query['page'] } });
  const body = together(
    problem,
    table(
      asked,
      found,
      [
        ['Mailbox', ({ id, slug, displayName }) => link(`/mailboxes/${id}`, displayName || slug)],
        ['Addresses', ({ addresses }) => addresses.map(({ address }) => address).join(', ')],
        ['Status', ({ status }) => state(status)],
      ],
      'There is no mailbox yet: "svc mailboxes create" makes one.',
    ),
    may('mailboxes:configure') && html`<h2>Make a mailbox</h2>`,
    may('mailboxes:configure') &&
      form(
        asked,
        'make',
        'Make the mailbox',
        html`
        ${field({ name: 'slug', label: 'Name', value: given['slug'], isRequired: true, hint: 'Lower-case letters, digits and hyphens' })}
        ${field({ name: 'domain', label: 'Domain', value: given['domain'], hint: 'A verified domain. Empty: the hosted one' })}
        ${field({ name: 'displayName', label: 'Shown as', value: given['displayName'] })}
      `,
      ),
  );
  return {
    title: 'Mailboxes',
    body,
    command: 'svc mailboxes list',
    request: 'GET /v1/mailboxes',
  };
}

async function make({ ask }: Asked, { slug = '', domain = '', displayName = '' }: Form) {
  const body = {
    slug: slug.trim(),
    ...(domain.trim() !== '' && { domain: domain.trim() }),
    ...(displayName.trim() !== '' && { displayName: displayName.trim() }),
  };
  const { id } = await ask(mailboxRoutes.create, { body });
  return `/console/mailboxes/${id}`;
}

/** Draws the subject of a thread with marks for its states. */
function subjectOf({ params }: Asked, thread: Thread): Part {
  const { id, subject, preview, starred, read, hasAttachments, hasDraft, snoozedUntil } = thread;
  const text = subject || '(no subject)';
  return html`${starred && '★ '}${link(`/mailboxes/${params['id']}/threads/${id}`, read ? text : html`<strong>${text}</strong>`)}
    ${!read && html` <span class="pill info">new</span>`} <small>${preview} ${hasAttachments && '(with attachments)'}
    ${hasDraft && '(with a draft)'} ${snoozedUntil && html`(snoozed until ${time(snoozedUntil)})`}</small>`;
}

async function threads(asked: Asked): Promise<Part> {
  const { ask, query, may, params } = asked;
  const { folder, q, label, unread, starred, snoozed, after, before, cursor } = query;
  const isSearch = [q, label, starred, snoozed, unread].some(Boolean);
  const here = folder ?? (isSearch ? undefined : 'inbox');
  // A snoozed thread has left the inbox until its time; a search and the filter find it.
  const awake = here === 'inbox' && !isSearch ? 'false' : snoozed;
  const wanted = { q, folder: here, label, unread, starred, snoozed: awake, after, before, cursor };
  const found = await ask(threadRoutes.list, { params, query: wanted });
  const at = `/mailboxes/${params['id']}`;
  return together(
    html`<nav class="tabs" aria-label="Folders">
      ${folders.map((one) => html`<a href=${`/console${at}?folder=${one}`} aria-current=${one === here ? 'true' : undefined}>${one}</a>`)}
      ${link(`${at}/drafts`, 'kept drafts')}
      ${link(`${at}/activity`, 'activity of keys')}
      ${may('mailboxes:send') && link(`${at}/new`, 'write a mail')}
    </nav>`,
    filters(html`
      ${field({ name: 'q', label: 'Search', value: q, type: 'search', hint: 'words, "a phrase", from: subject: has:attachment' })}
      ${choice({ name: 'folder', label: 'Folder', options: folders, value: folder })}
      ${field({ name: 'label', label: 'Label', value: label })}
      ${choice({ name: 'unread', label: 'Unread', options: flags, value: unread })}
      ${choice({ name: 'starred', label: 'Starred', options: flags, value: starred })}
      ${choice({ name: 'snoozed', label: 'Snoozed', options: flags, value: snoozed })}
    `),
    table(
      asked,
      found,
      [
        ['From', ({ from }) => from?.displayName || from?.address],
        ['Subject', (thread) => subjectOf(asked, thread)],
        ['Mails', ({ messageCount }) => messageCount],
        ['Labels', ({ labels }) => labels.join(', ')],
        ['Last', ({ lastActivityAt }) => time(lastActivityAt)],
      ],
      'No thread is here. Mail to an address of the mailbox arrives in its inbox.',
    ),
  );
}

export const mailboxPages: readonly Page[] = [
  {
    path: '/mailboxes',
    needs: 'mailboxes:read',
    show: (asked) => mailboxes(asked, {}),
    actions: {
      make: written('mailboxes:configure', make, mailboxes),
    },
  },
  {
    path: '/mailboxes/:id',
    needs: 'mailboxes:read',
    async show(asked) {
      const { ask, params } = asked;
      const { slug, displayName } = await ask(mailboxRoutes.get, { params });
      return {
        title: displayName || slug,
        live: 'announce',
        body: await threads(asked),
        command: `svc threads list ${params['id']}`,
        request: `GET /v1/mailboxes/${params['id']}/threads`,
      };
    },
  },
  ...draftPages,
  activityPage,
  ...threadPages,
];
