// Errors that leave the HTTP server: the flat object of specification 7, status and headers,
// and the single log line of a fault. Refusals are decided elsewhere.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../src/core/app.ts';
import {
  CapacityError,
  InternalError,
  MalformedRequestError,
  RateLimitedError,
  ServiceError,
} from '../../src/platform/errors.ts';

export const jsonContentType = 'application/json; charset=utf-8';

/**
 * Recognizes requests that fastify refuses before the route is found, such as a URL that cannot be
 * decoded.
 */
function isClientFault(error: unknown): boolean {
  const { statusCode } = error as { statusCode?: unknown };
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
}

/**
 * Converts any failure to a service error. An unknown failure becomes a neutral InternalError with
 * the cause.
 */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof Error && isClientFault(error)) {
    return new MalformedRequestError(error.message);
  }
  const text =
    'An unexpected error occurred. The log holds it under the X-Request-Id of this answer';
  return new InternalError(text, 'api', { cause: error });
}

/** Returns the headers that an error adds to the answer. */
export function errorHeaders(error: ServiceError): Record<string, string> {
  const { status, layer, retryAfterSeconds } = error;
  return {
    ...(status === 401 && { 'www-authenticate': 'ApiKey header="X-API-Key", Bearer' }),
    ...(layer !== undefined && { 'x-service-error-layer': layer }),
    ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
    ...(error instanceof RateLimitedError && { 'x-service-throttle-source': 'service_admission' }),
  };
}

/** The request in which an error was thrown. */
interface Failed {
  requestId: string;
  method: string;
  route: string | undefined;
}

/** Returns the service error of any failure. Counts it, and logs it once if it is our fault. */
export function reported(app: App, error: unknown, failed: Failed): ServiceError {
  const refusal = toServiceError(error);
  app.metrics.refused.inc({ reason: refusal.reason });
  logFault(app, refusal, failed);
  return refusal;
}

/** Reports an error (see `reported`) and answers with it. */
export function sendError(
  app: App,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { id: requestId, method, routeOptions } = request;
  const refusal = reported(app, error, { requestId, method, route: routeOptions.url });
  const challenge = reply.getHeader('www-authenticate');
  return reply
    .code(refusal.status)
    .headers({
      ...errorHeaders(refusal),
      // Keeps the challenge of a path: git clients support only Basic authentication.
      ...(challenge !== undefined && { 'www-authenticate': String(challenge) }),
    })
    .header('content-type', jsonContentType)
    .send(JSON.stringify(refusal));
}

/**
 * Logs faults. A request refused for capacity leaves no line, but a store that cannot write does
 * (the error has a cause).
 */
function logFault(app: App, error: ServiceError, failed: Failed): void {
  const isFault = error.status >= 500 && !(error instanceof CapacityError);
  if (!isFault && error.cause === undefined) return;
  const fields = { ...failed, err: error.cause ?? error };
  if (error.status === 500) app.log.error(fields, error.message);
  else app.log.warn(fields, error.message);
}
