// Texts that the stores would keep differently: NUL, and half of a surrogate pair. Rejected on both
// stores, with the field that holds them, anywhere in a request.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BatchResult } from '../../src/outbound/messages/schema.ts';
import { payload } from '../outbound/messages/fixtures.ts';
import { bothStores } from '../support/command.ts';
import { type HttpApi, httpApi } from '../support/http-client.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const nul = 'must not contain NUL characters';
const half = 'must not contain half of a surrogate pair';

type Case = [where: string, send: (api: HttpApi) => Promise<unknown>, fields: object];

const post = (url: string, body: unknown) => (api: HttpApi) => api.post(url, body);
const get = (url: string) => (api: HttpApi) => api.get(url);
const odd = '\ud83d';

const cases: Case[] = [
  [
    'the description of a key',
    post('/v1/api-keys', { role: 'admin', description: 'a\0b' }),
    { description: [nul] },
  ],
  ['a text of a message', post('/v1/messages', payload({ text: 'a\0b' })), { 'email.text': [nul] }],
  [
    'metadata',
    post('/v1/messages', payload({}, { metadata: { a: 'x\0' } })),
    { 'metadata.a': [nul] },
  ],
  [
    'a key of metadata',
    post('/v1/messages', payload({}, { metadata: { 'a\0': 1 } })),
    { 'metadata.a\ufffd': [nul] },
  ],
  ['a tag', post('/v1/messages', payload({}, { tags: ['a', 'b\0'] })), { 'tags.1': [nul] }],
  ['half of a pair', post('/v1/messages', payload({ subject: odd })), { 'email.subject': [half] }],
  [
    'half of a pair in a key of idempotency',
    post('/v1/messages/scheduled', {
      ...payload(),
      scheduledFor: '2026-01-06T12:00:00.000Z',
      idempotencyKey: odd,
    }),
    { idempotencyKey: [half] },
  ],
  ['a query', get('/v1/audit?cursor=a%00b'), { cursor: [nul] }],
];

describe.each(bothStores)('a text that cannot be stored, on %s', (store) => {
  let service: TestApp;
  let api: HttpApi;
  beforeEach(async () => {
    service = await testApp({ store });
    api = httpApi(service);
  });
  afterEach(async () => {
    await api.close();
    await service.close();
  });

  it.each(cases)('is rejected in %s with 422 that names it', async (_case, send, fields) => {
    expect(await send(api)).toMatchObject({
      status: 422,
      body: { _tag: 'ValidationError', fields },
    });
  });

  it('is rejected in a path with 422', async () => {
    expect(await api.get('/v1/messages/msg_%00')).toMatchObject({
      status: 422,
      body: { _tag: 'ValidationError', fields: { id: [expect.any(String)] } },
    });
  });

  it('fails only its entry of a batch', async () => {
    const entries = [payload(), payload({}, { metadata: { k: '\0' } }), payload({ subject: odd })];
    const { status, body } = await api.post<BatchResult[]>('/v1/messages/batch', entries);
    expect(status).toBe(200);
    expect(body).toMatchObject([
      { message: { status: 'pending' } },
      { error: { _tag: 'ValidationError', fields: { 'metadata.k': [nul] } } },
      { error: { _tag: 'ValidationError', fields: { 'email.subject': [half] } } },
    ]);
  });

  it('is accepted when only escaped: pairs and backslashes', async () => {
    const body = JSON.stringify(payload({ text: 'PAIR' })).replace(
      'PAIR',
      '\\ud83d\\ude00 \\\\u0000',
    );
    const { status } = await api.post('/v1/messages', body);
    expect(status).toBe(201);
  });
});
