// What a tracking host answers (specification 2.12): links below /t/ and /u/, the challenge of the
// certificate authority, and nothing else. Bodies are read of forms that leave a list alone. Its listeners are listeners.ts.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { App } from '../../src/app.ts';
import { servedHost } from '../../src/tracking/custom/active-hosts.ts';
import { httpChallenge } from '../../src/tracking/custom/challenges.ts';
import type { TrackedAnswer } from '../../src/tracking/serve.ts';
import type { LeaveRequest } from '../../src/unsubscribing/serve.ts';
import { readForm } from './form.ts';

/** Answers paths below /t/ and /u/; null for what it does not know. */
export type ServeTracked = (app: App, request: LeaveRequest) => Promise<TrackedAnswer | null>;

const challengePath = '/.well-known/acme-challenge/';
const longestPath = 2_048;

const notFound: TrackedAnswer = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: Buffer.from('Not found\n'),
};

/** The name of `Host`, without its port; '' where there is none (RFC 9110 7.2). */
function hostnameOf({ host = '' }: IncomingHttpHeaders): string {
  return host
    .replace(/:\d{0,5}$/, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

/** The names that links begin with where a domain has no host of its own. */
function ownNames({ config }: App): string[] {
  const urls = [config.tracking.publicUrl, config.http.publicUrl];
  return urls.flatMap((url) => (url === null ? [] : [new URL(url).hostname]));
}

async function answerTo(
  app: App,
  request: LeaveRequest,
  serve: ServeTracked,
): Promise<TrackedAnswer> {
  const { path, method, headers } = request;
  if (path.length > longestPath) return notFound;
  const hostname = hostnameOf(headers);
  if (path.startsWith(challengePath)) {
    if (method !== 'GET' && method !== 'HEAD') return notFound;
    const value = await httpChallenge(app, hostname, path.slice(challengePath.length));
    if (value === null) return notFound;
    return {
      status: 200,
      headers: { 'content-type': 'application/octet-stream' },
      body: Buffer.from(value),
    };
  }
  if (!/^\/[tu]\//.test(path)) return notFound;
  const host = servedHost(app, hostname);
  if (!host && !ownNames(app).includes(hostname)) return notFound;
  // A host of one's own knows the links of its organization alone.
  const organizationId = host?.organization_id ?? null;
  return (await serve(app, { ...request, organizationId })) ?? notFound;
}

function isForm({ method, path }: LeaveRequest): boolean {
  return method === 'POST' && path.startsWith('/u/');
}

/** Answers one request; never rejects. */
export async function answer(
  app: App,
  serve: ServeTracked,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const asked: LeaveRequest = {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: request.headers,
    remoteAddress: request.socket.remoteAddress ?? null,
  };
  let given: TrackedAnswer;
  try {
    const body = isForm(asked) ? await readForm(request, app.clock) : null;
    given = await answerTo(app, body ? { ...asked, body } : asked, serve);
  } catch (error) {
    app.log.error({ err: error }, 'a request to a tracking host failed');
    const headers = { 'content-type': 'text/plain; charset=utf-8', 'retry-after': '5' };
    given = { status: 503, headers, body: Buffer.from('Try again later\n') };
  }
  // A body that nobody reads would be taken for the next request.
  const hasBody = request.headers['content-length'] ?? request.headers['transfer-encoding'];
  response.writeHead(given.status, {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...given.headers,
    ...(hasBody !== undefined && { connection: 'close' }),
    'content-length': Buffer.byteLength(given.body),
  });
  response.end(asked.method === 'HEAD' ? undefined : given.body);
}
