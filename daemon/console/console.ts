// The console: pages for a browser at `/console`. Checks each form, lets visitors in by the doors
// (doors/), and draws pages that ask routes (api.ts). Loaded at the first visit.
//
//   request            | needs
//   -------------------+-----------------------------------------------------------------------
//   GET                | a session; changes nothing
//   POST               | a session, the token of its forms, and an `Origin` of our own
//   a door (doors/)    | no session; what the door asks for, such as a key or a link
import type { FastifyReply, FastifyRequest } from 'fastify';
import { outsideRanges } from '../../src/access/keys/constraints.ts';
import { findSession, type Session } from '../../src/access/sessions/sessions.ts';
import { FailedLogins } from '../failed-logins.ts';
import { reserveAnswer } from '../http/answer-memory.ts';
import { Packed } from '../http/openapi/packed.ts';
import { visitorOf } from '../http/visitor.ts';
import { type Answer, commonHeaders } from './answers.ts';
import { readAssets } from './assets.ts';
import { Cookies, decoded, organizationOfForm, root } from './browser-request.ts';
import { domainLinkPage } from './doors/domain-link.ts';
import { doorOf } from './doors/doors.ts';
import { keepOfEnded } from './doors/ended.ts';
import { signInPage } from './doors/sign-in.ts';
import { LiveStreams } from './live.ts';
import type { Form } from './page.ts';
import { answerSignedIn } from './signed-in.ts';
import { type ConsoleParts, mostFormBytes, readFields, type Site, sentence } from './site.ts';
import { inTrouble } from './trouble.ts';

const mostFailures = 10;

/** Answers all requests below `/console`. Loaded at the first visit. */
export class Console {
  readonly #site: Site;
  readonly #live: LiveStreams;

  constructor(parts: ConsoleParts) {
    const { app } = parts;
    this.#site = {
      ...parts,
      assets: readAssets(),
      cookies: new Cookies(app.config),
      failures: new FailedLogins(app.clock, mostFailures),
    };
    this.#live = new LiveStreams(app);
  }

  /** Ends the live streams. */
  close(): void {
    this.#live.close();
  }

  /** Answers a request below `/console`. */
  async handle(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const [path = ''] = request.url.slice(root.length).split('?');
    if (path === '/live' && request.method === 'GET') return this.#answerLive(request, reply);
    const { assets, workload } = this.#site;
    const asset = path.startsWith('/assets/') && assets.files.get(path.slice(8));
    if (asset) {
      const { headers, bytes } = await workload.begin(() => asset.content.answerTo(request));
      return reply
        .headers(headers)
        .header('content-type', asset.type)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .header('cross-origin-resource-policy', 'same-origin')
        .send(bytes);
    }
    return this.#send(request, reply, this.#answer(request, decoded(path)));
  }

  /** Answers the link of a domain, below `/domains`. */
  showDomain(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const params = request.params as { token: string };
    return this.#send(request, reply, domainLinkPage(this.#site, request, params));
  }

  async #send(
    request: FastifyRequest,
    reply: FastifyReply,
    answering: Promise<Answer>,
  ): Promise<FastifyReply> {
    const answer = answering.catch((error: unknown) => inTrouble(this.#site, request, error));
    const { status, body, headers = {} } = await answer;
    reply.code(status).headers({ ...commonHeaders, ...headers });
    if (typeof body !== 'string') {
      reserveAnswer(reply.raw, body.length);
      return reply.send(body);
    }
    // Compression is safe: requests of foreign pages come without the session, so the length of an
    // answer reveals no secret.
    const packed = await new Packed(body).answerTo(request);
    return reply.headers(packed.headers).send(packed.bytes);
  }

  async #answerLive(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { app, workload } = this.#site;
    const { since, about, in: organizationId } = request.query as Form;
    const look = async () => {
      const session = await this.#sessionOf(request);
      // After a switch of the organization, streams of the former organization end.
      const isHere =
        session?.isStrongEnough &&
        (organizationId === undefined || session.caller.organizationId === organizationId);
      const isAway = isHere && outsideRanges(session.caller, visitorOf(app, request.raw)) !== null;
      return isHere && !isAway ? session : null;
    };
    const session = await workload.begin(look);
    if (!session) return reply.code(401).send('');
    const shown = { since: Number(since) || app.clock.now(), about };
    if (await this.#live.answer(reply.headers(commonHeaders), session, shown, look)) return reply;
    return reply.code(503).header('retry-after', '30').send('');
  }

  async #sessionOf(request: FastifyRequest): Promise<Session | null> {
    const { app, authenticator, cookies } = this.#site;
    const token = cookies.read(request, 'svc_console');
    return token === null ? null : findSession(app, authenticator, token);
  }

  async #answer(request: FastifyRequest, path: string): Promise<Answer> {
    const site = this.#site;
    const isPost = request.method === 'POST';
    if (isPost && !this.#isOwnOrigin(request)) {
      return sentence(site, 403, 'Not from here', 'A page of the console did not send this form.');
    }
    const door = doorOf(request.method, path);
    if (door) {
      // Refuses the request if no capacity is free, even if the page reads nothing from the store.
      await site.workload.begin(async () => {});
      return door.answer(site, request, door.params);
    }
    if (site.cookies.isDoubled(request)) {
      const text = `Your browser sends two cookies named ${site.cookies.nameOf('svc_console')}. Delete the cookies of this host, then sign in again.`;
      return sentence(site, 400, 'Two sessions at once', text);
    }
    const session = await site.workload.begin(() => this.#sessionOf(request));
    if (!session) return isPost ? keepOfEnded(site, request, path) : signInPage(site, request);
    const form = isPost ? await readFields(site, request, mostFormBytes) : {};
    if (form === null) {
      const text = 'The form is larger than 2 MB or 1,000 fields, or came too slowly.';
      return sentence(site, 413, 'Too much', text);
    }
    const problem = isPost ? this.#problemOf(session, form) : null;
    return problem ?? answerSignedIn(site, request, session, path.replace(/\/$/, ''), form);
  }

  #problemOf({ token, caller, organization }: Session, form: Form): Answer | null {
    const drawnIn = organizationOfForm(token, form['_form']);
    if (drawnIn === caller.organizationId) return null;
    if (drawnIn === null) {
      const text = 'Load the page again, and send it once more.';
      return sentence(this.#site, 403, 'The form is too old', text);
    }
    const text = `You sent a form of another organization, and are in ${organization.name} now. Nothing was done: switch back, then send it again.`;
    return sentence(this.#site, 409, 'Another organization', text);
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
    const { publicUrl } = this.#site.app.config.http;
    return host === headers.host || (publicUrl !== null && whole === new URL(publicUrl).origin);
  }
}
