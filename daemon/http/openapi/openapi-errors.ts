// The error answers (specification 7) as OpenAPI components: schemas by `_tag`, and responses by
// status, both derived from the errors of src/platform/errors.ts.
import { errorKinds } from '../../../src/platform/errors.ts';
import type { JsonSchema } from './openapi-schemas.ts';

/** Schemas of the error objects, by `_tag`. */
export const errorSchemas: Readonly<Record<string, JsonSchema>> = Object.fromEntries(
  [...errorKinds].map(([tag, { fields, optional = [], answers, sendAnswers }]) => [
    tag,
    {
      type: 'object',
      description: Object.values({ ...answers, ...sendAnswers })[0]?.[1],
      properties: {
        _tag: { type: 'string', const: tag, description: 'Kind of the error' },
        ...fields,
      },
      required: ['_tag', ...Object.keys(fields).filter((name) => !optional.includes(name))],
    },
  ]),
);

const text = { type: 'string' };
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
  'Idempotency-Replayed': header(
    '`true` if the answer repeats the answer of an earlier request with the same `Idempotency-Key`',
    { const: 'true' },
  ),
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

/** Returns the component of an error status; throws for a status that no error has. */
export function errorResponse(
  status: number,
  isSend: boolean,
): { name: string; response: JsonSchema } {
  const ofSends =
    isSend && [...errorKinds.values()].some(({ sendAnswers }) => sendAnswers?.[status]);
  const found = [...errorKinds].flatMap(([tag, { answers, sendAnswers, headers = [] }]) => {
    const answer = (ofSends ? sendAnswers : answers)?.[status];
    return answer ? [{ tag, answer, headers }] : [];
  });
  const [first] = found;
  if (!first) throw new Error(`No error is specified for status ${status}`);
  const [name, description] = first.answer;
  const refs = found.map(({ tag }) => ({ $ref: `#/components/schemas/${tag}` }));
  const union = { oneOf: refs, discriminator: { propertyName: '_tag' } };
  return {
    name,
    response: {
      description,
      headers: headerRefs(['X-Request-Id', ...first.headers]),
      content: { 'application/json': { schema: refs.length === 1 ? refs[0] : union } },
    },
  };
}

/** Returns references to headers by name. */
export function headerRefs(names: readonly string[]): JsonSchema {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
