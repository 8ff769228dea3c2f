// The end of a sign-in of a person: a new session, its cookies, and a page of 200 that continues on
// its own. After a redirect, a browser that comes from a provider or from webmail would not send
// the new cookie (`SameSite=Strict`). It sends the cookie with the next request of our own page.
import type { FastifyRequest } from 'fastify';
import { findInput } from '../../../src/access/sessions/kept-input.ts';
import {
  beginPersonSession,
  type SigningIn,
} from '../../../src/access/sessions/person-sessions.ts';
import { greetBrowser } from '../../../src/outbound/sending/people/warnings.ts';
import { siteOf } from '../../../src/platform/net/network-address.ts';
import { newToken } from '../../../src/platform/runtime/tokens.ts';
import { visitorOf } from '../../http/visitor.ts';
import type { Answer } from '../answers.ts';
import { browserIn, nextPath } from '../browser-request.ts';
import { html } from '../html.ts';
import { plainAnswer, type Site, sentence } from '../site.ts';
import { replaceSession } from './sign-in.ts';

type Begin = Omit<SigningIn, 'browser' | 'network'> & {
  /** Path to continue at. */
  next?: string | undefined;
};

/** Signs in a person, and mails the person if the browser is new. */
export async function signInPerson(
  site: Site,
  request: FastifyRequest,
  { next, ...person }: Begin,
): Promise<Answer> {
  const { app, cookies } = site;
  const [browser, address] = [browserIn(request), visitorOf(app, request.raw)];
  const network = address === '' ? '' : siteOf(address);
  const earlier = cookies.read(request, 'svc_console');
  const organizationId =
    person.organizationId ?? (earlier && (await findInput(app, earlier))?.organizationId);
  const signingIn = { ...person, browser, network, ...(organizationId && { organizationId }) };
  const token = await beginPersonSession(app, signingIn);
  if (token === null) {
    const text = 'This account has no organization here any more. Ask an owner for an invitation.';
    return sentence(site, 403, 'No organization', text);
  }
  const waiting = await replaceSession(site, request, token);
  const browserToken = cookies.read(request, 'svc_console_browser') ?? newToken(app.random);
  await greetBrowser(app, { personId: person.personId, browserToken, browser, address });
  return goesOn(site, 'You are signed in', waiting ?? next, [
    cookies.write('svc_console', token),
    cookies.write('svc_console_browser', browserToken),
  ]);
}

/** Answers with a page that continues on its own. */
export function goesOn(site: Site, title: string, next?: string, set: string[] = []): Answer {
  const to = nextPath(next);
  const body = html`<p><a href=${to}>Continue</a></p>`;
  return plainAnswer(site, 200, { title, body }, { 'set-cookie': set, refresh: `0; url=${to}` });
}
