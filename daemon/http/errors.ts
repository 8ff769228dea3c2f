// Every error that leaves the HTTP face: the flat object of specification 7, its status and headers,
// and the one log line of a fault. What is refused, and when, is decided elsewhere.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../src/app.ts';
import {
  CapacityError,
  InternalError,
  MalformedRequestError,
  RateLimitedError,
  ServiceError,
  TimeoutError,
  WebhookEnqueueError,
} from '../../src/errors.ts';

export const jsonContentType = 'application/json; charset=utf-8';

/** What fastify itself refuses before a route is found, e.g. an URL that cannot be decoded. */
function isClientFault(error: unknown): boolean {
  const { statusCode } = error as { statusCode?: unknown };
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
}

/** Any failure as one of the service's errors; an unknown one becomes neutral, with its cause. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof Error && isClientFault(error)) {
    return new MalformedRequestError(error.message);
  }
  const text = 'An unexpected error occurred; the log has it under the X-Request-Id of this answer';
  return new InternalError(text, 'api', { cause: error });
}

/** The layer behind a 500, 502 or 504. */
function layerOf(error: ServiceError): string {
  if (error instanceof InternalError || error instanceof WebhookEnqueueError) return error.layer;
  if (error instanceof TimeoutError) return 'timeout';
  return error.status === 502 ? 'provider' : 'api';
}

/** The headers that an error adds to its answer. */
export function errorHeaders(error: ServiceError): Record<string, string> {
  const headers: Record<string, string> = {};
  const { status } = error;
  if (status === 401) headers['www-authenticate'] = 'ApiKey header="X-API-Key", Bearer';
  if (status === 500 || status === 502 || status === 504) {
    headers['x-service-error-layer'] = layerOf(error);
  }
  if (
    error instanceof RateLimitedError ||
    error instanceof CapacityError ||
    error instanceof TimeoutError
  ) {
    headers['retry-after'] = String(error.retryAfterSeconds);
  }
  if (error instanceof RateLimitedError) {
    headers['x-service-throttle-source'] = 'service_admission';
  }
  return headers;
}

/** Answers with the error, counts it, and logs it once if the fault is ours. */
export function sendError(
  app: App,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const refusal = toServiceError(error);
  app.metrics.refused.inc({ reason: refusal.reason });
  logFault(app, refusal, request);
  return reply
    .code(refusal.status)
    .headers(errorHeaders(refusal))
    .header('content-type', jsonContentType)
    .send(JSON.stringify(refusal));
}

/** A load that is shed leaves no line each; a store that cannot write does (it has a cause). */
function logFault(app: App, error: ServiceError, request: FastifyRequest): void {
  const isFault = error.status >= 500 && !(error instanceof CapacityError);
  if (!isFault && error.cause === undefined) return;
  const fields = {
    requestId: request.id,
    method: request.method,
    route: request.routeOptions.url,
    err: error.cause ?? error,
  };
  if (error.status === 500) app.log.error(fields, error.message);
  else app.log.warn(fields, error.message);
}
