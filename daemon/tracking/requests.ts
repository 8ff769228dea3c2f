// Answers of a tracking host (specification 2.12): links below /t/, /u/ and /c/, the challenge of
// the certificate authority, and nothing else. Only bodies of the forms below /u/ and /c/ are read.
// listeners.ts has the listeners.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { App } from '../../src/core/app.ts';
import type { LinkAnswer, LinkRequest } from '../../src/core/link-pages/link-page.ts';
import { brokenLink } from '../../src/core/link-pages/recipient-page.ts';
import { servedHost } from '../../src/outbound/tracking/custom/active-hosts.ts';
import { httpChallenge } from '../../src/outbound/tracking/custom/certificates/challenges.ts';
import { CapacityError } from '../../src/platform/errors.ts';
import { visitorOf } from '../http/visitor.ts';
import type { Workload } from '../http/workload.ts';
import { readForm } from './form.ts';

/** Answers paths below /t/, /u/ and /c/; null for unknown paths. */
export type ServeTracked = (app: App, request: LinkRequest) => Promise<LinkAnswer | null>;

/** Parts of the daemon that a tracking host needs. */
export interface TrackingParts {
  app: App;
  /** Capacity that all HTTP listeners share. */
  workload: Workload;
  serve: ServeTracked;
}

const retryAfterSeconds = 5;
const challengePath = '/.well-known/acme-challenge/';
const longestPath = 2_048;

const notFound: LinkAnswer = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: Buffer.from('Not found\n'),
};

/** Returns the name in `Host`, without the port; '' if it is empty (RFC 9110 7.2). */
function hostnameOf({ host = '' }: IncomingHttpHeaders): string {
  return host
    .replace(/:\d{0,5}$/, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

/** Returns the hosts in links of domains that have no tracking host. */
function ownNames({ config }: App): string[] {
  const urls = [config.tracking.publicUrl, config.http.publicUrl];
  return urls.flatMap((url) => (url === null ? [] : [new URL(url).hostname]));
}

async function answerTo(app: App, request: LinkRequest, serve: ServeTracked): Promise<LinkAnswer> {
  const { path, method, headers } = request;
  const isLink = /^\/[ctu]\//.test(path);
  if (path.length > longestPath) return isLink ? brokenLink : notFound;
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
  if (!isLink) return notFound;
  const host = servedHost(app, hostname);
  if (!host && !ownNames(app).includes(hostname)) return brokenLink;
  // The tracking host of a domain serves only links of the domain's organization.
  const organizationId = host?.organization_id ?? null;
  return (await serve(app, { ...request, organizationId })) ?? brokenLink;
}

function isForm({ method, path }: LinkRequest): boolean {
  return method === 'POST' && /^\/[cu]\//.test(path);
}

/** Returns the answer to a failed request. Does not log a refusal for lack of capacity. */
function answerToFailure(app: App, error: unknown): LinkAnswer {
  const isRefusal = error instanceof CapacityError;
  if (isRefusal) app.metrics.refused.inc({ reason: error.reason });
  else app.log.error({ err: error }, 'a request to a tracking host failed');
  const retryAfter = isRefusal ? error.retryAfterSeconds : retryAfterSeconds;
  const headers = {
    'content-type': 'text/plain; charset=utf-8',
    'retry-after': String(retryAfter),
  };
  return { status: 503, headers, body: Buffer.from('Try again later\n') };
}

/** Answers a request; never rejects. */
export async function answer(
  { app, workload, serve }: TrackingParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const asked: LinkRequest = {
    method: request.method ?? 'GET',
    path: request.url ?? '/',
    headers: request.headers,
    remoteAddress: visitorOf(app, request) || null,
  };
  let given: LinkAnswer;
  try {
    const body = isForm(asked) ? await readForm(request, app.clock) : null;
    given = await workload.begin(() => answerTo(app, body ? { ...asked, body } : asked, serve));
  } catch (error) {
    given = answerToFailure(app, error);
  }
  // Closes the connection after a request with a body: the unread body would be read as a request.
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
