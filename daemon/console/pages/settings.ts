// The organization, the limits of the plan, and the log of changes with their authors.
import { planRoutes } from '../../../src/access/admission/routes.ts';
import { organizationDesk, organizationRoutes } from '../../../src/access/organizations/routes.ts';
import { isStrongEnough } from '../../../src/access/sessions/proofs.ts';
import { auditRoutes } from '../../http/routes.ts';
import { Refusal } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page } from '../page.ts';
import { facts } from '../parts/facts.ts';
import { filters } from '../parts/filter-row.ts';
import { button, field, form } from '../parts/form.ts';
import { table } from '../parts/table.ts';
import { time } from '../parts/times.ts';

const longestDetails = 300;

async function audit(asked: Asked): Promise<Part> {
  const { action, resource, since, cursor } = asked.query;
  const query = { action, resource, since, cursor };
  const found = await asked.ask(auditRoutes.list, { query });
  return together(
    html`<h2>Changes</h2>`,
    filters(html`
      ${field({ name: 'action', label: 'Action', value: action, type: 'search', hint: 'Such as key.created' })}
      ${field({ name: 'resource', label: 'Id of the resource', value: resource, type: 'search' })}
      ${field({ name: 'since', label: 'Since', value: since, type: 'date' })}
    `),
    table(
      asked,
      found,
      [
        ['When', ({ createdAt }) => time(createdAt)],
        ['Who', ({ actor }) => actor.keyName ?? actor.memberName ?? actor.type],
        ['Action', (entry) => entry.action],
        ['Resource', (entry) => html`<code>${entry.resource.id}</code>`],
        [
          'Details',
          ({ details }) =>
            details !== null &&
            html`<small>${JSON.stringify(details).slice(0, longestDetails)}</small>`,
        ],
      ],
      'No change fits.',
    ),
  );
}

/** Draws the button that asks everybody for a passkey or single sign-on, or takes that back. */
function signInButton(asked: Asked, signIn: 'any' | 'strong'): Part {
  const turn = signIn === 'any' ? 'strong' : 'any';
  const label =
    turn === 'strong' ? 'Ask everybody for a passkey or single sign-on' : 'Accept every sign-in';
  return button(asked, { action: 'signIn', label, fields: { signIn: turn } });
}

async function draw(asked: Asked): Promise<Part> {
  const { ask, may } = asked;
  const [organization, plan, changes] = await Promise.all([
    ask(organizationRoutes.current),
    ask(planRoutes.show),
    audit(asked),
  ]);
  return together(
    facts(organization, [
      ['Name', 'name'],
      ['Time zone', 'timezone'],
      ['Sending', 'sendingStatus'],
      ['Paused because', 'pauseReason'],
      ['Onboarding', 'onboarding.status'],
      ['Messages kept for days', 'retention.messagesDays'],
      ['Content kept for days', 'retention.contentDays'],
      ['Signs in by (any; strong: passkey or single sign-on)', 'signIn'],
      ['Id', 'id'],
    ]),
    may('members:write') && signInButton(asked, organization.signIn),
    may('operator') &&
      html`<details><summary>Change it</summary>${form(
        asked,
        'change',
        'Save',
        html`
        ${field({ name: 'name', label: 'Name', value: organization.name, isRequired: true })}
        ${field({ name: 'timezone', label: 'Time zone', value: organization.timezone, isRequired: true, hint: 'Such as Europe/Berlin' })}
      `,
      )}</details>`,
    html`<h2>Plan</h2>`,
    html`<p>${plan.binds}</p>`,
    facts(plan, [
      ['Plan', 'plan'],
      ['Requests a second', 'rate.perSecond'],
      ['At once', 'rate.burst'],
      ['Emails today', 'daily.usedEmails'],
      ['Emails a day', 'daily.limitEmails'],
      ['Left today', 'daily.remainingEmails'],
      ['Begins anew', 'daily.resetsAt'],
      ['Lifted by', 'liftedBy'],
    ]),
    changes,
  );
}

export const settingsPages: readonly Page[] = [
  {
    path: '/organization',
    needs: 'organization:read',
    show: async (asked) => ({
      title: 'Organization',
      body: await draw(asked),
      command: 'svc audit',
      request: 'GET /v1/audit',
    }),
    actions: {
      signIn: {
        needs: 'members:write',
        asks: 'change the sign-in of this organization',
        async run({ ask, session }, { signIn }) {
          if (!isStrongEnough(session.proofs, 'strong')) {
            const message =
              'Sign in by a passkey or single sign-on first: the change would keep you out.';
            throw new Refusal(403, { _tag: 'ForbiddenError', message }, '');
          }
          await ask(organizationDesk.signIn, { body: { signIn } });
          return '/console/organization';
        },
      },
      change: {
        needs: 'operator',
        async run({ ask }, { name = '', timezone = '' }) {
          const body = { name: name.trim(), timezone: timezone.trim() };
          await ask(organizationDesk.update, { body });
          return '/console/organization';
        },
      },
    },
  },
];
