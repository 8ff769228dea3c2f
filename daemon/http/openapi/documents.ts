// Serves the description of the API: `/v1/openapi.json` (specification 9.1) and the page `/docs`,
// where `/` leads. Both are made at the first request, when the address is known; the page again on
// each new day (UTC). The latest pages of searches are kept too.
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Route } from '../../../src/core/api/route.ts';
import type { EventKind } from '../../../src/history/events/kinds.ts';
import type { Clock } from '../../../src/platform/runtime/clock.ts';
import { sliceTurns } from '../../../src/platform/runtime/fairness/loop-turns.ts';
import { program } from '../../../src/platform/runtime/program.ts';
import { recentlyUsedBytes } from '../../../src/platform/runtime/recently-used.ts';
import { jsonContentType } from '../errors.ts';
import type { Workload } from '../workload.ts';
import { docsStyle, drawReference, longestSearch } from './docs.ts';
import { openApiDocument } from './openapi.ts';
import { Packed } from './packed.ts';

const dayMs = 86_400_000;
const mostSearches = 50;
/** Limit of the cached search pages in bytes. A page counts twice, for the compressed forms. */
const mostSearchBytes = 16_000_000;
const styleHash = createHash('sha256').update(docsStyle).digest('base64');
const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

interface DocumentParts {
  routes: readonly Route[];
  eventKinds?: readonly EventKind[];
  /** Called at the first request. */
  serverUrl: () => string;
  clock: Clock;
  workload: Workload;
}

/** Mounts the document and the page. */
export function mountDocuments(
  server: FastifyInstance,
  { routes, eventKinds = [], serverUrl, clock, workload }: DocumentParts,
): void {
  const document = kept(() => openApiDocument(routes, serverUrl(), eventKinds));
  const json = kept(() => new Packed(JSON.stringify(document(), null, 2)));
  const today = () => Math.floor(clock.now() / dayMs);
  const reference = kept(
    () =>
      openReference(
        drawReference(document(), { now: clock.now(), productVersion: program.version }),
      ),
    today,
  );

  server.get('/v1/openapi.json', async (request, reply) => {
    const { headers, bytes } = await workload.begin(() => json().answerTo(request));
    return reply.headers(headers).header('content-type', jsonContentType).send(bytes);
  });
  server.get('/', async (_request, reply) => {
    const target = await workload.begin(async () => '/docs');
    return reply.redirect(target, 302);
  });
  server.get<{ Querystring: { q?: unknown } }>('/docs', async (request, reply) => {
    const { q } = request.query;
    const search = typeof q === 'string' ? q.slice(0, longestSearch) : '';
    const { headers, bytes } = await workload.begin(async () => {
      const page = await reference()(search);
      return page.answerTo(request);
    });
    return reply
      .headers(headers)
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', contentSecurityPolicy)
      .header('referrer-policy', 'no-referrer')
      .send(bytes);
  });
}

/**
 * Returns the page of a search, and keeps it. A search reads the whole reference, in a new
 * turn of the event loop if the current turn has no time left.
 */
function openReference(draw: (search: string) => string): (search: string) => Promise<Packed> {
  const whole = new Packed(draw(''));
  const found = recentlyUsedBytes<Packed>(mostSearches, mostSearchBytes, ({ bytes }) => 2 * bytes);
  return async (search) => {
    if (search === '') return whole;
    await sliceTurns('GET /docs?q');
    const known = found.get(search);
    if (known) return known;
    const page = new Packed(draw(search));
    found.set(search, page);
    return page;
  };
}

/** Caches the result of `make` until `age` changes. */
function kept<T>(make: () => T, age = () => 0): () => T {
  let made: { value: T; age: number } | undefined;
  return () => {
    const now = age();
    if (made?.age !== now) made = { value: make(), age: now };
    return made.value;
  };
}
