// The sign-in page: a passkey, a mailed link, the provider, and a folded key.
import type { FastifyRequest } from 'fastify';
import { outsideRanges } from '../../../src/access/keys/constraints.ts';
import { passkeySite } from '../../../src/access/passkeys/site.ts';
import { countFailure } from '../../../src/access/sessions/failures.ts';
import { carryInput } from '../../../src/access/sessions/kept-input.ts';
import { beginSession, endSession, findSession } from '../../../src/access/sessions/sessions.ts';
import { isLoopbackAddress } from '../../../src/platform/net/network-address.ts';
import { newToken } from '../../../src/platform/runtime/tokens.ts';
import { visitorOf } from '../../http/visitor.ts';
import { type Answer, seeOther } from '../answers.ts';
import { withQuery } from '../api.ts';
import { formTokenOf, nextPath, root } from '../browser-request.ts';
import { html, type Part } from '../html.ts';
import type { Form } from '../page.ts';
import { problemOf } from '../refused.ts';
import { type Door, plainAnswer, readOwnForm, type Site } from '../site.ts';

/** Status of the page, and the problem above the ways to sign in. */
interface Notice {
  status: number;
  problem?: string;
  /** Key of a sentence in `states`. */
  state?: keyof typeof states;
}

/** Sentences on the page, by the state in the query. */
const states = {
  late: [
    'This link does not work any more.',
    'It was used already, or it is older than 15 minutes. Ask for a new one here.',
  ],
  sso: ['{label} did not answer.', 'Nothing is lost: try it again, or come in another way.'],
  typed: [
    'Your session was over before you sent the form.',
    'Nothing was done. What you typed waits ten minutes: sign in again, and you can send it.',
  ],
  out: ['You are signed out.', 'Close the browser too if others use it.'],
} as const;

/** Shows the sign-in page. With `next`, a browser with a session is redirected to that page. */
export const signIn: Door = async (site, request) => {
  const { app, authenticator, cookies, workload } = site;
  const { next } = request.query as Form;
  const token = next === undefined ? null : cookies.read(request, 'svc_console');
  const session =
    token !== null && (await workload.begin(() => findSession(app, authenticator, token)));
  return session ? seeOther(nextPath(next)) : signInPage(site, request, { status: 200 });
};

/** Answers with the sign-in page. A sign-in leads back to the requested page. */
export function signInPage(
  site: Site,
  request: FastifyRequest,
  notice: Notice = { status: 401 },
): Answer {
  const { app, cookies } = site;
  const { link, keys, oidc } = app.config.console.signIn;
  const { state = notice.state, next: wished } = request.query as Form;
  const doors = [`${root}/sign-in`, `${root}/oidc/`];
  const isDoor = doors.some((door) => request.url.startsWith(door));
  const next = isDoor ? nextPath(wished) : nextPath(request.method === 'GET' ? request.url : root);
  const isFirstVisit = state === undefined && notice.problem === undefined;
  if (oidc.auto && oidc.issuer !== null && isFirstVisit) return seeOther(providerPath(next));
  const secret = cookies.read(request, 'svc_console_form') ?? newToken(app.random);
  const hidden = html`<input type="hidden" name="_form" value=${formTokenOf(secret)} />
    <input type="hidden" name="next" value=${next} />`;
  const body = html`${notices(site, request, notice)}
${byPasskey(app, hidden)}
    ${link && byMail(hidden, !passkeySite(app))}
    ${oidc.issuer !== null && html`<p><a class="btn" href=${providerPath(next)}>Continue with ${oidc.label}</a></p>`}
    ${keys && byKey(hidden, !link && !passkeySite(app) && oidc.issuer === null)}
    <p class="soft">New here? Somebody of your organization invites you by mail.</p>`;
  const headers = { 'set-cookie': cookies.write('svc_console_form', secret) };
  return plainAnswer(site, notice.status, { title: 'Sign in', body }, headers);
}

const providerPath = (next: string) => withQuery(`${root}/sign-in/provider`, { next });

function notices({ app }: Site, request: FastifyRequest, { problem, state }: Notice): Part {
  const name = state ?? (request.query as Form)['state'] ?? '';
  const [text, rest] = Object.hasOwn(states, name) ? states[name as keyof typeof states] : [];
  const isHere = isLoopbackAddress(visitorOf(app, request.raw));
  return html`${problem !== undefined && problemOf({ message: problem })}
    ${text !== undefined && html`<p class="news" role="status"><b>${text.replace('{label}', app.config.console.signIn.oidc.label)}</b> ${rest}</p>`}
    ${
      isHere &&
      app.config.delivery.mode === 'capture' &&
      html`<p class="news" role="status"><b>No mail leaves this computer yet,</b> so no link arrives. Run "svc open" on it to come in.</p>`
    }`;
}

/**
 * Draws the passkey button. It is hidden without a script, and without passkeys in the browser. At
 * another address of the service, such as 127.0.0.1, the script shows the link in its place.
 */
function byPasskey(app: Site['app'], hidden: Part): Part {
  const own = passkeySite(app);
  if (!own) return null;
  return html`<form method="post" action="/console/sign-in/passkey" data-passkey="/console/sign-in/passkey/options" data-origin=${own.origin} hidden>
    ${hidden}<input type="hidden" name="credential" />
    <button class="btn first">Sign in with a passkey</button>
  </form>
  <p class="soft" data-elsewhere="" hidden>Passkeys work at <a href=${`${own.origin}/console/sign-in`}>${own.origin}</a>.</p>`;
}

function byMail(hidden: Part, isFirst: boolean): Part {
  return html`<form method="post" action="/console/sign-in/mail">${hidden}
    <label>Your mail address <input name="email" type="email" required maxlength="254" autocomplete="username webauthn" /></label>
    <button class=${isFirst ? 'btn first' : 'btn'}>Mail me a link</button>
  </form>`;
}

function byKey(hidden: Part, isOnlyWay: boolean): Part {
  return html`<details open=${isOnlyWay}><summary>Use an API key instead</summary>
    <form method="post" action="/console/sign-in">${hidden}
      <label>API key <input name="key" type="password" autocomplete="off" required maxlength="256" />
        <small>It begins with svc_live_. You get the rights of the key, and no name.</small></label>
      <button class="btn">Sign in with this key</button>
      <p class="soft">On this machine, "svc open" signs in without a key. A new key: "svc keys create".</p>
    </form></details>`;
}

/** Signs in by a pasted key. */
export const signInByKey: Door = async (site, request) => {
  const form = await readOwnForm(site, request);
  const { app, authenticator, failures } = site;
  return site.workload.begin(async () => {
    if (!form) return signInPage(site, request, tooOld);
    if (!app.config.console.signIn.keys) {
      const problem = 'Keys do not sign in here (console.signIn.keys).';
      return signInPage(site, request, { status: 403, problem });
    }
    const address = visitorOf(app, request.raw);
    // Checks the key first: failures of a shared address must not keep a valid key out.
    const caller = await authenticator.authenticate(form['key']?.trim() ?? '');
    const refusal = caller && outsideRanges(caller, address);
    if (caller && !refusal) {
      return begun(site, request, await beginSession(app, caller), form['next']);
    }
    await countFailure(app, 'pasted-key', null);
    const isTooMany = failures.count(address);
    const problem = isTooMany
      ? 'Too many keys were tried from your address. Wait a minute.'
      : (refusal?.message ?? 'The API key is not valid.');
    return signInPage(site, request, { status: isTooMany ? 429 : 401, problem });
  });
};

export const tooOld: Notice = { status: 403, problem: 'The form was too old: try again.' };

/** Redirects with the cookie of a new session, and ends the session that the browser had. */
export async function begun(
  site: Site,
  request: FastifyRequest,
  token: string,
  next?: string,
): Promise<Answer> {
  const to = (await replaceSession(site, request, token)) ?? next;
  return seeOther(nextPath(to), { 'set-cookie': site.cookies.write('svc_console', token) });
}

/**
 * Ends the session that the browser had. Returns the path of the form that waits in it for the new
 * session; null without a form.
 */
export async function replaceSession(
  { app, cookies }: Site,
  request: FastifyRequest,
  token: string,
): Promise<string | null> {
  const earlier = cookies.read(request, 'svc_console');
  if (earlier === null) return null;
  const isWaiting = await carryInput(app, earlier, token);
  await endSession(app, earlier);
  return isWaiting ? `${root}/asks-again` : null;
}
