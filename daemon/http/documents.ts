// Serves the description of the API: `/v1/openapi.json` (specification 9.1) and its page `/docs`, where `/`
// leads. Both are made at the first request, when the address is known; the page again on each new day (UTC).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Route } from '../../src/core/api/route.ts';
import type { EventKind } from '../../src/history/events/kinds.ts';
import type { Clock } from '../../src/platform/runtime/clock.ts';
import { docsStyle, drawReference, longestSearch } from './docs.ts';
import { jsonContentType } from './errors.ts';
import { openApiDocument } from './openapi.ts';

const dayMs = 86_400_000;
const styleHash = createHash('sha256').update(docsStyle).digest('base64');
const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const packageFile = join(import.meta.dirname, '..', '..', 'package.json');
export const { version: productVersion } = JSON.parse(readFileSync(packageFile, 'utf8')) as {
  version: string;
};

/** Mounts the document and the page; `serverUrl` is called at the first request. */
export function mountDocuments(
  server: FastifyInstance,
  { routes, eventKinds = [] }: { routes: readonly Route[]; eventKinds?: readonly EventKind[] },
  serverUrl: () => string,
  clock: Clock,
): void {
  const document = kept(() => openApiDocument(routes, serverUrl(), eventKinds));
  const json = kept(() => JSON.stringify(document(), null, 2));
  const today = () => Math.floor(clock.now() / dayMs);
  const draw = () => drawReference(document(), { now: clock.now(), productVersion });
  const reference = kept(draw, today);

  server.get('/v1/openapi.json', async (_request, reply) =>
    reply.header('content-type', jsonContentType).send(json()),
  );
  server.get('/', async (_request, reply) => reply.redirect('/docs', 302));
  server.get<{ Querystring: { q?: unknown } }>('/docs', async ({ query: { q } }, reply) =>
    reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', contentSecurityPolicy)
      .header('referrer-policy', 'no-referrer')
      .send(reference()(typeof q === 'string' ? q.slice(0, longestSearch) : '')),
  );
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
