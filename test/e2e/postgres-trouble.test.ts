// PostgreSQL that cannot be reached for a while, under a running service: every request gets a 503,
// none reports an internal error, and the service recovers.
import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { addDomain } from '../../src/identity/domains/domains.ts';
import { payload } from '../outbound/messages/fixtures.ts';
import { type HttpApi, httpApi } from '../support/http-client.ts';
import { type PostgresSchema, postgresDatabase } from '../support/postgres.ts';
import { type TcpProxy, tcpProxy, throughProxy } from '../support/tcp-proxy.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let database: PostgresSchema;
let proxy: TcpProxy;
let service: TestApp;
let api: HttpApi;

beforeEach(async () => {
  database = await postgresDatabase(inject('postgresUrl'));
  proxy = await tcpProxy(Number(new URL(database.url).port));
  service = await testApp({ store: 'postgres', postgresUrl: throughProxy(database.url, proxy) });
  api = httpApi(service);
});
afterEach(async () => {
  await api.close();
  await service.close();
  await proxy.close();
  await database.drop();
});

it('requests without the server are answered with 503 and Retry-After, and recover', async () => {
  const { body: sent } = await api.post<{ id: string }>('/v1/messages', payload());
  const requests = [
    () => api.get('/v1/messages'),
    () => api.get(`/v1/messages/${sent.id}`),
    () => api.get('/v1/email/domains'),
    () => api.get('/v1/email/blocks?address=a@example.com'),
    () => api.post('/v1/messages', payload()),
    () => api.delete(`/v1/messages/${sent.id}`),
  ];
  proxy.cut();
  for (const request of requests) {
    expect(await request()).toMatchObject({
      status: 503,
      headers: { 'retry-after': expect.any(String) },
      body: { _tag: 'CapacityError', message: expect.stringMatching(/^The store cannot be used/) },
    });
  }
  proxy.mend();
  const after = [];
  for (const request of requests) after.push((await request()).status);
  expect(after).toEqual([200, 200, 200, 200, 201, 200]);
});

it('a refusal that contains words of a connection error stays a 409', async () => {
  const input = { domain: 'connection-terminated.closed.example', dkim: 'ed25519' } as const;
  await addDomain(service.app, service.caller, input);
  expect(await api.post('/v1/email/domains', input)).toMatchObject({
    status: 409,
    body: { _tag: 'ConflictError', resource: 'domain' },
  });
});
