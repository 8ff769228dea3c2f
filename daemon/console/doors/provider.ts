// Single sign-on: the way to the provider, and the return from it. The return ends with a page of
// 200 that continues on its own, since the browser brings no `SameSite=Strict` cookie with it.
import type { FastifyRequest } from 'fastify';
import { countFailure, countFailureOf } from '../../../src/access/sessions/failures.ts';
import { findPersonSession, recordProof } from '../../../src/access/sessions/person-sessions.ts';
import { strengthOfPerson } from '../../../src/access/sessions/person-strength.ts';
import { freshMs, lastProofAt } from '../../../src/access/sessions/proofs.ts';
import {
  beginProvider,
  type Flow,
  type FlowPurpose,
  finishProvider,
} from '../../../src/access/single-sign-on/flow.ts';
import type { Identity } from '../../../src/access/single-sign-on/identity.ts';
import {
  bindIdentity,
  type IdentityRefusal,
  personOfIdentity,
  personOfInvitation,
  proveIdentity,
} from '../../../src/access/single-sign-on/people.ts';
import { ProviderError } from '../../../src/access/single-sign-on/provider.ts';
import { longestSessionMs } from '../../../src/access/single-sign-on/role-claim.ts';
import { isLoopbackHost } from '../../../src/platform/net/network-address.ts';
import { hashOfToken } from '../../../src/platform/runtime/tokens.ts';
import type { Answer } from '../answers.ts';
import { nextPath, root } from '../browser-request.ts';
import { html } from '../html.ts';
import type { Form } from '../page.ts';
import { type Door, plainAnswer, type Site } from '../site.ts';
import { goesOn, signInPerson } from './begin.ts';
import { signInPage } from './sign-in.ts';

const refusals: Readonly<Record<IdentityRefusal, string>> = {
  'no-place':
    'This account opens nothing here. Sign in another way and bind it in My account, or ask an owner for an invitation.',
  disabled: 'Your place here is disabled. Ask an owner of your organization.',
  'no-role': '{label} gives you no role here. Ask an owner of your organization.',
  'unreadable-role': '{label} did not say your role, so nothing was changed. Try it again.',
  'bound-elsewhere': 'This account of {label} belongs to somebody else here.',
  'already-bound': 'Another account of {label} is bound already. Unbind it first.',
  'other-address': '{label} gives another address than the invitation names.',
  'invitation-ended': 'This invitation does not work any more. Ask for a new one.',
  'not-fresh': '{label} did not ask you anew, so this is no proof. Choose another way.',
};

const faults: Readonly<Record<string, string>> = {
  denied: '{label} refused the sign-in. Try it again, or come in another way.',
  unverified: 'The answer of {label} could not be verified, so nobody signed in.',
  'not-begun': 'This browser began no sign-in in the last 10 minutes. Begin it here.',
  off: 'Single sign-on is not set up here (console.signIn.oidc).',
};

/** Answers with the sign-in page; `{label}` in a problem is the name of the provider. */
function failed(site: Site, request: FastifyRequest, problem: string | undefined): Answer {
  const { label } = site.app.config.console.signIn.oidc;
  const notice = problem === undefined ? { state: 'sso' as const } : {};
  const named = problem && { problem: problem.replace('{label}', label) };
  return signInPage(site, request, { status: 401, ...notice, ...named });
}

async function refused(
  site: Site,
  request: FastifyRequest,
  identity: Identity,
  reason: IdentityRefusal,
): Promise<Answer> {
  await countFailureOf(site.app, identity);
  return failed(site, request, refusals[reason]);
}

/**
 * Returns the callback URL. Without `http.publicUrl`, on this machine, it has the requested host.
 */
function callbackUrlOf({ app }: Site, { headers }: FastifyRequest): string {
  const { publicUrl } = app.config.http;
  const own = `http://${headers.host}`;
  const isHere = URL.canParse(own) && isLoopbackHost(new URL(own).hostname.replace(/[[\]]/g, ''));
  const base = publicUrl ?? (isHere ? own : app.publicUrl.current);
  return new URL(`${root}/oidc/callback`, base).href;
}

/** Answers with a page that leads to the provider. */
export const toProvider: Door = async (site, request) => {
  const { app, cookies } = site;
  const { next, ...asked } = request.query as Form;
  const purpose = await site.workload.begin(() => purposeOf(site, request, asked));
  if (!purpose) return failed(site, request, faults['not-begun']);
  const callbackUrl = callbackUrlOf(site, request);
  const { label } = app.config.console.signIn.oidc;
  const to = purpose.purpose === 'proof' ? '/console/asks-again' : nextPath(next);
  try {
    const begin = { ...purpose, next: to, callbackUrl };
    const { url, cookie } = await beginProvider(app, begin);
    const headers = {
      'set-cookie': cookies.write('svc_console_flow', cookie),
      // A redirect would fail after a form: the content policy (`form-action`) forbids a form to
      // lead to a different site.
      refresh: `0; url=${url}`,
    };
    const body = html`<p><a href=${url} rel="noreferrer">Continue with ${label}</a></p>`;
    return plainAnswer(site, 200, { title: `To ${label}`, body }, headers);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return failed(site, request, faults[error.fault]);
  }
};

/**
 * Returns the purpose of a visit to the provider; null for a proof without a session of a person,
 * and for a binding without a fresh proof.
 */
async function purposeOf(
  { app, cookies }: Site,
  request: FastifyRequest,
  asked: Form,
): Promise<FlowPurpose | null> {
  const { invitation, for: wish } = asked;
  if (invitation) return { purpose: 'invitation', invitationHash: hashOfToken(invitation) };
  if (wish !== 'bind' && wish !== 'proof') return { purpose: 'sign-in' };
  const sessionHash = hashOfToken(cookies.read(request, 'svc_console') ?? '');
  const found = await findPersonSession(app, sessionHash);
  if (!found) return null;
  const { personId, proofs } = found;
  const strength = await strengthOfPerson(app, personId);
  const isFresh = app.clock.now() - lastProofAt(proofs, strength) < freshMs;
  return wish === 'proof' || isFresh ? { purpose: wish, sessionHash, personId } : null;
}

/** Answers the return from the provider, and deletes the flow cookie. */
export const fromProvider: Door = async (site, request) => {
  const { app, cookies } = site;
  const query = request.url.split('?')[1] ?? '';
  const cookie = cookies.read(request, 'svc_console_flow');
  const done = await finishProvider(app, { query, cookie });
  if ('fault' in done) await countFailure(app, 'provider', null);
  const answer =
    'identity' in done
      ? await site.workload.begin(() => answered(site, request, done.flow, done.identity))
      : failed(site, request, faults[done.fault]);
  const set = [answer.headers?.['set-cookie'] ?? []].flat();
  const cookiesAfter = [...set, cookies.write('svc_console_flow', '')];
  return { ...answer, headers: { ...answer.headers, 'set-cookie': cookiesAfter } };
};

async function answered(
  site: Site,
  request: FastifyRequest,
  flow: Flow,
  identity: Identity,
): Promise<Answer> {
  const { app } = site;
  if (flow.purpose === 'bind' || flow.purpose === 'proof') {
    return ofSession(site, request, flow, identity);
  }
  const found =
    flow.purpose === 'invitation'
      ? await personOfInvitation(app, flow.invitationHash, identity)
      : await personOfIdentity(app, identity);
  if ('refused' in found) return refused(site, request, identity, found.refused);
  const { personId, organizationId } = found;
  const { organization } = app.config.console.signIn.oidc.join;
  return signInPerson(site, request, {
    personId,
    organizationId: organizationId ?? undefined,
    proof: 'provider',
    provenAt: Math.min(app.clock.now(), identity.authTime ?? 0),
    longestMs: longestSessionMs(app, organizationId ?? organization ?? ''),
    next: flow.next,
  });
}

/** Binds the provider's account to the person of an open session, or proves the person by it. */
async function ofSession(
  site: Site,
  request: FastifyRequest,
  flow: Extract<Flow, { sessionHash: string }>,
  identity: Identity,
): Promise<Answer> {
  const { app } = site;
  const session = await findPersonSession(app, flow.sessionHash);
  if (session?.personId !== flow.personId) return failed(site, request, faults['not-begun']);
  const { personId, organizationId } = session;
  const { begunAt } = flow;
  const done =
    flow.purpose === 'bind'
      ? await bindIdentity(app, personId, identity)
      : await proveIdentity(app, { personId, organizationId, begunAt }, identity);
  if ('refused' in done) return refused(site, request, identity, done.refused);
  const isProof = flow.purpose === 'proof';
  const now = app.clock.now();
  const provenAt = Math.min(now, identity.authTime ?? (isProof ? now : 0));
  await recordProof(app, flow.sessionHash, 'provider', provenAt);
  return goesOn(site, 'Done', isProof ? flow.next : '/console/account');
}
