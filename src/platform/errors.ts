// Errors with which the service refuses a request: a class for each `_tag` of specification 7, with
// JSON Schema and HTTP statuses. daemon/http/errors.ts and commands/base/output/failure.ts present
// them. A refusal by a remote mail server is an Outcome (src/mail/smtp/outcome.ts).

/**
 * Reasons of refusals in the metrics (src/platform/runtime/metrics.ts), more detailed than `_tag`.
 */
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

/** Names and descriptions of response components in OpenAPI, by status. */
type ErrorAnswers = Readonly<Record<number, readonly [name: string, description: string]>>;

/** An error of the API as in the OpenAPI document (daemon/http/openapi/openapi-errors.ts). */
interface ErrorKind {
  /** JSON Schemas of the fields except `_tag`, in the order of the error object. */
  fields: Readonly<Record<string, object>>;
  /** Fields that an error object may omit. */
  optional?: readonly string[];
  answers?: ErrorAnswers;
  /** Answers of the operation that sends a message, in place of `answers` (specification 4.1). */
  sendAnswers?: ErrorAnswers;
  /** Headers of the answers in addition to X-Request-Id. */
  headers?: readonly string[];
}

const described = (type: 'string' | 'number', description: string) => ({ type, description });
const message = described('string', 'Sentence on the cause and the next step');
const operation = described('string', 'Operation that was refused');
const provider = described('string', 'Service that failed');
const waitSeconds = {
  type: 'integer',
  minimum: 0,
  description: 'Seconds to wait, as a whole number',
};
const layerHeader = 'X-Service-Error-Layer';
const sendForbidden = [
  'SendForbidden',
  'The key, the sender or the organization may not send',
] as const;
const faultOfService = 'A fault of the service; safe to repeat with the same `Idempotency-Key`';
const sendFailed = ['SendFailed', faultOfService] as const;
const badGateway = ['BadGateway', 'A dependency of the service failed'] as const;

const kinds = new Map<string, ErrorKind>();

/** All errors of the API, by `_tag`. */
export const errorKinds: ReadonlyMap<string, ErrorKind> = kinds;

/** Base of every refusal: `_tag` is the discriminator, `toJSON` the flat object of the API. */
export abstract class ServiceError extends Error {
  abstract readonly _tag: string;
  abstract readonly status: number;
  abstract readonly reason: RefusalReason;
  /** Value of the header Retry-After, if the answer has the header. */
  readonly retryAfterSeconds: number | undefined;
  /** Value of the header X-Service-Error-Layer, if the answer has the header. */
  readonly layer: string | undefined;
  /** Returns the fields of the flat error object except `_tag`. */
  abstract fields(): Record<string, unknown>;

  toJSON(): Record<string, unknown> {
    return { _tag: this._tag, ...this.fields() };
  }
}

/**
 * Declares an error of the API. Returns the base class of the error, with the first status of
 * `kind`.
 */
function refusal<Tag extends string>(tag: Tag, reason: RefusalReason, kind: ErrorKind) {
  kinds.set(tag, kind);
  const status = Number(Object.keys(kind.answers ?? kind.sendAnswers ?? {})[0]);
  const names = Object.keys(kind.fields);
  return class extends ServiceError {
    static readonly status = status;
    readonly _tag = tag;
    readonly status: number = status;
    readonly reason: RefusalReason = reason;
    fields(): Record<string, unknown> {
      return Object.fromEntries(names.map((name) => [name, Reflect.get(this, name)]));
    }
  };
}

/** The request cannot be read as HTTP with JSON. */
export class MalformedRequestError extends refusal('MalformedRequestError', 'malformed', {
  fields: { message },
  answers: {
    400: ['MalformedRequest', 'The request is not valid HTTP or JSON'],
    413: ['TooLarge', 'The body is larger than the service accepts'],
    415: ['UnsupportedMediaType', 'The body is not sent as application/json in UTF-8'],
  },
}) {
  override readonly status: 400 | 413 | 415;
  override readonly reason: 'malformed' | 'slow';
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

/** Maps a field name (dotted path) to the messages of the field. */
export type FieldErrors = Record<string, string[]>;

export class ValidationError extends refusal('ValidationError', 'validation', {
  fields: {
    message,
    fields: {
      type: 'object',
      description: 'Maps the dotted path of a field to its faults',
      additionalProperties: { type: 'array', items: { type: 'string' } },
      examples: [{ 'email.subject': ['is required for inline content'] }],
    },
  },
  optional: ['fields'],
  answers: {
    422: ['ValidationFailed', 'The body is well formed, but has wrong fields; `fields` names each'],
  },
}) {
  readonly fieldErrors: FieldErrors | undefined;
  constructor(message: string, fieldErrors?: FieldErrors) {
    super(message);
    this.fieldErrors = fieldErrors;
  }
  /** Returns an error about a single field. */
  static of(field: string, problem: string): ValidationError {
    return new ValidationError(`${field}: ${problem}`, { [field]: [problem] });
  }
  override fields() {
    return { message: this.message, ...(this.fieldErrors && { fields: this.fieldErrors }) };
  }
}

export class ResourceNotFoundError extends refusal('ResourceNotFoundError', 'not-found', {
  fields: {
    resource: described('string', 'Type of the missing resource'),
    id: described('string', 'Id or path of the request'),
    hint: { type: 'string', description: 'The nearest operation, for a path of another service' },
  },
  optional: ['hint'],
  answers: { 404: ['NotFound', 'This organization has no such resource'] },
}) {
  readonly resource: string;
  readonly id: string;
  readonly hint: string | undefined;
  constructor(resource: string, id: string, hint?: string) {
    super(`${resource} ${id} was not found${hint === undefined ? '' : `: ${hint}`}`);
    this.resource = resource;
    this.id = id;
    this.hint = hint;
  }
  override fields() {
    const { resource, id, hint } = this;
    return { resource, id, ...(hint !== undefined && { hint }) };
  }
}

export class UnauthorizedError extends refusal('UnauthorizedError', 'unauthorized', {
  fields: { message },
  answers: { 401: ['Unauthorized', 'The key is missing or not valid'] },
}) {}

export class PaymentRequiredError extends refusal('PaymentRequiredError', 'quota', {
  fields: {
    resource: {
      ...described('string', 'Name of the limit that is reached'),
      examples: ['daily-emails'],
    },
    currentUsage: described('number', 'Usage so far, in the unit of the limit'),
    limit: described('number', 'Most that the plan allows'),
    operation,
  },
  answers: { 402: ['PaymentRequired', 'A limit of the plan is reached'] },
}) {
  readonly usage: { resource: string; currentUsage: number; limit: number; operation: string };
  constructor(usage: PaymentRequiredError['usage']) {
    super(`${usage.resource}: ${usage.currentUsage} of ${usage.limit} used`);
    this.usage = usage;
  }
  override fields() {
    return { ...this.usage };
  }
}

export class ForbiddenError extends refusal('ForbiddenError', 'forbidden', {
  fields: { message },
  answers: { 403: ['Forbidden', 'The key or the organization is not allowed to do this'] },
  sendAnswers: { 403: sendForbidden },
}) {
  override readonly reason: 'forbidden' | 'paused';
  constructor(message: string, reason: ForbiddenError['reason'] = 'forbidden') {
    super(message);
    this.reason = reason;
  }
}

// The specification declares this error for a send, but the service has no flags.
kinds.set('FlagDisabledError', {
  fields: { flag: described('string', 'Name of the flag'), message },
  sendAnswers: { 403: sendForbidden },
});

export class ConflictError extends refusal('ConflictError', 'conflict', {
  fields: { message, resource: described('string', 'Type of the resource in conflict') },
  answers: { 409: ['Conflict', 'The request contradicts the state of the resource'] },
}) {
  readonly resource: string;
  constructor(resource: string, message: string) {
    super(message);
    this.resource = resource;
  }
}

export class RateLimitedError extends refusal('RateLimitedError', 'rate', {
  fields: { retryAfterSeconds: waitSeconds, operation },
  answers: {
    429: ['RateLimited', 'The rate limit for sends refused the request; wait for `Retry-After`'],
  },
  headers: [
    ...['Retry-After', 'X-Service-Throttle-Source'],
    ...['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'],
  ],
}) {
  readonly operation: string;
  override readonly retryAfterSeconds: number;
  constructor(operation: string, retryAfterSeconds: number) {
    super(`${operation}: rate limit exceeded, retry after ${retryAfterSeconds} s`);
    this.operation = operation;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A service on which the request depends failed. */
export class ExternalServiceError extends refusal('ExternalServiceError', 'external', {
  fields: { provider, message },
  answers: { 502: badGateway },
  headers: [layerHeader],
}) {
  override readonly layer = 'provider';
  /** Kind of the failed service: `storage`. */
  readonly provider: string;
  constructor(provider: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.provider = provider;
  }
}

// The specification declares this error for a send, but the service bills nobody.
kinds.set('BillingProviderError', {
  fields: { provider, message },
  answers: { 502: badGateway },
});

/** A fault of the service or the store. */
export class InternalError extends refusal('InternalError', 'internal', {
  fields: { message },
  answers: { 500: ['Internal', faultOfService] },
  sendAnswers: { 500: sendFailed },
  headers: [layerHeader],
}) {
  override readonly layer: 'api' | 'store' | 'provider' | 'webhooks';
  constructor(message: string, layer: InternalError['layer'] = 'api', options?: ErrorOptions) {
    super(message, options);
    this.layer = layer;
  }
}

/** An event could not be queued for the webhook endpoints, so the change was not made. */
export class WebhookEnqueueError extends refusal('WebhookEnqueueError', 'internal', {
  fields: { message },
  sendAnswers: { 500: sendFailed },
  headers: [layerHeader],
}) {
  override readonly layer = 'webhooks';
}

/** The service has no capacity, or the store accepts no writes. Nothing was done: retry later. */
export class CapacityError extends refusal('CapacityError', 'capacity-store', {
  fields: { message, retryAfterSeconds: waitSeconds },
  answers: { 503: ['AtCapacity', 'No capacity now: nothing was done; repeat with backoff'] },
  headers: ['Retry-After'],
}) {
  override readonly reason: RefusalReason & `capacity-${string}`;
  override readonly retryAfterSeconds: number;
  constructor(
    message: string,
    retryAfterSeconds = 1,
    options: ErrorOptions & { reason?: CapacityError['reason'] } = {},
  ) {
    super(message, options);
    this.reason = options.reason ?? 'capacity-store';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The request took longer than `http.requestTimeoutSeconds`. It may still take effect. */
export class TimeoutError extends refusal('TimeoutError', 'timeout', {
  fields: { message, retryAfterSeconds: waitSeconds },
  answers: { 504: ['TimedOut', 'The request took too long; it may still take effect'] },
  headers: ['Retry-After', layerHeader],
}) {
  override readonly layer = 'timeout';
  override readonly retryAfterSeconds: number;
  constructor(message: string, retryAfterSeconds = 1) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The configuration cannot be used. The program prints a readable line and exits with code 2. */
export class ConfigError extends Error {}

/** The store or the daemon cannot be reached. A command exits with code 7. */
export class UnreachableError extends Error {}

/** The store or the secret is missing. Only `svc init` and the daemon create them. */
export class NoStoreError extends UnreachableError {
  /** The missing part. */
  readonly lacks: 'store' | 'secret';
  constructor(message: string, lacks: NoStoreError['lacks'] = 'store', options?: ErrorOptions) {
    super(message, options);
    this.lacks = lacks;
  }
}

/** The store has an earlier schema than this version needs. Only the daemon migrates it. */
export class OlderStoreError extends UnreachableError {}

/** Returns the message of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code of an error of Node.js, such as `ENOENT`; empty without a code. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
