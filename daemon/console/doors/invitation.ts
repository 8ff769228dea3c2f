// The page behind an invitation. A new person accepts by a button, and gets a session of that
// organization alone. A known person signs in first, then accepts: the link alone opens no account.
import type { FastifyRequest } from 'fastify';
import {
  acceptInvitation,
  declineInvitation,
  type Invitation,
  readInvitation,
} from '../../../src/access/members/invitations.ts';
import { switchOrganization } from '../../../src/access/sessions/person-sessions.ts';
import { findSession, type Session } from '../../../src/access/sessions/sessions.ts';
import { ForbiddenError } from '../../../src/platform/errors.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { type Answer, seeOther } from '../answers.ts';
import { withQuery } from '../api.ts';
import { html, type Part } from '../html.ts';
import { facts } from '../parts/facts.ts';
import { type Door, plainAnswer, readFields, type Site, sentence } from '../site.ts';
import { signInPerson } from './begin.ts';

const ended = (site: Site): Answer =>
  sentence(
    site,
    410,
    'This invitation does not work any more',
    'It was used, or replaced by a newer mail, or 7 days passed. Ask your organization for a new one.',
  );

/** Returns the session of the browser if a person is signed in; null otherwise. */
async function personSession(site: Site, request: FastifyRequest): Promise<Session | null> {
  const { app, authenticator, cookies } = site;
  const token = cookies.read(request, 'svc_console');
  const session = token === null ? null : await findSession(app, authenticator, token);
  return session?.caller.by.kind === 'member' ? session : null;
}

const personIdOf = (session: Session | null) =>
  session?.caller.by.kind === 'member' ? session.caller.by.personId : null;

export const invitationPage: Door = async (site, request, { token = '' }) =>
  site.workload.begin(async () => {
    const invitation = await readInvitation(site.app, token);
    if (!invitation) return ended(site);
    const { organization, inviter, person } = invitation;
    const session = await personSession(site, request);
    const title = `${inviter} invites you to ${organization}`;
    const isKnown = person !== null && person.id !== personIdOf(session);
    const body = isKnown ? signInFirst(invitation, token) : accepting(site, invitation);
    return plainAnswer(site, 200, { title, body: html`${shown(invitation)}${body}` });
  });

function shown({ row, organization, inviter }: Invitation): Part {
  const { email, role, expires_at } = row;
  const until = isoTime(expires_at);
  return facts({ organization, inviter, email, role, until }, [
    ['Organization', 'organization'],
    ['Invited by', 'inviter'],
    ['Your address', 'email'],
    ['Your role', 'role'],
    ['Works until (UTC)', 'until'],
  ]);
}

function signInFirst({ row }: Invitation, token: string): Part {
  const to = withQuery('/console/sign-in', { next: `/console/invitation/${token}` });
  return html`<p>${row.email} has an account here. Sign in as always; then you see the invitation.</p>
    <p><a class="button first" href=${to}>Sign in and look at it</a></p>`;
}

function accepting({ app }: Site, { row, person, organization }: Invitation): Part {
  const { oidc } = app.config.console.signIn;
  const note = person
    ? 'Accepting opens this organization beside your others.'
    : `Accepting makes an account for this address, and signs you in to ${organization} alone. Colleagues there see your name and address, how you sign in, and when you were last here.`;
  return html`<p>${note}</p>
    <form method="post"><label>Your name <input name="name" value=${row.name ?? ''} maxlength="100" autocomplete="name" /></label>
      <button class="btn first">Accept</button></form>
    ${!person && oidc.issuer !== null && html`<form method="post"><button class="btn" name="by" value="provider">Accept with ${oidc.label}</button></form>`}
    <form method="post"><button class="btn" name="decline" value="1">Decline</button></form>`;
}

export const answerInvitation: Door = async (site, request, { token = '' }) => {
  const form = await readFields(site, request);
  return site.workload.begin(async () => {
    if (form?.['decline'] === '1') {
      if (!(await declineInvitation(site.app, token))) return ended(site);
      return sentence(site, 200, 'Declined', 'The invitation is gone, and nobody signed in.');
    }
    if (form?.['by'] === 'provider') {
      const to = withQuery('/console/sign-in/provider', { invitation: token });
      return plainAnswer(
        site,
        200,
        { title: 'Continue', body: html`<p><a href=${to}>Continue at the provider</a></p>` },
        { refresh: `0; url=${to}` },
      );
    }
    return accept(site, request, token, form?.['name']);
  });
};

async function accept(
  site: Site,
  request: FastifyRequest,
  token: string,
  name?: string,
): Promise<Answer> {
  const { app } = site;
  const session = await personSession(site, request);
  try {
    const accepted = await acceptInvitation(app, token, personIdOf(session), name);
    if (!accepted) return ended(site);
    const { personId, isNew, member } = accepted;
    const organizationId = member.organization_id;
    if (isNew) {
      const person = { personId, organizationId, isAlone: true, proof: 'link' } as const;
      return signInPerson(site, request, person);
    }
    if (session) await switchOrganization(app, session.token, organizationId);
    return seeOther('/console');
  } catch (error) {
    if (!(error instanceof ForbiddenError)) throw error;
    return sentence(site, 403, 'Not accepted', error.message);
  }
}
