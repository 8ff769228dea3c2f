// The log line of a request answered 401: the client address, and the part of the key that may be
// shown. Guessing of keys causes many such lines, so their number is bounded.
import type { FastifyRequest } from 'fastify';
import type { App } from '../../src/core/app.ts';
import type { UnauthorizedError } from '../../src/platform/errors.ts';
import { LineLimit, mailLogOf } from '../../src/platform/runtime/mail-log.ts';
import { perApp } from '../../src/platform/runtime/per-app.ts';
import { visitorOf } from './visitor.ts';

const linesPerSecond = 10;

const limitOf = perApp((app: App) => new LineLimit(app.clock, linesPerSecond));

/**
 * Returns the part of a key that may be shown (its first 14 characters); null for a text that is
 * not a key of ours.
 */
function startOf(key: unknown): string | null {
  const start = typeof key === 'string' ? key.slice(0, 14) : '';
  return /^svc_(?:live|test)_[0-9A-Za-z]{5}$/.test(start) ? start : null;
}

/** Logs a request with a bad key, or without a key. */
export function logUnauthorized(
  app: App,
  request: FastifyRequest,
  key: unknown,
  { message: reason }: UnauthorizedError,
): void {
  const log = mailLogOf(app);
  const admitted = log && limitOf(app).admit();
  if (!admitted) return;
  log.info(
    {
      requestId: request.id,
      remoteAddress: visitorOf(app, request.raw),
      method: request.method,
      route: request.routeOptions.url,
      keyStart: startOf(key),
      reason,
      ...admitted,
    },
    'unauthorized',
  );
}
