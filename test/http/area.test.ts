// Defaults of the routes of an area, and the headers of a deprecated one.
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from '../../daemon/http/openapi/openapi.ts';
import { area } from '../../src/core/api/area.ts';
import { ConflictError, PaymentRequiredError } from '../../src/platform/errors.ts';
import { type HttpService, httpService, ownerKey } from './http-service.ts';

const output = z.object({ ok: z.boolean() });
const run = async () => ({ ok: true });
const at = area('senders', { about: 'Who sends' });
const definition = { name: 'doIt', summary: 'Do it', output, run };
const ofOne = { ...definition, params: z.strictObject({ id: z.string() }) };

describe('a route of an area', () => {
  it.each([
    ['GET', at.get('/v1/things', definition), 'senders:read', 200],
    ['POST', at.post('/v1/things', definition), 'senders:write', 201],
    ['POST', at.post('/v1/things/{id}/turn', ofOne), 'senders:write', 200],
    ['PUT', at.put('/v1/things/{id}', ofOne), 'senders:write', 200],
    ['PATCH', at.patch('/v1/things/{id}', ofOne), 'senders:write', 200],
    ['DELETE', at.delete('/v1/things/{id}', ofOne), 'senders:delete', 200],
    [
      'POST',
      at.post('/v1/things', { ...definition, status: 200, permission: 'messages:send' }),
      'messages:send',
      200,
    ],
    [
      'GET',
      area('Things', { resource: 'blocks' }).get('/v1/things', definition),
      'blocks:read',
      200,
    ],
  ] as const)('%s has its permission and status', (method, made, permission, status) => {
    expect(made).toMatchObject({ method, permission, status });
  });

  it('has the statuses of the errors that it throws', () => {
    const throws = [PaymentRequiredError, ConflictError];
    expect(at.post('/v1/things', { ...definition, throws }).errors).toEqual([402, 409]);
  });

  it('is rejected when its area is not a resource and names none', async () => {
    // @ts-expect-error: the compiler refuses it first
    const route = area('Things').get('/v1/things', definition);
    await expect(httpService({ routes: [route] })).rejects.toThrow('permission Things:read');
  });
});

describe('a deprecated route (specification 9.3)', () => {
  let service: HttpService | undefined;
  afterEach(() => service?.close());

  const since = '2026-01-01T00:00:00Z';
  const replacement = 'use `POST /v1/others`';
  const body = z.strictObject({ wanted: z.boolean() });

  async function answersOf(sunset?: string) {
    const deprecated = { replacement, since, ...(sunset && { sunset }) };
    const old = at.post('/v1/things', {
      ...definition,
      body,
      description: 'Long ago.',
      deprecated,
    });
    const young = at.get('/v1/others', { ...definition, name: 'doOther' });
    const routes = [old, young];
    service = await httpService({ routes });
    const headers = { 'x-api-key': ownerKey, 'content-type': 'application/json' };
    const ask = async (payload: string, key = ownerKey) =>
      service?.http.inject({
        method: 'POST',
        url: '/v1/things',
        headers: { ...headers, 'x-api-key': key },
        payload,
      });
    const answers = [await ask('{"wanted":true}'), await ask('{}'), await ask('{}', 'nobody')];
    const other = await service.http.inject({ url: '/v1/others', headers });
    expect(answers.map((answer) => answer?.statusCode)).toEqual([201, 422, 401]);
    expect(other.headers).not.toHaveProperty('deprecation');
    expect(service.check.faults).toEqual([]);
    const { paths, components } = openApiDocument(routes, '/');
    const document = { old: paths['/v1/things']?.post, young: paths['/v1/others']?.get };
    return { answers, headers: Object.keys(components.headers), ...document };
  }

  it('names its date in every response, also errors, and its replacement in the document', async () => {
    const { answers, headers, old, young } = await answersOf();
    for (const answer of answers) {
      expect(answer?.headers).toMatchObject({ deprecation: '@1767225600' });
      expect(answer?.headers).not.toHaveProperty('sunset');
    }
    expect(old).toMatchObject({
      deprecated: true,
      description:
        '**Deprecated**: use `POST /v1/others`\n\nLong ago.\n\nPermission: `senders:write`.',
      responses: { 201: { headers: { Deprecation: expect.anything() } } },
    });
    expect(young).not.toHaveProperty('deprecated');
    expect(headers).toContain('Deprecation');
  });

  it('names its sunset once that is scheduled', async () => {
    const { answers, old } = await answersOf('2026-12-31T23:00:00Z');
    for (const answer of answers) {
      expect(answer?.headers.sunset).toBe('Thu, 31 Dec 2026 23:00:00 GMT');
    }
    const declared = old?.responses[201]?.headers ?? {};
    expect(Object.keys(declared)).toEqual([
      'X-Request-Id',
      'Idempotency-Replayed',
      'Deprecation',
      'Sunset',
    ]);
  });
});
