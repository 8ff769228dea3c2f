// The log line of a 401: the origin, and the part of the key that may be shown; bounded per second.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { goodEcho, type HttpService, httpService } from './http-service.ts';

let service: HttpService;
beforeEach(async () => {
  service = await httpService();
});
afterEach(() => service.close());

function ask(key: string | null) {
  const { 'x-api-key': _, ...headers } = goodEcho.headers;
  return service.http.inject({
    ...goodEcho,
    headers: key === null ? headers : { ...headers, 'x-api-key': key },
  });
}

it('the line shows the origin, and the start of a key in our format', async () => {
  await ask(`svc_live_${'a1B2'.repeat(9)}zz`);
  await ask('hunter2-is-my-password');
  await ask(null);
  const line = {
    level: 'info',
    time: expect.any(String),
    msg: 'unauthorized',
    requestId: expect.any(String),
    remoteAddress: '127.0.0.1',
    method: 'POST',
    route: '/v1/things/:id/echo',
  };
  expect(service.logged()).toEqual([
    { ...line, keyStart: 'svc_live_a1B2a', reason: 'The API key is not valid' },
    { ...line, keyStart: null, reason: 'The API key is not valid' },
    {
      ...line,
      keyStart: null,
      reason: 'An API key is missing: send it in the X-API-Key header',
    },
  ]);
});

it('the line is written at most ten times a second; the next one counts the omitted', async () => {
  for (let guess = 0; guess < 25; guess++) await ask(`guess-${guess}`);
  expect(service.logged()).toHaveLength(10);
  await service.clock.advance(1_000);
  await ask('one-more');
  expect(service.logged()).toMatchObject([{ msg: 'unauthorized', leftOut: 15 }]);
});
