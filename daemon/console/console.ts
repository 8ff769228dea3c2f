// The console: pages for a browser at `/console`. Signs in by an API key or by a link of `svc
// open`, checks each form, and draws pages that ask routes (api.ts). Loaded at the first visit.
//
//   request            | needs
//   -------------------+-----------------------------------------------------------------------
//   GET                | a session; changes nothing
//   POST               | a session, the token of the forms, and an `Origin` of our own
//   POST sign-in       | the token of the form; ten failures a minute for an address
//   POST open          | a link of `svc open`, once
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator } from '../../src/access/keys/authenticator.ts';
import { outsideRanges } from '../../src/access/keys/constraints.ts';
import { getOrganization } from '../../src/access/organizations/organizations.ts';
import {
  beginSession,
  endSession,
  endSessionsOfKey,
  findSession,
  type Session,
  useLink,
} from '../../src/access/sessions/sessions.ts';
import type { App } from '../../src/core/app.ts';
import { meant } from '../../src/platform/runtime/signs.ts';
import { newToken } from '../../src/platform/runtime/tokens.ts';
import { FailedLogins } from '../failed-logins.ts';
import { reserveAnswer } from '../http/answer-memory.ts';
import type { Ask, AskRoute } from '../http/faces.ts';
import { visitorOf } from '../http/visitor.ts';
import type { Workload } from '../http/workload.ts';
import { readForm } from '../tracking/form.ts';
import { type Answer, commonHeaders, refusalView, saved, seeOther } from './answers.ts';
import { type Download, queryOf, Refusal, refusalOf } from './api.ts';
import { type Assets, readAssets } from './assets.ts';
import {
  cookieIn,
  cookieName,
  decoded,
  formCookie,
  formTokenOf,
  isSame,
  meantIn,
} from './browser-request.ts';
import { html, isKnownLink } from './html.ts';
import { drawPage, drawPlain } from './layout.ts';
import { LiveStreams } from './live.ts';
import {
  type Action,
  type Asked,
  type Form,
  matchPath,
  mayAsk,
  type Page,
  type View,
} from './page.ts';
import { pages } from './pages/pages.ts';

export interface ConsoleParts {
  app: App;
  authenticator: Pick<Authenticator, 'authenticate' | 'authenticateHash'>;
  ask: Ask;
  /** Capacity for the look-up of sessions; `ask` takes a separate part of it. */
  workload: Workload;
}

const root = '/console';
const mostFailures = 10;
/** Fits a file of a template: forms escape a character with up to three bytes. */
const mostFormBytes = 2 * 1024 * 1024;
/** Answers all requests below `/console`. Loaded at the first visit. */
export class Console {
  readonly #parts: ConsoleParts;
  readonly #assets: Assets = readAssets();
  readonly #failures: FailedLogins;
  readonly #live: LiveStreams;

  constructor(parts: ConsoleParts) {
    this.#parts = parts;
    this.#failures = new FailedLogins(parts.app.clock, mostFailures);
    this.#live = new LiveStreams(parts.app);
  }

  /** Ends the live streams. */
  close(): void {
    this.#live.close();
  }

  /** Answers a request below `/console`. */
  async handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const [path = ''] = request.url.slice(root.length).split('?');
    if (path === '/live' && request.method === 'GET') return this.#answerLive(request, reply);
    const asset = path.startsWith('/assets/') && this.#assets.files.get(path.slice(8));
    if (asset) {
      const { workload } = this.#parts;
      const { headers, bytes } = await workload.begin(() => asset.content.answerTo(request));
      return reply
        .headers(headers)
        .header('content-type', asset.type)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .header('cross-origin-resource-policy', 'same-origin')
        .send(bytes);
    }
    const { status, body, headers = {} } = await this.#answer(request, decoded(path));
    if (typeof body !== 'string') reserveAnswer(reply.raw, body.length);
    return reply
      .code(status)
      .headers({ ...commonHeaders, ...headers })
      .send(body);
  }

  async #answerLive(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { app, authenticator, workload } = this.#parts;
    const token = cookieIn(request);
    const look = async () => {
      const session = token === null ? null : await findSession(app, authenticator, token);
      const isAway = session && outsideRanges(session.caller, visitorOf(app, request.raw)) !== null;
      return isAway ? null : session;
    };
    const session = await workload.begin(look);
    if (!session) return reply.code(401).send('');
    const { since, about } = request.query as Form;
    const shown = { since: Number(since) || app.clock.now(), about };
    if (await this.#live.answer(reply.headers(commonHeaders), session, shown, look)) return reply;
    return reply.code(503).header('retry-after', '30').send('');
  }

  async #answer(request: FastifyRequest, path: string): Promise<Answer> {
    const isPost = request.method === 'POST';
    if (isPost && !this.#isOwnOrigin(request)) {
      return this.#plain(403, 'Not from here', 'This form was not sent by a page of the console.');
    }
    const [, link] = /^\/open\/([\w-]+)$/.exec(path) ?? [];
    const { app, authenticator, workload } = this.#parts;
    if (link !== undefined) {
      return workload.begin(() => this.#open(isPost, link, request.query as Form));
    }
    if (path === '/sign-in' && isPost) return this.#trySignIn(request);
    const token = cookieIn(request);
    const session = await workload.begin(async () =>
      token === null ? null : findSession(app, authenticator, token),
    );
    if (!session) return this.#signInPage(request);
    const form = isPost ? await this.#readForm(request, mostFormBytes) : {};
    if (form === null) {
      return this.#plain(
        413,
        'Too much',
        'The form is larger than 2 MB or 1,000 fields, or came too slowly.',
      );
    }
    if (isPost && !isSame(form['_form'] ?? '', formTokenOf(session.token))) {
      return this.#plain(403, 'The form is too old', 'Load the page again, and send it once more.');
    }
    if (path === '/sign-out' && isPost) return this.#signOut(session, form);
    return this.#page(request, session, path.replace(/\/$/, ''), form);
  }

  /**
   * Checks by the headers of the browser that a page of ours sent the form. Pages without a
   * referrer send `Origin: null`. In that case, or without these headers, only the token of the
   * form decides.
   */
  #isOwnOrigin({ headers }: FastifyRequest): boolean {
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
    const { origin } = headers;
    if (origin === undefined || origin === 'null') return true;
    if (!URL.canParse(origin)) return false;
    const { host, origin: whole } = new URL(origin);
    const { publicUrl } = this.#parts.app.config.http;
    return host === headers.host || (publicUrl !== null && whole === new URL(publicUrl).origin);
  }

  async #readForm(request: FastifyRequest, mostBytes?: number): Promise<Form | null> {
    const bytes = await readForm(request.raw, this.#parts.app.clock, mostBytes);
    if (bytes === null) return null;
    const fields = [...new URLSearchParams(bytes.toString('utf8'))];
    // Browsers send each line break as two characters.
    return Object.fromEntries(
      fields.map(([name, value]) => [meant(name), meant(value.replaceAll('\r\n', '\n'))]),
    );
  }

  #plain(status: number, title: string, text: string): Answer {
    const body = html`<p>${text}</p><p><a href="/console">Go to the console</a></p>`;
    return { status, body: drawPlain(this.#assets.urls, title, body) };
  }

  #signInPage(request: FastifyRequest, problem: string | null = null, status = 401): Answer {
    const { url } = request;
    const own = cookieIn(request, formCookie) ?? newToken(this.#parts.app.random);
    const next = url.startsWith(`${root}/sign-in`) || request.method !== 'GET' ? root : url;
    const body = html`<form method="post" action="/console/sign-in">
      ${problem !== null && html`<p class="problem" role="alert">${problem}</p>`}
      <input type="hidden" name="_form" value=${formTokenOf(own)} />
      <input type="hidden" name="next" value=${next} />
      <label>API key <input name="key" type="password" autocomplete="current-password" required maxlength="256" /></label>
      <button class="first">Sign in</button>
      <p class="note">On this machine, "svc open" signs in without a key. A new key: "svc keys create".</p>
    </form>`;
    const headers = { 'set-cookie': this.#cookie(own, formCookie) };
    return { status, body: drawPlain(this.#assets.urls, 'Sign in', body), headers };
  }

  /** Signs in by the form. Strangers can send it, so the body must be small. */
  async #trySignIn(request: FastifyRequest): Promise<Answer> {
    const form = await this.#readForm(request);
    const own = cookieIn(request, formCookie);
    return this.#parts.workload.begin(async () => {
      if (form && own !== null && isSame(form['_form'] ?? '', formTokenOf(own))) {
        return this.#signIn(request, form);
      }
      return this.#signInPage(request, 'The form was too old: try again.', 403);
    });
  }

  async #signIn(request: FastifyRequest, form: Form): Promise<Answer> {
    const { app, authenticator } = this.#parts;
    const address = visitorOf(app, request.raw);
    // Checks the key first: failures of a shared address must not keep a valid key out.
    const caller = await authenticator.authenticate(form['key']?.trim() ?? '');
    const refusal = caller && outsideRanges(caller, address);
    if (!caller || refusal) {
      if (this.#failures.count(address)) {
        const text = 'Too many keys were tried from your address. Wait a minute.';
        return this.#signInPage(request, text, 429);
      }
      return this.#signInPage(request, refusal?.message ?? 'The API key is not valid.');
    }
    return this.#begun(await beginSession(app, caller), form['next']);
  }

  async #open(isPost: boolean, link: string, { to }: Form): Promise<Answer> {
    if (!isPost) {
      const body = html`<form method="post"><p>This link signs you in as the operator, once.</p>
        <button class="first">Open the console</button></form>`;
      return { status: 200, body: drawPlain(this.#assets.urls, 'Open the console', body) };
    }
    const token = await useLink(this.#parts.app, link);
    if (token !== null) return this.#begun(token, to);
    return this.#plain(
      410,
      'This link was used',
      'It works once, for a minute: "svc open" makes another.',
    );
  }

  #begun(token: string, next = root): Answer {
    const isOurs = next.startsWith(root) && isKnownLink(next);
    return seeOther(isOurs ? next : root, { 'set-cookie': this.#cookie(token) });
  }

  #cookie(token: string, name = cookieName): string {
    const { publicUrl } = this.#parts.app.config.http;
    const secure = publicUrl?.startsWith('https:') ? '; Secure' : '';
    const ends = token === '' ? '; Max-Age=0' : '';
    return `${name}=${token}; Path=${root}; HttpOnly; SameSite=Strict${secure}${ends}`;
  }

  async #signOut(session: Session, form: Form): Promise<Answer> {
    const { app } = this.#parts;
    if (form['all'] === '1') await endSessionsOfKey(app, session.caller);
    await endSession(app, session.token);
    return seeOther(root, { 'set-cookie': this.#cookie('') });
  }

  async #page(
    request: FastifyRequest,
    session: Session,
    path: string,
    form: Form,
  ): Promise<Answer> {
    const { app, ask } = this.#parts;
    const { caller } = session;
    const peer = visitorOf(app, request.raw);
    const away = outsideRanges(caller, peer);
    if (away) return this.#plain(403, 'Not from your address', away.message);
    const found = findPage(path);
    const asker = { caller, peer, requestId: request.id };
    const askRoute: AskRoute = (way, { query = {}, ...input } = {}) =>
      ask(asker, way, { ...input, query: queryOf(query) });
    const asked: Asked = {
      ask: askRoute,
      newToken: () => newToken(app.random),
      caller,
      config: app.config,
      now: app.clock.now(),
      timezone: (await getOrganization(app, caller.organizationId)).timezone,
      path,
      params: found?.params ?? {},
      query: meantIn(request.query),
      formToken: formTokenOf(session.token),
      may: (right) => mayAsk(caller, right),
    };
    const draw = (view: View | Download): Answer => {
      if ('bytes' in view) return saved(view);
      return { status: view.status ?? 200, body: drawPage(this.#assets.urls, pages, asked, view) };
    };
    try {
      if (!found) throw new Refusal(404, { message: 'There is no such page.' }, request.id);
      const { page } = found;
      refuseWithout(asked, page);
      if (request.method !== 'POST') return draw(await page.show(asked));
      const action = actionOf(page, form);
      if (!action) throw new Refusal(400, { message: 'The form names no action.' }, request.id);
      refuseWithout(asked, action);
      const done = await action.run(asked, form);
      if (typeof done !== 'string') return draw(done);
      return seeOther(done);
    } catch (error) {
      return draw(refusalView(refusalOf(error, request.id)));
    }
  }
}

function refuseWithout({ may }: Asked, { needs }: Pick<Page | Action, 'needs'>): void {
  if (needs === null || may(needs)) return;
  const message =
    needs === 'operator'
      ? 'Only the operator may do this: "svc open" signs in as one'
      : `The API key does not have the permission ${needs}`;
  throw new Refusal(403, { _tag: 'ForbiddenError', message }, '');
}

function findPage(path: string): { page: Page; params: Record<string, string> } | null {
  for (const page of pages) {
    const params = matchPath(page, path);
    if (params) return { page, params };
  }
  return null;
}

function actionOf({ actions = {} }: Page, form: Form): Action | undefined {
  const name = form['_action'] ?? '';
  return Object.hasOwn(actions, name) ? actions[name] : undefined;
}
