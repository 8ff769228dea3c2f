// Mailboxes as in a mail program: folders, threads, search. thread.ts shows a thread, drafts.ts
// unsent mail. The first page of this file lists actions of keys.
import { mailboxRoutes } from '../../../../src/identity/mailboxes/routes.ts';
import { mailboxActionRoutes } from '../../../../src/inbox/approvals/routes.ts';
import { html, together } from '../../html.ts';
import type { Asked, Form, Page, View } from '../../page.ts';
import { field, form } from '../../parts/form.ts';
import { link } from '../../parts/link.ts';
import { table } from '../../parts/table.ts';
import { time } from '../../parts/times.ts';
import { state } from '../../states.ts';
import { draftPages } from './drafts.ts';
import { mailList } from './list.ts';
import { proposalsOf } from './proposals.ts';
import { actionColumns, actionFilters, typeWords } from './review.ts';
import { threadPages } from './thread.ts';

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
    const counts = activity.actions.byType.map(
      ({ type: name, count }) => `${typeWords[name] ?? name} ${count}`,
    );
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

async function mailboxes(asked: Asked): Promise<View> {
  const { ask, query, may } = asked;
  const found = await ask(mailboxRoutes.list, { query: { page: query['page'] } });
  const body = together(
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
        ${field({ name: 'slug', label: 'Name', isRequired: true, hint: 'Lower-case letters, digits and hyphens' })}
        ${field({ name: 'domain', label: 'Domain', hint: 'A verified domain. Empty: the hosted one' })}
        ${field({ name: 'displayName', label: 'Shown as' })}
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

export const mailboxPages: readonly Page[] = [
  {
    path: '/mailboxes',
    needs: 'mailboxes:read',
    show: mailboxes,
    actions: {
      make: { needs: 'mailboxes:configure', run: make },
    },
  },
  {
    path: '/mailboxes/:id',
    needs: 'mailboxes:read',
    async show(asked) {
      const { ask, params } = asked;
      const [mailbox, proposals] = await Promise.all([
        ask(mailboxRoutes.get, { params }),
        proposalsOf(asked),
      ]);
      const waiting = new Set(proposals.map(({ threadId }) => threadId));
      return {
        title: mailbox.displayName || mailbox.slug,
        isBare: true,
        live: 'announce',
        body: html`<div class="mailapp">${await mailList(asked, mailbox, waiting)}<p class="choose">Choose a thread to read it here.</p></div>`,
        command: `svc threads list ${params['id']}`,
        request: `GET /v1/mailboxes/${params['id']}/threads`,
      };
    },
  },
  ...draftPages,
  activityPage,
  ...threadPages,
];
