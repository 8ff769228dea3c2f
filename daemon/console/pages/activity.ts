// What keys and installations did in a mailbox.
import { mailboxActionRoutes } from '../../../src/inbox/approvals/routes.ts';
import { html, together } from '../html.ts';
import type { Page } from '../page.ts';
import { choice, filters, type List, state, table, time } from '../parts.ts';
import { actionColumns, actionStates, actionTypes, type MailboxAction } from './review.ts';

export const activityPage: Page = {
  path: '/mailboxes/:id/activity',
  needs: 'mailboxes:read',
  async show(asked) {
    const { api, ask, params, query } = asked;
    const { state: wanted, type, cursor } = query;
    const path = `/v1/mailboxes/${params['id']}`;
    const [activity, found] = await Promise.all([
      ask(mailboxActionRoutes.activity, { params }),
      api.get<List<MailboxAction>>(`${path}/actions`, { state: wanted, type, cursor }),
    ]);
    const counts = activity.actions.byType.map(({ type: name, count }) => `${count} ${name}`);
    return {
      title: 'Activity of keys',
      live: 'announce',
      body: together(
        html`<p>${counts.join(', ') || 'No key acted here.'} ${activity.pendingApprovals > 0 && html`${activity.pendingApprovals} ${state('proposed')}`}</p>`,
        filters(html`
          ${choice({ name: 'state', label: 'State', options: actionStates, value: wanted })}
          ${choice({ name: 'type', label: 'Type', options: actionTypes, value: type })}
        `),
        table(
          asked,
          found,
          [...actionColumns, ['Decided', ({ decidedAt }) => decidedAt && time(decidedAt)]],
          'No action fits. "svc keys create --send-mode approval" makes a key that proposes.',
        ),
      ),
      command: `svc mailboxes activity ${params['id']}`,
      request: `GET ${path}/actions`,
    };
  },
};
