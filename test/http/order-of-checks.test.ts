// The order of checks: route, key, permission, rate limit, malformed body, fields, then the route;
// for a send, its checks one after another.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { admissionOf } from '../../src/access/admission/admission.ts';
import { revokeKey, updateKey } from '../../src/access/keys/keys.ts';
import { reviewOnboarding } from '../../src/access/organizations/onboarding.ts';
import { pauseOrganization } from '../../src/access/organizations/organizations.ts';
import { type Route, route } from '../../src/core/api/route.ts';
import { updateSender } from '../../src/identity/senders/senders.ts';
import {
  ConflictError,
  PaymentRequiredError,
  RateLimitedError,
  ResourceNotFoundError,
} from '../../src/platform/errors.ts';
import { onPlan, useToday } from '../access/admission/fixtures.ts';
import { payload } from '../outbound/messages/fixtures.ts';
import {
  type CheckedWorld,
  checkedWorld,
  closeMailbox,
  foreignMailboxes,
  from,
  hourMs,
} from '../outbound/sending/checked-world.ts';
import { narrow, refusalLadder } from '../outbound/sending/refusal-ladder.ts';
import { httpApi } from '../support/http-client.ts';
import {
  echo,
  getRoute,
  goodEcho,
  type HttpService,
  httpService,
  ownerKey,
} from './http-service.ts';

let service: HttpService;
let admitted: string[];
let refuseAdmission: boolean;

const touch = route({
  method: 'POST',
  path: '/v1/touch',
  name: 'touch',
  summary: 'Touch it',
  area: 'messages',
  permission: 'messages:write',
  status: 200,
  output: z.object({ touched: z.boolean() }),
  run: async () => ({ touched: true }),
});

const tune = route({
  method: 'PATCH',
  path: '/v1/tune',
  name: 'tune',
  summary: 'Tune it',
  area: 'messages',
  permission: 'messages:write',
  body: z.strictObject({ pitch: z.number().optional() }),
  bodyOptional: true,
  status: 200,
  output: z.object({ pitch: z.number().nullable() }),
  run: async (_app, { body }) => ({ pitch: body.pitch ?? null }),
});

const refusals: Route[] = [
  getRoute('/v1/missing', async () => {
    throw new ResourceNotFoundError('message', 'msg_1');
  }),
  getRoute('/v1/conflict', async () => {
    throw new ConflictError('message', 'It was sent already');
  }),
  getRoute('/v1/unpaid', async () => {
    throw new PaymentRequiredError({
      resource: 'daily-emails',
      currentUsage: 100,
      limit: 100,
      operation: 'send',
    });
  }),
];

beforeEach(async () => {
  admitted = [];
  refuseAdmission = false;
  service = await httpService({
    routes: [echo, touch, tune, ...refusals],
    admit: async (caller, { name }) => {
      if (refuseAdmission) throw new RateLimitedError('send', 3);
      admitted.push(`${caller.roleName} ${name}`);
    },
  });
});

afterEach(async () => {
  expect(service.check.faults).toEqual([]);
  await service.close();
});

/** Sends the good request with changes; header values of null are left out. */
async function send(change: {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  url?: string;
  headers?: Record<string, string | null>;
  payload?: string | Buffer;
}) {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...goodEcho.headers, ...change.headers })) {
    if (value !== null) headers[name] = value;
  }
  const response = await service.http.inject({ ...goodEcho, ...change, headers });
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}

describe('the route, checked first', () => {
  it.each([
    ['an unknown path', 'GET', '/v1/nope'],
    ['a known path with another method', 'PUT', '/v1/touch'],
    ['a trailing slash', 'POST', '/v1/touch/'],
    ['another letter case', 'POST', '/v1/Touch'],
    ['a doubled slash', 'POST', '//v1/touch'],
    ['OPTIONS', 'OPTIONS', '/v1/touch'],
  ] as const)('answers %s with 404, without looking at the key', async (_case, method, url) => {
    const answer = await send({ method, url: `${url}?a=1`, headers: { 'x-api-key': null } });
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({
      _tag: 'ResourceNotFoundError',
      resource: 'route',
      id: `${method} ${url}`,
    });
  });

  it('answers a malformed path parameter with 422 instead of 404', async () => {
    const answer = await send({ url: `/v1/things/${'x'.repeat(3000)}/echo` });
    expect(answer.status).toBe(422);
    expect(answer.body.fields).toEqual({ id: ['is not a thing id'] });
  });
});

describe('the key, checked second', () => {
  const broken = '{not json';

  it.each([null, ''])(
    'is answered when missing (%j) with 401 before the body is read',
    async (key) => {
      const answer = await send({ headers: { 'x-api-key': key }, payload: broken });
      expect(answer.status).toBe(401);
      expect(answer.body).toEqual({
        _tag: 'UnauthorizedError',
        message: 'An API key is missing: send it in the X-API-Key header',
      });
      expect(answer.headers['www-authenticate']).toContain('X-API-Key');
    },
  );

  it.each(['wrong', 'owner ', 'o'.repeat(5000), 'käy'])(
    'gets the same answer for every invalid value (%s)',
    async (key) => {
      const answer = await send({ headers: { 'x-api-key': key }, payload: broken });
      expect(answer.status).toBe(401);
      expect(answer.body.message).toBe('The API key is not valid');
    },
  );
});

describe('a key as Authorization: Bearer', () => {
  const asBearer = (authorization: string, key: string | null = null) =>
    send({ headers: { 'x-api-key': key, authorization }, payload: '{not json' });

  it.each(['Bearer reader', 'bearer  reader '])('counts as in X-API-Key (%j)', async (header) => {
    const answer = await asBearer(header);
    expect(answer.body).toEqual({
      _tag: 'ForbiddenError',
      message: 'This key lacks the permission messages:send',
    });
  });

  it('yields to X-API-Key', async () => {
    expect((await asBearer('Bearer reader', 'wrong')).status).toBe(401);
    expect((await asBearer('Bearer wrong', 'reader')).status).toBe(403);
  });

  it('counts beside an empty X-API-Key', async () => {
    expect((await asBearer('Bearer reader', '')).status).toBe(403);
  });

  it.each(['Basic cmVhZGVyOg==', 'Bearer', 'Bearer a b', 'reader'])(
    'is missing in any other form (%j), and the answer names both ways',
    async (header) => {
      const answer = await asBearer(header);
      expect(answer.status).toBe(401);
      expect(answer.body.message).toBe('An API key is missing: send it in the X-API-Key header');
      expect(answer.headers['www-authenticate']).toBe('ApiKey header="X-API-Key", Bearer');
    },
  );
});

describe('the permission, checked third', () => {
  it('is named in a 403, before the rate limit is drawn on', async () => {
    const answer = await send({ headers: { 'x-api-key': 'reader' }, payload: '{not json' });
    expect(answer.status).toBe(403);
    expect(answer.body).toEqual({
      _tag: 'ForbiddenError',
      message: 'This key lacks the permission messages:send',
    });
    expect(admitted).toEqual([]);
  });
});

describe('the rate limit, checked fourth', () => {
  it('refuses before the body is read', async () => {
    refuseAdmission = true;
    const answer = await send({ payload: '{not json' });
    expect(answer.status).toBe(429);
    expect(answer.body).toEqual({
      _tag: 'RateLimitedError',
      retryAfterSeconds: 3,
      operation: 'send',
    });
    expect(answer.headers['retry-after']).toBe('3');
    expect(answer.headers['x-service-throttle-source']).toBe('service_admission');
  });

  it('is drawn on once by an accepted request', async () => {
    expect((await send({})).status).toBe(201);
    expect(admitted).toEqual(['custom echoThing']);
  });
});

describe('the form of the body, checked fifth', () => {
  it.each([
    ['broken JSON', '{"text":"a"', {}, 400, 'not valid JSON'],
    ['an empty body', '', {}, 400, 'The body is missing'],
    ['bytes that are not UTF-8', Buffer.from('{"text":"\xff"}', 'latin1'), {}, 400, 'UTF-8'],
    ['a form', 'text=a', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'json'],
    ['no content type', '{}', { 'content-type': null }, 415, 'json'],
    ['a malformed content type', '{}', { 'content-type': 'nonsense' }, 415, 'json'],
    ['another charset', '{}', { 'content-type': 'application/json; charset=latin1' }, 415, 'UTF-8'],
    ['a compressed body', '{}', { 'content-encoding': 'gzip' }, 415, 'compressed'],
  ] as const)('rejects %s before any field', async (_case, payload, headers, status, text) => {
    const answer = await send({ url: '/v1/things/bad/echo?nope=1', payload, headers });
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      _tag: 'MalformedRequestError',
      message: expect.stringContaining(text),
    });
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
  ])('accepts %s', async (type) => {
    expect((await send({ headers: { 'content-type': type } })).status).toBe(201);
  });

  it('allows an optional body to be missing or empty', async () => {
    for (const payload of ['', '{}']) {
      const answer = await send({ method: 'PATCH', url: '/v1/tune', payload });
      expect([answer.status, answer.body]).toEqual([200, { pitch: null }]);
    }
    const answer = await send({ method: 'PATCH', url: '/v1/tune', payload: '{"pitch":440}' });
    expect(answer.body).toEqual({ pitch: 440 });
  });

  it('allows no body or an empty object for a route without a body', async () => {
    expect((await send({ url: '/v1/touch', payload: '' })).status).toBe(200);
    expect((await send({ url: '/v1/touch', payload: '{}' })).status).toBe(200);
    const answer = await send({ url: '/v1/touch', payload: '{"force":true}' });
    expect([answer.status, answer.body.fields]).toEqual([422, { force: ['unknown field'] }]);
  });
});

describe('the fields, checked sixth', () => {
  it('are all named in one 422 for path, query, headers and body', async () => {
    const answer = await send({
      url: '/v1/things/thing_1/echo?loud=perhaps&volume=11',
      headers: { 'idempotency-key': 'far-too-long' },
      payload: '{"text":1,"to":[{"email":"a@b.example","nmae":"A"},{"email":"nobody"}],"x":{}}',
    });
    expect(answer.status).toBe(422);
    expect(answer.body._tag).toBe('ValidationError');
    expect(Object.keys(answer.body.fields).toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
      'id',
      'idempotency-key',
      'loud',
      'text',
      'to.0.nmae',
      'to.1.email',
      'volume',
      'x',
    ]);
    expect(answer.body.fields.x).toEqual(['unknown field']);
    expect(answer.body.fields.volume).toEqual(['unknown field']);
  });

  it('are rejected when a query parameter is given twice', async () => {
    const answer = await send({ url: `${goodEcho.url}?loud=true&loud=false` });
    expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, ['loud']]);
  });

  it.each(['__proto__', 'constructor', 'toString'])(
    'are named when unknown and called %s',
    async (name) => {
      const inQuery = await send({ url: `${goodEcho.url}?${name}=1` });
      expect([inQuery.status, Object.keys(inQuery.body.fields)]).toEqual([422, [name]]);
    },
  );

  it('are rejected in the query of a route without one', async () => {
    const answer = await send({ url: '/v1/touch?force=1', payload: '' });
    expect([answer.status, answer.body.fields]).toEqual([422, { force: ['unknown field'] }]);
  });

  it('are bounded in the answer to thousands of unknown ones', async () => {
    const fields = Array.from({ length: 20_000 }, (_, index) => `"f${index}":1`);
    const answer = await send({ payload: `{${fields.join()}}` });
    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.fields).length).toBeLessThanOrEqual(100);
  });
});

describe('the route, run last', () => {
  it.each([
    ['/v1/missing', 404],
    ['/v1/conflict', 409],
    ['/v1/unpaid', 402],
  ])('answers %s with %i', async (url, status) => {
    const response = await service.http.inject({ url, headers: { 'x-api-key': ownerKey } });
    expect(response.statusCode).toBe(status);
  });

  it('gets the parsed request', async () => {
    const answer = await send({ headers: { 'idempotency-key': 'k1' } });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ id: 'thing_0001', text: 'hello', key: 'k1' });
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('serves HEAD for a GET', async () => {
    const response = await service.http.inject({
      method: 'HEAD',
      url: '/v1/missing',
      headers: { 'x-api-key': ownerKey },
    });
    expect([response.statusCode, response.body]).toEqual([404, '']);
  });
});

describe('a route that cannot be served safely', () => {
  it('is not mounted without a known permission', async () => {
    const open = { ...touch, permission: undefined } as unknown as Route;
    await expect(httpService({ routes: [open] })).rejects.toThrow(
      'POST /v1/touch: unknown permission',
    );
  });

  it('is not mounted when its path and its schema differ', async () => {
    const loose: Route = { ...touch, path: '/v1/touch/{id}' };
    await expect(httpService({ routes: [loose] })).rejects.toThrow('different parameters');
  });
});

describe('the checks of a send, one after another', () => {
  let world: CheckedWorld;
  beforeEach(async () => {
    world = await checkedWorld('sqlite');
  });
  afterEach(() => world.close());

  const setActive = (isActive: boolean) =>
    updateSender(world.test.app, world.test.operator, world.senderId, { isActive });
  const setConstraints = (keyId: string, constraints: typeof narrow | null) =>
    updateKey(world.test.app, world.test.operator, keyId, { constraints });
  const review = (verdict: 'approved' | 'rejected') =>
    reviewOnboarding(world.test.app, 'default', { verdict });

  it('answer at acceptance with the first refusal, and without it with the next', async () => {
    const api = httpApi(world.test);
    const { request, steps } = await refusalLadder(world);
    async function answer(): Promise<[number, string]> {
      const { apiKey, path, top } = request;
      const { status, body } = await api
        .as(apiKey)
        .post(path, payload({}, { from: { email: from }, ...top }));
      return [status, JSON.stringify(body)];
    }
    for (const { status, words, lift } of steps) {
      expect(await answer()).toEqual([status, expect.stringMatching(words)]);
      await lift();
    }
    expect((await answer())[0]).toBe(201);
    await api.close();
  });

  /**
   * Outcomes at the due time in the order of the checks, each with a change made after the
   * acceptance.
   */
  const changes: [outcome: string, change: (keyId: string) => Promise<unknown>][] = [
    ['waits tenant-health', () => pauseOrganization(world.test.app, 'default', {})],
    [
      'waits rate',
      async () => {
        const { organizationId } = world.test.caller;
        const drawn = await admissionOf(world.test.app).tryDraw(
          { organizationId, keyId: null },
          10,
        );
        expect(drawn).toBe(0);
      },
    ],
    ['cancelled by key', (keyId) => revokeKey(world.test.app, world.test.operator, keyId)],
    ['cancelled by sender', () => setActive(false)],
    ['cancelled by key-constraints', (keyId) => setConstraints(keyId, narrow)],
    ['cancelled by test-key', () => closeMailbox(world.test.app, foreignMailboxes[1])],
    ['cancelled by onboarding', () => review('rejected')],
    // The quota has room for one of its two recipients: the queue cannot see earlier that it must
    // wait.
    ['waits daily-quota', () => useToday(world.test, 999)],
  ];

  it.each([...changes.map(([outcome], index) => [index, outcome] as const), [8, 'goes'] as const])(
    'decide on scheduled mail that comes due, from change %i on: %s',
    async (index, outcome) => {
      const { test } = world;
      await onPlan(test, 'free');
      const { id: keyId, caller } = await world.key({ role: 'sender', mode: 'test' });
      const id = await world.schedule(caller, foreignMailboxes);
      await world.pass(hourMs - 1);
      for (const [, change] of changes.slice(index).reverse()) await change(keyId);
      await world.pass(1);
      expect(await world.outcomeOf(id)).toBe(outcome);
    },
  );
});
