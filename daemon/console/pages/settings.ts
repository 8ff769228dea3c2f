// The organization and the limits of the plan. changes.ts has the log of changes.
import { planRoutes } from '../../../src/access/admission/routes.ts';
import { organizationDesk, organizationRoutes } from '../../../src/access/organizations/routes.ts';
import { isStrongEnough } from '../../../src/access/sessions/proofs.ts';
import { providerName } from '../../../src/core/config/console.ts';
import { Refusal } from '../api.ts';
import { html, type Part, together } from '../html.ts';
import type { Asked, Page } from '../page.ts';
import { calls } from '../parts/calls.ts';
import { card } from '../parts/card.ts';
import { facts } from '../parts/facts.ts';
import { button, field, form } from '../parts/form.ts';
import { state } from '../states.ts';

/** Draws the button that asks everybody for a stronger sign-in, or takes that back. */
function signInButton(asked: Asked, signIn: 'any' | 'strong'): Part {
  const turn = signIn === 'any' ? 'strong' : 'any';
  const label =
    turn === 'strong'
      ? `Ask everybody for a passkey or ${providerName(asked.config)}`
      : 'Accept every sign-in';
  return button(asked, { action: 'signIn', label, fields: { signIn: turn } });
}

async function draw(asked: Asked): Promise<Part> {
  const { ask, may } = asked;
  const [organization, plan] = await Promise.all([
    ask(organizationRoutes.current),
    ask(planRoutes.show),
  ]);
  const { name, timezone, signIn } = organization;
  const fields = html`
    ${field({ name: 'name', label: 'Name', value: name, isRequired: true })}
    ${field({ name: 'timezone', label: 'Time zone', value: timezone, isRequired: true, hint: 'Such as Europe/Berlin: days of reports and times of campaigns' })}
  `;
  return together(
    card(
      'Organization',
      together(
        facts(organization, [
          ['Name', 'name'],
          ['Time zone', 'timezone'],
          ['Paused because', 'pauseReason'],
          ['Review', 'onboarding.status'],
          ['Messages kept for days', 'retention.messagesDays'],
          ['Content kept for days', 'retention.contentDays'],
          ['Found by these values', 'metadataKeys'],
          ['Id', 'id'],
        ]),
        may('operator') &&
          html`<details><summary>Change name and time zone</summary>${form(asked, 'change', 'Save', fields)}</details>`,
      ),
      { more: state(organization.sendingStatus) },
    ),
    may('members:write') &&
      card(
        'Signing in',
        html`<p>${signIn === 'strong' ? `Everybody signs in by a passkey or ${providerName(asked.config)}.` : 'A mailed link is enough to sign in.'}</p>${signInButton(asked, signIn)}`,
      ),
    card(
      'Plan',
      together(
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
      ),
    ),
  );
}

export const settingsPages: readonly Page[] = [
  {
    path: '/organization',
    needs: 'organization:read',
    show: async (asked) => ({
      title: 'Organization',
      body: await draw(asked),
      command: 'svc orgs show',
      request: 'GET /v1/organizations/current',
    }),
    actions: {
      signIn: {
        needs: 'members:write',
        asks: 'change the sign-in of this organization',
        async run({ ask, session, config }, { signIn }) {
          if (!isStrongEnough(session.proofs, 'strong')) {
            const message = `Sign in by a passkey or ${providerName(config)} first: the change would keep you out.`;
            throw new Refusal(403, { _tag: 'ForbiddenError', message }, '');
          }
          await ask(organizationDesk.signIn, { body: { signIn } });
          return '/console/organization';
        },
      },
      change: calls(organizationDesk.update, {
        body: ({ name = '', timezone = '' }) => ({ name: name.trim(), timezone: timezone.trim() }),
      }),
    },
  },
];
