// Refusals of the service: one class per `_tag` of specification 7, plus three that only the HTTP server
// uses. HTTP and the command line map them once (daemon/http/errors.ts, commands/base/failure.ts). A refusal
// by a remote server is an Outcome instead (src/mail/smtp/outcome.ts).

/** Reasons of refusals as the metrics count them (src/platform/runtime/metrics.ts): finer than `_tag`. */
export const refusalReasons = [
  'validation',
  'not-found',
  'unauthorized',
  'forbidden',
  'paused',
  'quota',
  'conflict',
  'rate',
  'internal',
  'malformed',
  'slow',
  'capacity-in-flight',
  'capacity-event-loop',
  'capacity-bodies',
  'capacity-streams',
  'capacity-answers',
  'capacity-connections',
  'capacity-parser',
  'capacity-searches',
  'capacity-store',
  'capacity-storage',
  'external',
  'timeout',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Base of every refusal: `_tag` is the discriminator, `toJSON` the flat object of the API. */
export abstract class ServiceError extends Error {
  abstract readonly _tag: string;
  abstract readonly status: number;
  abstract readonly reason: RefusalReason;
  /** Returns the fields of the flat error object besides `_tag`. */
  abstract fields(): Record<string, unknown>;

  toJSON(): Record<string, unknown> {
    return { _tag: this._tag, ...this.fields() };
  }
}

abstract class PlainError extends ServiceError {
  fields(): Record<string, unknown> {
    return { message: this.message };
  }
}

/** Maps a field name (dotted path) to its messages. */
export type FieldErrors = Record<string, string[]>;

export class ValidationError extends ServiceError {
  readonly _tag = 'ValidationError';
  readonly status = 422;
  readonly reason = 'validation';
  readonly fieldErrors: FieldErrors | undefined;
  constructor(message: string, fieldErrors?: FieldErrors) {
    super(message);
    this.fieldErrors = fieldErrors;
  }
  /** Returns a refusal of one field. */
  static of(field: string, problem: string): ValidationError {
    return new ValidationError(`${field}: ${problem}`, { [field]: [problem] });
  }
  fields() {
    return { message: this.message, ...(this.fieldErrors && { fields: this.fieldErrors }) };
  }
}

export class ResourceNotFoundError extends ServiceError {
  readonly _tag = 'ResourceNotFoundError';
  readonly status = 404;
  readonly reason = 'not-found';
  readonly resource: string;
  readonly id: string;
  constructor(resource: string, id: string) {
    super(`${resource} ${id} was not found`);
    this.resource = resource;
    this.id = id;
  }
  fields() {
    return { resource: this.resource, id: this.id };
  }
}

export class UnauthorizedError extends PlainError {
  readonly _tag = 'UnauthorizedError';
  readonly status = 401;
  readonly reason = 'unauthorized';
}

export class ForbiddenError extends PlainError {
  readonly _tag = 'ForbiddenError';
  readonly status = 403;
  readonly reason: 'forbidden' | 'paused';
  constructor(message: string, reason: ForbiddenError['reason'] = 'forbidden') {
    super(message);
    this.reason = reason;
  }
}

export class PaymentRequiredError extends ServiceError {
  readonly _tag = 'PaymentRequiredError';
  static readonly status = 402;
  readonly status = PaymentRequiredError.status;
  readonly reason = 'quota';
  readonly usage: { resource: string; currentUsage: number; limit: number; operation: string };
  constructor(usage: PaymentRequiredError['usage']) {
    super(`${usage.resource}: ${usage.currentUsage} of ${usage.limit} used`);
    this.usage = usage;
  }
  fields() {
    return { ...this.usage };
  }
}

export class ConflictError extends ServiceError {
  readonly _tag = 'ConflictError';
  static readonly status = 409;
  readonly status = ConflictError.status;
  readonly reason = 'conflict';
  readonly resource: string;
  constructor(resource: string, message: string) {
    super(message);
    this.resource = resource;
  }
  fields() {
    return { message: this.message, resource: this.resource };
  }
}

export class RateLimitedError extends ServiceError {
  readonly _tag = 'RateLimitedError';
  readonly status = 429;
  readonly reason = 'rate';
  readonly retryAfterSeconds: number;
  readonly operation: string;
  constructor(operation: string, retryAfterSeconds: number) {
    super(`${operation}: rate limit exceeded, retry after ${retryAfterSeconds} s`);
    this.operation = operation;
    this.retryAfterSeconds = retryAfterSeconds;
  }
  fields() {
    return { retryAfterSeconds: this.retryAfterSeconds, operation: this.operation };
  }
}

/** A fault of the service or its store; `layer` becomes X-Service-Error-Layer. */
export class InternalError extends PlainError {
  readonly _tag = 'InternalError';
  readonly status = 500;
  readonly reason = 'internal';
  readonly layer: 'api' | 'store' | 'provider' | 'webhooks';
  constructor(message: string, layer: InternalError['layer'] = 'api', options?: ErrorOptions) {
    super(message, options);
    this.layer = layer;
  }
}

/** An event could not be queued for its webhook endpoints, so its change was not made. */
export class WebhookEnqueueError extends PlainError {
  readonly _tag = 'WebhookEnqueueError';
  readonly status = 500;
  readonly reason = 'internal';
  readonly layer = 'webhooks';
}

/** A service that we depend on failed, so that the request could not be answered. */
export class ExternalServiceError extends ServiceError {
  readonly _tag = 'ExternalServiceError';
  static readonly status = 502;
  readonly status = ExternalServiceError.status;
  readonly reason = 'external';
  /** The kind of service: `storage`. */
  readonly provider: string;
  constructor(provider: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.provider = provider;
  }
  fields() {
    return { provider: this.provider, message: this.message };
  }
}

/** The request is unreadable as HTTP with JSON: 400, 413 or 415. */
export class MalformedRequestError extends PlainError {
  readonly _tag = 'MalformedRequestError';
  readonly status: 400 | 413 | 415;
  readonly reason: 'malformed' | 'slow';
  constructor(
    message: string,
    status: MalformedRequestError['status'] = 400,
    reason: MalformedRequestError['reason'] = 'malformed',
  ) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** No capacity, or the store cannot take a write now: nothing was done; retry later. */
export class CapacityError extends ServiceError {
  readonly _tag = 'CapacityError';
  readonly status = 503;
  readonly reason: RefusalReason & `capacity-${string}`;
  readonly retryAfterSeconds: number;
  constructor(
    message: string,
    retryAfterSeconds = 1,
    options: ErrorOptions & { reason?: CapacityError['reason'] } = {},
  ) {
    super(message, options);
    this.reason = options.reason ?? 'capacity-store';
    this.retryAfterSeconds = retryAfterSeconds;
  }
  fields() {
    return { message: this.message, retryAfterSeconds: this.retryAfterSeconds };
  }
}

/** The request outran `http.requestTimeoutSeconds`; it may still take effect. */
export class TimeoutError extends ServiceError {
  readonly _tag = 'TimeoutError';
  readonly status = 504;
  readonly reason = 'timeout';
  readonly retryAfterSeconds: number;
  constructor(message: string, retryAfterSeconds = 1) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
  fields() {
    return { message: this.message, retryAfterSeconds: this.retryAfterSeconds };
  }
}

/** Unusable configuration: stops a start with one readable line; exit code 2. */
export class ConfigError extends Error {}

/** The store or the daemon cannot be reached: exit code 7. */
export class UnreachableError extends Error {}

/** The store or its secret is missing; only `svc init` and the daemon create them. */
export class NoStoreError extends UnreachableError {
  /** The missing part. */
  readonly lacks: 'store' | 'secret';
  constructor(message: string, lacks: NoStoreError['lacks'] = 'store', options?: ErrorOptions) {
    super(message, options);
    this.lacks = lacks;
  }
}

/** The store has an earlier schema than this version needs; only a daemon's start migrates. */
export class OlderStoreError extends UnreachableError {}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code of an error of Node.js (`ENOENT`); empty without one. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
