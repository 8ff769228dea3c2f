// Serves the description of the API: `/v1/openapi.json` (specification 9.1), `/llms.txt`, and the
// pages of `/docs`, to which `/` redirects. All are made at the first request, when the address is
// known; the pages again on each new day (UTC). The latest pages of searches are cached too.
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Route } from '../../../src/core/api/route.ts';
import type { EventKind } from '../../../src/history/events/kinds.ts';
import { ResourceNotFoundError } from '../../../src/platform/errors.ts';
import type { Clock } from '../../../src/platform/runtime/clock.ts';
import { inTurns, sliceTurns } from '../../../src/platform/runtime/fairness/loop-turns.ts';
import { program } from '../../../src/platform/runtime/program.ts';
import { recentlyUsedBytes } from '../../../src/platform/runtime/recently-used.ts';
import { jsonContentType } from '../errors.ts';
import type { Workload } from '../workload.ts';
import { drawReference, type Reference } from './docs.ts';
import { docsStyle, longestSearch } from './docs-page.ts';
import { llmsText } from './llms.ts';
import { describeApi } from './openapi.ts';
import { Packed } from './packed.ts';

const dayMs = 86_400_000;
/** Name of the work on these documents, for the meter of the event loop. */
const operation = 'description of the API';
const mostSearches = 50;
/** Most bytes of cached search pages. A page counts twice, for the compressed forms. */
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

/** Mounts the documents and the pages. */
export function mountDocuments(
  server: FastifyInstance,
  { routes, eventKinds = [], serverUrl, clock, workload }: DocumentParts,
): void {
  const document = kept(() => inTurns(operation, describeApi(routes, serverUrl(), eventKinds)));
  const json = kept(async () => new Packed(JSON.stringify(await document(), null, 2)));
  const llms = kept(async () => new Packed(llmsText(await document())));
  const today = () => Math.floor(clock.now() / dayMs);
  const reference = kept(async () => {
    const options = { now: clock.now(), productVersion: program.version };
    return openReference(await inTurns(operation, drawReference(await document(), options)));
  }, today);

  server.get('/v1/openapi.json', async (request, reply) => {
    const { headers, bytes } = await workload.begin(async () => (await json()).answerTo(request));
    return reply.headers(headers).header('content-type', jsonContentType).send(bytes);
  });
  server.get('/llms.txt', async (request, reply) => {
    const { headers, bytes } = await workload.begin(async () => (await llms()).answerTo(request));
    return reply.headers(headers).header('content-type', 'text/plain; charset=utf-8').send(bytes);
  });
  server.get('/', async (_request, reply) => {
    const target = await workload.begin(async () => '/docs');
    return reply.redirect(target, 302);
  });
  const sendPage = async (request: FastifyRequest, reply: FastifyReply, page: PageOf) => {
    const { headers, bytes } = await workload.begin(async () =>
      (await page(await reference())).answerTo(request),
    );
    return reply
      .headers(headers)
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', contentSecurityPolicy)
      .header('referrer-policy', 'no-referrer')
      .send(bytes);
  };
  server.get<{ Querystring: { q?: unknown } }>('/docs', async (request, reply) => {
    const { q } = request.query;
    const search = typeof q === 'string' ? q.slice(0, longestSearch) : '';
    return sendPage(request, reply, ({ pageAt, found }) =>
      search === '' ? pageAt('/docs') : found(search),
    );
  });
  server.get<{ Params: { area: string } }>('/docs/:area', async (request, reply) =>
    sendPage(request, reply, ({ pageAt }) => pageAt(`/docs/${request.params.area}`)),
  );
}

/** The reference with compressed pages. */
interface OpenReference {
  /** @throws ResourceNotFoundError for a path without a page */
  pageAt: (path: string) => Packed;
  found: (search: string) => Promise<Packed>;
}

type PageOf = (reference: OpenReference) => Packed | Promise<Packed>;

/**
 * Prepares each page for compression. Draws and caches the page of each search. A search reads the
 * whole reference, so it begins in a new turn of the event loop if the current turn has no time
 * left.
 */
function openReference({ pages, search: draw }: Reference): OpenReference {
  const packed = new Map([...pages].map(([path, html]) => [path, new Packed(html)]));
  const known = recentlyUsedBytes<Packed>(mostSearches, mostSearchBytes, ({ bytes }) => 2 * bytes);
  return {
    pageAt(path) {
      const page = packed.get(path);
      if (!page) throw new ResourceNotFoundError('page', path);
      return page;
    },
    async found(search) {
      await sliceTurns('GET /docs?q');
      const page = known.get(search) ?? new Packed(draw(search));
      known.set(search, page);
      return page;
    },
  };
}

/** Caches the result of `make` until `age` changes. A failure is not cached. */
function kept<T>(make: () => Promise<T>, age = () => 0): () => Promise<T> {
  let made: { value: Promise<T>; age: number } | undefined;
  return () => {
    const now = age();
    if (made?.age === now) return made.value;
    const value = make();
    made = { value, age: now };
    value.catch(() => {
      if (made?.value === value) made = undefined;
    });
    return value;
  };
}
