// Keeps a form that was sent after the end of the session. The form is stored with the ended
// session for ten minutes, and given back after a sign-in of the same person, key or operator in
// this browser.
import type { FastifyRequest } from 'fastify';
import { endedSession, keepInput } from '../../../src/access/sessions/kept-input.ts';
import type { Answer } from '../answers.ts';
import { meantIn, organizationOfForm } from '../browser-request.ts';
import { mostFormBytes, readFields, type Site } from '../site.ts';
import { signInPage } from './sign-in.ts';

/** Forms that are not kept: they have a meaning only in the session that has ended. */
const proofPaths = ['/asks-again', '/sign-out', '/switch', '/seen', '/passkey-question'];

/** Keeps the form of an ended session, and answers with the sign-in page. */
export async function keepOfEnded(
  site: Site,
  request: FastifyRequest,
  path: string,
): Promise<Answer> {
  const { app, cookies, workload } = site;
  const token = cookies.read(request, 'svc_console');
  const ended = token === null ? null : await workload.begin(() => endedSession(app, token));
  if (token === null || ended === null || proofPaths.includes(path)) {
    return signInPage(site, request);
  }
  const form = await readFields(site, request, mostFormBytes);
  const { _form, _kept, ...fields } = form ?? {};
  if (organizationOfForm(token, _form) !== ended) return signInPage(site, request);
  // With `_kept`, the request only asks to send a form that is kept already. That form stays kept.
  if (_kept === '1') return signInPage(site, request, { status: 401, state: 'typed' });
  const search = new URLSearchParams(meantIn(request.query)).toString();
  const input = { organizationId: ended, path, search, fields, asks: '', strength: 'any' } as const;
  if (await workload.begin(() => keepInput(app, token, input))) {
    return signInPage(site, request, { status: 401, state: 'typed' });
  }
  const problem =
    'Your session was over before you sent the form, and a form above 64 KB is not kept. Go back in your browser to copy what you typed.';
  return signInPage(site, request, { status: 401, problem });
}
