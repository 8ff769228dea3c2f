// The error answers (specification 7) as OpenAPI components: schemas by `_tag`, and responses by status. The
// classes are in src/platform/errors.ts; a test keeps both equal.
import type { JsonSchema } from './openapi-schemas.ts';

const text = { type: 'string' };
const count = { type: 'number' };
const seconds = { type: 'integer', minimum: 0, description: 'Seconds to wait, as a whole number' };

function errorSchema(
  tag: string,
  fields: Record<string, JsonSchema>,
  optional: readonly string[] = [],
): JsonSchema {
  return {
    type: 'object',
    properties: { _tag: { type: 'string', const: tag }, ...fields },
    required: ['_tag', ...Object.keys(fields).filter((name) => !optional.includes(name))],
  };
}

const message = { message: text };
const fieldMessages = {
  type: 'object',
  description: 'Maps the dotted path of a field to its faults',
  additionalProperties: { type: 'array', items: text },
  examples: [{ 'email.subject': ['is required for inline content'] }],
};

/** Schemas of the error objects, by `_tag`. */
export const errorSchemas: Readonly<Record<string, JsonSchema>> = {
  MalformedRequestError: errorSchema('MalformedRequestError', message),
  ValidationError: errorSchema('ValidationError', { message: text, fields: fieldMessages }, [
    'fields',
  ]),
  ResourceNotFoundError: errorSchema('ResourceNotFoundError', { resource: text, id: text }),
  UnauthorizedError: errorSchema('UnauthorizedError', message),
  PaymentRequiredError: errorSchema('PaymentRequiredError', {
    resource: { type: 'string', examples: ['daily-emails'] },
    currentUsage: count,
    limit: count,
    operation: text,
  }),
  ForbiddenError: errorSchema('ForbiddenError', message),
  FlagDisabledError: errorSchema('FlagDisabledError', { flag: text, message: text }),
  ConflictError: errorSchema('ConflictError', { message: text, resource: text }),
  RateLimitedError: errorSchema('RateLimitedError', {
    retryAfterSeconds: seconds,
    operation: text,
  }),
  ExternalServiceError: errorSchema('ExternalServiceError', { provider: text, message: text }),
  BillingProviderError: errorSchema('BillingProviderError', { provider: text, message: text }),
  InternalError: errorSchema('InternalError', message),
  WebhookEnqueueError: errorSchema('WebhookEnqueueError', message),
  CapacityError: errorSchema('CapacityError', { message: text, retryAfterSeconds: seconds }),
  TimeoutError: errorSchema('TimeoutError', { message: text, retryAfterSeconds: seconds }),
};

const header = (description: string, schema: JsonSchema) => ({ description, schema });

/** Headers of answers, by name. */
export const responseHeaders: Readonly<Record<string, JsonSchema>> = {
  'X-Request-Id': header(
    'Names the request in the log; the id of the request, if it sent a valid one',
    text,
  ),
  'Retry-After': header('Whole seconds after which the request may be repeated', {
    type: 'integer',
    minimum: 0,
  }),
  'RateLimit-Limit': header(
    'Capacity of the tighter bucket, of the organization or of the key; plans without a ' +
      'rate limit have none of these headers',
    { type: 'integer', minimum: 1 },
  ),
  'RateLimit-Remaining': header('Requests that would be admitted now', {
    type: 'integer',
    minimum: 0,
  }),
  'RateLimit-Reset': header(
    'Seconds until that bucket is full; if nothing remains, until the next request is ' +
      'admitted',
    { type: 'integer', minimum: 0 },
  ),
  'X-Service-Throttle-Source': header('Name of the limit that refused the request', {
    type: 'string',
    const: 'service_admission',
  }),
  'X-Service-Error-Layer': header('Layer that caused the error', {
    type: 'string',
    enum: ['api', 'store', 'provider', 'webhooks', 'timeout'],
  }),
};

/** Headers of deprecated operations (daemon/http/dispatch.ts), by name. */
export const deprecationHeaders: Readonly<Record<string, JsonSchema>> = {
  Deprecation: header('Time since which the operation is deprecated (RFC 9745)', text),
  Sunset: header('Time at which the operation goes away (RFC 8594)', text),
};

/** Headers of send answers (daemon/http/rate-limits.ts). */
export const rateLimitHeaders = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

interface ErrorResponse {
  name: string;
  description: string;
  tags: readonly string[];
  headers?: readonly string[];
}

const layer = 'X-Service-Error-Layer';

/** The error response of each status. */
const responses: Readonly<Record<number, ErrorResponse>> = {
  400: {
    name: 'MalformedRequest',
    description: 'The request is not valid HTTP or JSON',
    tags: ['MalformedRequestError'],
  },
  401: {
    name: 'Unauthorized',
    description: 'The key is missing or not valid',
    tags: ['UnauthorizedError'],
  },
  402: {
    name: 'PaymentRequired',
    description: 'A limit of the plan is reached',
    tags: ['PaymentRequiredError'],
  },
  403: {
    name: 'Forbidden',
    description: 'The key or the organization is not allowed to do this',
    tags: ['ForbiddenError'],
  },
  404: {
    name: 'NotFound',
    description: 'This organization has no such resource',
    tags: ['ResourceNotFoundError'],
  },
  409: {
    name: 'Conflict',
    description: 'The request contradicts the state of the resource',
    tags: ['ConflictError'],
  },
  413: {
    name: 'TooLarge',
    description: 'The body is larger than the service accepts',
    tags: ['MalformedRequestError'],
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The body is not sent as application/json in UTF-8',
    tags: ['MalformedRequestError'],
  },
  422: {
    name: 'ValidationFailed',
    description: 'The body is well formed, but has wrong fields; `fields` names each',
    tags: ['ValidationError'],
  },
  429: {
    name: 'RateLimited',
    description: 'The rate limit for sends refused the request; wait for `Retry-After`',
    tags: ['RateLimitedError'],
    headers: ['Retry-After', 'X-Service-Throttle-Source', ...rateLimitHeaders],
  },
  500: {
    name: 'Internal',
    description: 'A fault of the service; safe to repeat with the same `Idempotency-Key`',
    tags: ['InternalError'],
    headers: [layer],
  },
  502: {
    name: 'BadGateway',
    description: 'A dependency of the service failed',
    tags: ['ExternalServiceError', 'BillingProviderError'],
    headers: [layer],
  },
  503: {
    name: 'AtCapacity',
    description: 'No capacity now: nothing was done; repeat with backoff',
    tags: ['CapacityError'],
    headers: ['Retry-After'],
  },
  504: {
    name: 'TimedOut',
    description: 'The request took too long; it may still take effect',
    tags: ['TimeoutError'],
    headers: ['Retry-After', layer],
  },
};

/** Responses that only the send operation declares (specification 4.1). */
const sendResponses: Readonly<Record<number, ErrorResponse>> = {
  403: {
    name: 'SendForbidden',
    description: 'The key, the sender or the organization may not send',
    tags: ['ForbiddenError', 'FlagDisabledError'],
  },
  500: {
    name: 'SendFailed',
    description: 'A fault of the service; safe to repeat with the same `Idempotency-Key`',
    tags: ['InternalError', 'WebhookEnqueueError'],
    headers: [layer],
  },
};

/** Returns the component of an error status; throws for a status outside of the specification. */
export function errorResponse(
  status: number,
  isSend: boolean,
): { name: string; response: JsonSchema } {
  const found = (isSend && sendResponses[status]) || responses[status];
  if (!found) throw new Error(`No error is specified for status ${status}`);
  const { name, description, tags, headers = [] } = found;
  const refs = tags.map((tag) => ({ $ref: `#/components/schemas/${tag}` }));
  const union = { oneOf: refs, discriminator: { propertyName: '_tag' } };
  return {
    name,
    response: {
      description,
      headers: headerRefs(['X-Request-Id', ...headers]),
      content: { 'application/json': { schema: refs.length === 1 ? refs[0] : union } },
    },
  };
}

/** Returns references to headers by name. */
export function headerRefs(names: readonly string[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
