// The errors of specification 7: flat objects, their headers, and the log entry of a fault.
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorHeaders } from '../../daemon/http/errors.ts';
import { errorResponse, errorSchemas } from '../../daemon/http/openapi/openapi-errors.ts';
import { type Route, route } from '../../src/core/api/route.ts';
import { parseParts } from '../../src/core/api/validate.ts';
import * as errors from '../../src/platform/errors.ts';
import {
  CapacityError,
  ConflictError,
  ForbiddenError,
  InternalError,
  MalformedRequestError,
  PaymentRequiredError,
  RateLimitedError,
  ResourceNotFoundError,
  type ServiceError,
  TimeoutError,
  UnauthorizedError,
  ValidationError,
} from '../../src/platform/errors.ts';
import { filesUnder } from '../docs/plain-tests.ts';
import { getRoute, type HttpService, httpService, ownerKey } from './http-service.ts';

let service: HttpService | undefined;

afterEach(async () => {
  await service?.close();
  service = undefined;
});

/** Returns the response when a route throws this. */
async function answerTo(thrown: unknown, headers: Record<string, string> = {}) {
  const fail = getRoute('/v1/fail', () => Promise.reject(thrown));
  service = await httpService({ routes: [fail] });
  const response = await service.http.inject({
    url: '/v1/fail?',
    headers: { 'x-api-key': ownerKey, ...headers },
  });
  expect(service.check.faults).toEqual([]);
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

const oneOfEach: ServiceError[] = [
  new MalformedRequestError('no'),
  new ValidationError('no', { 'email.subject': ['is required'] }),
  new ResourceNotFoundError('route', 'POST /emails', 'here it is POST /v1/messages'),
  new UnauthorizedError('no'),
  new PaymentRequiredError({
    resource: 'daily-emails',
    currentUsage: 2,
    limit: 1,
    operation: 'send',
  }),
  new ForbiddenError('no'),
  new ConflictError('message', 'no'),
  new RateLimitedError('send', 7),
  new InternalError('no'),
  new CapacityError('no', 2),
  new TimeoutError('no', 3),
];

it('errors of two parts of a request under one name are both reported', () => {
  const parts = {
    path: {
      schema: z.strictObject({ id: z.string().max(3, 'is too long') }),
      value: { id: 'four' },
    },
    query: { schema: z.strictObject({}), value: { id: 'x' } },
  };
  expect(() => parseParts(parts)).toThrow(
    expect.objectContaining({ fieldErrors: { id: ['is too long', 'unknown field'] } }),
  );
});

describe('an error of the service', () => {
  it.each(oneOfEach.map((error) => [error._tag, error] as const))(
    '%s is a flat object with its own status and the fields that the document declares',
    async (tag, error) => {
      const answer = await answerTo(error);
      expect(answer.status).toBe(error.status);
      expect(answer.body).toEqual({ _tag: tag, ...error.fields() });
      const declared = errorSchemas[tag]?.properties as Record<string, unknown>;
      expect(Object.keys(answer.body)).toEqual(Object.keys(declared));
    },
  );

  it.each([
    [
      new RateLimitedError('send', 7),
      { 'retry-after': '7', 'x-service-throttle-source': 'service_admission' },
    ],
    [new CapacityError('no', 2), { 'retry-after': '2' }],
    [new TimeoutError('no', 3), { 'retry-after': '3', 'x-service-error-layer': 'timeout' }],
    [new InternalError('no'), { 'x-service-error-layer': 'api' }],
    [new InternalError('no', 'store'), { 'x-service-error-layer': 'store' }],
    [new InternalError('no', 'webhooks'), { 'x-service-error-layer': 'webhooks' }],
    [new ConflictError('message', 'no'), {}],
  ])('%s has exactly its headers', async (error, headers) => {
    expect(errorHeaders(error)).toEqual(headers);
    const answer = await answerTo(error);
    expect(answer.headers).toMatchObject(headers);
  });
});

describe('the errors of the API', () => {
  const classes = Object.entries(errors).flatMap(([name, value]) =>
    typeof value === 'function' && 'status' in value ? [{ name, status: value.status }] : [],
  );

  it('have one class each, named like the tag, besides the two that only the specification has', () => {
    const declared = ['BillingProviderError', 'FlagDisabledError'];
    const tags = [...errors.errorKinds.keys()];
    expect(tags.toSorted()).toEqual([...classes.map(({ name }) => name), ...declared].toSorted());
    expect(Object.keys(errorSchemas)).toEqual(tags);
  });

  it.each(classes)('$name has a response of its first status', ({ name, status }) => {
    const { response } = errorResponse(Number(status), true);
    expect(JSON.stringify(response)).toContain(`#/components/schemas/${name}"`);
  });

  it('are described in one file of the source', () => {
    const tags = [...errors.errorKinds.keys()].join('|');
    const described = new RegExp(`(?:const: '|^\\s*'?)(?:${tags})'?(?:'|: )`, 'm');
    const files = ['src', 'daemon', 'commands'].flatMap((part) => filesUnder(part, /\.ts$/));
    expect(files.filter((file) => described.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('have responses of no other status', () => {
    const statuses = [400, 401, 402, 403, 404, 409, 413, 415, 422, 429, 500, 502, 503, 504];
    const all = Array.from({ length: 200 }, (_, index) => 400 + index);
    for (const status of all.filter((one) => !statuses.includes(one))) {
      expect(() => errorResponse(status, true)).toThrow(`status ${status}`);
    }
  });
});

describe('an unexpected fault', () => {
  it('is answered in neutral words, and logged once with the request id, without key and body', async () => {
    const fault = new Error('no such column: secret_sauce');
    const answer = await answerTo(fault, { 'x-request-id': 'trace:7' });
    expect(answer.status).toBe(500);
    expect(answer.headers['x-service-error-layer']).toBe('api');
    expect(answer.headers['x-request-id']).toBe('trace:7');
    expect(answer.body).toEqual({
      _tag: 'InternalError',
      message: expect.not.stringContaining('secret_sauce'),
    });
    const lines = service?.logged() ?? [];
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({
      level: 'error',
      requestId: 'trace:7',
      method: 'GET',
      route: '/v1/fail',
      err: { message: 'no such column: secret_sauce', stack: expect.stringContaining('Error') },
    });
    expect(JSON.stringify(lines)).not.toContain(ownerKey);
  });

  it.each([
    ['a text', 'oops'],
    ['nothing', undefined],
    ['null', null],
  ])('is answered with 500 when it is %s', async (_case, thrown) => {
    expect((await answerTo(thrown)).status).toBe(500);
  });

  it('is answered with 500 when the response cannot be written as JSON', async () => {
    service = await httpService({ routes: [getRoute('/v1/big', async () => ({ big: 1n }))] });
    const response = await service.http.inject({
      url: '/v1/big',
      headers: { 'x-api-key': ownerKey },
    });
    expect(response.statusCode).toBe(500);
  });

  it('is logged when the store cannot write', async () => {
    await answerTo(
      new CapacityError('The store cannot write now', 1, { cause: new Error('full') }),
    );
    expect(service?.logged()).toMatchObject([{ level: 'warn', err: { message: 'full' } }]);
  });

  it('is not logged when load is shed', async () => {
    await answerTo(new CapacityError('More than 3 requests are in progress'));
    expect(service?.logged()).toEqual([]);
  });
});

describe('the request id', () => {
  it.each(['abc-1.2:3_4', 'x'.repeat(128)])(
    "is the caller's own when well-formed: %s",
    async (id) => {
      const answer = await answerTo(new ConflictError('message', 'no'), { 'x-request-id': id });
      expect(answer.headers['x-request-id']).toBe(id);
    },
  );

  it.each(['', 'a b', 'x'.repeat(129), '<script>', 'a\tb'])('is ours instead of %j', async (id) => {
    const answer = await answerTo(new ConflictError('message', 'no'), { 'x-request-id': id });
    expect(answer.headers['x-request-id']).toMatch(/^req_[0-9a-f]{24}$/);
  });

  it.each([
    '/healthz',
    '/readyz',
    '/metrics',
    '/docs',
    '/v1/openapi.json',
    '/nope',
    '/%zz',
    '/v1/fail',
  ])('is in the response to %s', async (url) => {
    service = await httpService({ routes: [getRoute('/v1/fail', async () => null)] });
    const response = await service.http.inject({ url, headers: { 'x-request-id': 'mine' } });
    expect(response.headers['x-request-id']).toBe('mine');
    expect(response.headers['x-content-type-options']).toBe('nosniff');
  });
});

it('a URL that cannot be decoded is answered with 400', async () => {
  service = await httpService();
  const response = await service.http.inject({ url: '/v1/things/%zz/echo' });
  expect(response.statusCode).toBe(400);
  expect(response.json()._tag).toBe('MalformedRequestError');
});

it('refusals are counted by reason, and requests by route and status', async () => {
  await answerTo(new ConflictError('message', 'no'));
  const text = (await service?.http.inject({ url: '/metrics' }))?.body;
  expect(text).toContain('svc_requests_refused_total{reason="conflict"} 1');
  expect(text).toContain(
    'svc_http_request_seconds_count{method="GET",route="/v1/fail",status="409"} 1',
  );
});

describe('the check of all HTTP tests', () => {
  const answering = (value: unknown): Route => {
    const declared = route({
      method: 'GET',
      path: '/v1/thing',
      name: 'getThing',
      summary: 'Get it',
      area: 'messages',
      permission: 'messages:read',
      status: 200,
      output: z.object({ at: z.iso.datetime(), size: z.number().nullable() }),
      run: async () => ({ at: '', size: null }),
    });
    return { ...declared, run: async () => value };
  };
  const at = '2026-01-01T00:00:00.000Z';

  it.each([
    ['a missing field', { at }, "must have required property 'size'"],
    ['a wrong type', { at, size: 'big' }, '/size must be number,null'],
    ['a wrong format', { at: 'today', size: 1 }, '/at must match format "date-time"'],
    [
      'an undocumented field',
      { at, size: 1, colour: 'red' },
      'fields that the schema does not name',
    ],
  ])('finds %s', async (_case, value, text) => {
    service = await httpService({ routes: [answering(value)] });
    const response = await service.http.inject({
      url: '/v1/thing',
      headers: { 'x-api-key': ownerKey },
    });
    expect(response.statusCode).toBe(500);
    expect(response.json().message).toContain(text);
    expect(service.check.faults).toHaveLength(1);
  });

  it('finds a status that the route does not declare', async () => {
    const thrower = {
      ...answering(null),
      run: () => Promise.reject(new ConflictError('thing', 'no')),
    };
    service = await httpService({ routes: [thrower] });
    const response = await service.http.inject({
      url: '/v1/thing',
      headers: { 'x-api-key': ownerKey },
    });
    expect(response.json().message).toContain('does not declare this status');
  });

  it('accepts a declared response', async () => {
    service = await httpService({ routes: [answering({ at, size: 1 })] });
    const response = await service.http.inject({
      url: '/v1/thing',
      headers: { 'x-api-key': ownerKey },
    });
    expect(response.statusCode).toBe(200);
  });
});
