// Answers to a session: pages and their actions, signing out, the switch between organizations, and
// forms that ask for a fresh proof first.
import type { FastifyRequest } from 'fastify';
import { outsideRanges } from '../../src/access/keys/constraints.ts';
import { dropSecret, takeToast } from '../../src/access/sessions/after-action.ts';
import {
  dropInput,
  findInput,
  type KeptInput,
  keepInput,
} from '../../src/access/sessions/kept-input.ts';
import { switchOrganization } from '../../src/access/sessions/person-sessions.ts';
import { freshMs, lastProofAt } from '../../src/access/sessions/proofs.ts';
import { endSession, endSessionsOfKey, type Session } from '../../src/access/sessions/sessions.ts';
import { newToken } from '../../src/platform/runtime/tokens.ts';
import type { AskRoute } from '../http/faces.ts';
import { visitorOf } from '../http/visitor.ts';
import { type Answer, jsonAnswer, refusalView, saved, seeOther } from './answers.ts';
import { type Download, queryOf, Refusal, refusalOf } from './api.ts';
import { browserIn, meantIn, nextPath, root, sessionFormToken } from './browser-request.ts';
import { drawPage } from './layout.ts';
import {
  type Action,
  type Asked,
  type Done,
  type Form,
  matchPath,
  mayAsk,
  type Outcome,
  type Page,
  type View,
} from './page.ts';
import { pages } from './pages/pages.ts';
import { asTyped } from './parts/typed.ts';
import { goOn, secretIn } from './person/after-action.ts';
import { showProofs } from './person/asks-again.ts';
import { passkeyQuestion } from './person/own-passkeys.ts';
import { acted, showLeniently } from './refused.ts';
import { type Site, sentence } from './site.ts';

const proofPath = '/asks-again';
/** Paths that a session opens without the proof that the organization asks for. */
const personPaths: readonly string[] = [proofPath, '/account', '/account/passkey'];

/** Answers a request of a session. A posted form was checked to be of this session. */
export async function answerSignedIn(
  site: Site,
  request: FastifyRequest,
  session: Session,
  path: string,
  form: Form,
): Promise<Answer> {
  const { app } = site;
  const isPost = request.method === 'POST';
  if (isPost && path === '/sign-out') return signOut(site, session, form);
  const away = outsideRanges(session.caller, visitorOf(app, request.raw));
  if (away) return sentence(site, 403, 'Not from your address', away.message);
  if (isPost && path === '/switch') {
    const isOpen = await switchOrganization(app, session.token, form['organization'] ?? '');
    if (isOpen) return seeOther(nextPath(form['next']));
    return sentence(site, 403, 'Not opened', 'You have no place in this organization any more.');
  }
  if (isPost && path === '/seen') {
    await dropSecret(app, session.token, form['id'] ?? '');
    return seeOther(nextPath(form['next']));
  }
  const asked = askedBy(site, request, session, path);
  let sent: Form | null = form;
  const draw = async (view: View | Download): Promise<Answer> => {
    if ('bytes' in view) return saved(view);
    // A page that a script loads leaves the toast for the page that a person sees.
    const isSeen = !isPost && request.headers['sec-fetch-dest'] !== 'empty';
    const toast = isSeen && session.hasToast ? await takeToast(app, session.token) : null;
    const marked = view.refusal ? asTyped(view, view.refusal, isPost ? sent : null, asked) : view;
    const body = await drawPage(site.assets.urls, pages, asked, marked, toast);
    return { status: view.status ?? 200, body };
  };
  try {
    if (isPost && path === '/passkey-question') {
      return jsonAnswer(200, await passkeyQuestion(asked, form));
    }
    if (!session.isStrongEnough && !personPaths.includes(path)) {
      return await draw(await showProofs(asked));
    }
    const secret = isPost ? null : await secretIn(asked);
    if (secret) return { ...(await draw(secret)), headers: { 'cache-control': 'no-store' } };
    const isKept = isPost && form['_kept'] === '1';
    sent = isKept ? await takeKept(asked) : form;
    const done = sent ? await answered(asked, isPost ? sent : null) : root + proofPath;
    if (typeof done === 'string') return seeOther(done);
    return 'to' in done ? seeOther(await goOn(asked, allowed(asked, done))) : await draw(done);
  } catch (error) {
    const refusal = refusalOf(error, request.id);
    if (refusal.status >= 500) throw error;
    return draw(refusalView(refusal));
  }
}

/** Leaves out the button of a toast that the session may not press. */
function allowed({ may }: Asked, { undo, ...done }: Done): Done {
  const page = undo && pages.find((one) => matchPath(one, undo.path));
  const action = undo && page?.actions?.[undo.action];
  const isAllowed = action && (action.needs === null || may(action.needs));
  return isAllowed ? { ...done, undo } : done;
}

async function signOut({ app, cookies }: Site, session: Session, form: Form): Promise<Answer> {
  if (form['all'] === '1') await endSessionsOfKey(app, session.caller);
  await endSession(app, session.token);
  return seeOther(`${root}/sign-in?state=out`, { 'set-cookie': cookies.write('svc_console', '') });
}

function askedBy(site: Site, request: FastifyRequest, session: Session, path: string): Asked {
  const { app, ask, cookies } = site;
  const { caller, token, organization } = session;
  const asker = { caller, peer: visitorOf(app, request.raw), requestId: request.id };
  const askRoute: AskRoute = (way, { query = {}, ...input } = {}) =>
    ask(asker, way, { ...input, query: queryOf(query) });
  const asked: Asked = {
    app,
    ask: askRoute,
    drawn: () => pageAt(path).show(asked),
    newToken: () => newToken(app.random),
    caller,
    session,
    config: app.config,
    now: app.clock.now(),
    timezone: organization.timezone,
    path,
    params: findPage(path)?.params ?? {},
    query: meantIn(request.query),
    formToken: sessionFormToken(token, caller.organizationId),
    visitor: { browser: browserIn(request), address: asker.peer },
    browserToken: cookies.read(request, 'svc_console_browser'),
    authenticate: (key) => site.authenticator.authenticate(key),
    may: (right) => mayAsk(caller, right),
  };
  return asked;
}

/** Shows a page, or runs the action of a posted form. Returns a path to redirect to, or a page. */
async function answered(asked: Asked, form: Form | null): Promise<Outcome | Download> {
  const page = pageAt(asked.path);
  refuseWithout(asked, page);
  if (form === null) return showLeniently(page, asked);
  const action = actionOf(page, form);
  refuseWithout(asked, action);
  if (action.destroys && form['_sure'] !== '1') {
    const message = 'Nothing was done: the page asks first, and its question has to be answered.';
    throw new Refusal(422, { message }, '');
  }
  const { session, now } = asked;
  const run = () => acted(page, asked, form, action);
  if (action.asks === undefined) return run();
  const strength = (await page.strengthOf?.(asked)) ?? session.strength;
  const isFresh = now - lastProofAt(session.proofs, strength) < freshMs;
  return isFresh ? run() : keep(asked, form, { asks: action.asks, strength });
}

/** Keeps a form until a fresh proof. Returns the path of the page that asks for it. */
async function keep(
  asked: Asked,
  form: Form,
  proof: Pick<KeptInput, 'asks' | 'strength'>,
): Promise<string> {
  const { app, session, path, query, caller } = asked;
  const { _form: _, ...fields } = form;
  const { organizationId } = caller;
  const search = new URLSearchParams(query).toString();
  const input = { organizationId, path, search, fields, ...proof };
  if (await keepInput(app, session.token, input)) return root + proofPath;
  const message = 'This form is larger than 64 KB. Sign in again, then send it within 15 minutes.';
  throw new Refusal(413, { message }, '');
}

/** Returns the kept form of a page and deletes it, so that it is sent once; null without a form. */
async function takeKept({ app, session, path, caller }: Asked): Promise<Form | null> {
  const kept = await findInput(app, session.token);
  if (kept?.path !== path || kept.organizationId !== caller.organizationId) return null;
  return (await dropInput(app, session.token)) ? kept.fields : null;
}

function refuseWithout({ may, caller }: Asked, { needs }: Pick<Page | Action, 'needs'>): void {
  if (needs === null || may(needs)) return;
  const who = caller.by.kind === 'member' ? `Your role ${caller.roleName}` : 'The API key';
  const message =
    needs === 'operator'
      ? 'Only the operator may do this: "svc open" signs in as one'
      : `${who} does not have the permission ${needs}`;
  throw new Refusal(403, { _tag: 'ForbiddenError', message }, '');
}

function findPage(path: string): { page: Page; params: Record<string, string> } | null {
  for (const page of pages) {
    const params = matchPath(page, path);
    if (params) return { page, params };
  }
  return null;
}

function pageAt(path: string): Page {
  const found = findPage(path);
  if (!found) throw new Refusal(404, { message: 'There is no such page.' }, '');
  return found.page;
}

/** Returns the action that a form names. @throws Refusal for an unknown name */
function actionOf({ actions = {} }: Page, form: Form): Action {
  const name = form['_action'] ?? '';
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (!action) throw new Refusal(400, { message: 'The form names no action.' }, '');
  return action;
}
