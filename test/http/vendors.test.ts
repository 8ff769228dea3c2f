// Paths of other mail services: a 404 that names our operation.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { vendorPaths } from '../../daemon/http/paths/vendors.ts';
import { routes } from '../../daemon/http/routes.ts';
import type { Method } from '../../src/core/api/route.ts';
import { type HttpApi, httpApi } from '../support/http-client.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

describe('a path of another mail service', () => {
  let test: TestApp;
  let api: HttpApi;
  beforeAll(async () => {
    test = await testApp();
    api = httpApi(test);
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  it.each(vendorPaths)('$vendor $method $path answers 404 with our operation', async (row) => {
    const { vendor, method, ours } = row;
    expect(routes.map((route) => `${route.method} ${route.path}`)).toContain(ours);
    const path = row.path.replaceAll('*', 'acme.example');
    const answer = await api.request(method as Method, path, { body: {}, apiKey: null });
    expect([answer.status, answer.body]).toEqual([
      404,
      {
        _tag: 'ResourceNotFoundError',
        resource: 'route',
        id: `${method} ${path}`,
        hint: `This is a path of ${vendor}; here it is ${ours}`,
      },
    ]);
  });

  it('has a row for each of the seven services', () => {
    const services = new Set(vendorPaths.map(({ vendor }) => vendor));
    expect(services.size).toBe(7);
  });

  it('is known with .json and a slash at the end', async () => {
    const json = await api.request<{ hint: string }>('POST', '/api/1.0/messages/send.json', {
      body: {},
    });
    expect(json.body.hint).toContain('POST /v1/messages');
    const slash = await api.request<{ hint: string }>('POST', '/emails/', { body: {} });
    expect(slash.body.hint).toContain('POST /v1/messages');
  });

  it('is not guessed from an unknown path of ours', async () => {
    const { status, body } = await api.request('GET', '/v1/nope');
    expect([status, body]).toEqual([
      404,
      { _tag: 'ResourceNotFoundError', resource: 'route', id: 'GET /v1/nope' },
    ]);
  });
});
