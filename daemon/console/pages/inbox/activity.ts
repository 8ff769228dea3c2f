// Actions of keys and installations in a mailbox.
import { mailboxActionRoutes } from '../../../../src/inbox/approvals/routes.ts';
import { html, together } from '../../html.ts';
import type { Page } from '../../page.ts';
import { choice, filters, state, table, time } from '../../parts.ts';
import { actionColumns, actionStates, actionTypes } from './review.ts';

export const activityPage: Page = {
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
      request: `GET /v1/mailboxes/${params['id']}/actions`,
    };
  },
};
