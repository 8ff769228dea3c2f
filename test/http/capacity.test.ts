// The server under load and with hanging work: 503 before any code of a route, 504 by the clock,
// and health checks that still answer; and its closing.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Route } from '../../src/core/api/route.ts';
import {
  authenticateWord,
  echo,
  getRoute,
  goodEcho,
  type HttpService,
  httpService,
  ownerKey,
} from './http-service.ts';
import { rawConnection } from './raw-socket.ts';

let service: HttpService | undefined;

afterEach(async () => {
  await service?.close();
  service = undefined;
});

/** Creates a route whose runs wait until the test ends them. */
function waitingRoute() {
  const runs: {
    resolve: (value: unknown) => void;
    reject: (error: unknown) => void;
  }[] = [];
  const run: Route['run'] = () => new Promise((resolve, reject) => runs.push({ resolve, reject }));
  return { route: getRoute('/v1/wait', run), runs };
}

const wait = { url: '/v1/wait', headers: { 'x-api-key': ownerKey } };

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await nextTurn();
}

describe('load shedding', () => {
  it('answers 503 beyond http.maxInFlight before any code runs, and recovers', async () => {
    const { route, runs } = waitingRoute();
    const lookedUp: string[] = [];
    service = await httpService({
      routes: [route, echo],
      config: { maxInFlight: 3 },
      authenticate: async (key) => {
        lookedUp.push(key);
        return authenticateWord(key);
      },
    });
    const { http } = service;
    const waiting = [1, 2, 3].map(() => http.inject(wait));
    await until(() => runs.length === 3);
    lookedUp.length = 0;

    const shed = await http.inject(goodEcho);
    expect(shed.statusCode).toBe(503);
    expect(shed.json()).toEqual({
      _tag: 'CapacityError',
      message: 'More than 3 requests are in progress',
      retryAfterSeconds: 1,
    });
    expect(shed.headers['retry-after']).toBe('1');
    expect(lookedUp).toEqual([]);

    for (const url of ['/healthz', '/readyz', '/metrics']) {
      expect((await http.inject({ url })).statusCode).toBe(200);
    }

    for (const { resolve } of runs) resolve('done');
    for (const response of await Promise.all(waiting)) expect(response.statusCode).toBe(200);
    expect((await http.inject(goodEcho)).statusCode).toBe(201);
  });

  it('frees the place of a route that fails', async () => {
    const fail = getRoute('/v1/fail', () => Promise.reject(new Error('no')));
    service = await httpService({ routes: [fail], config: { maxInFlight: 1 } });
    for (let i = 0; i < 3; i++) {
      const response = await service.http.inject({ ...wait, url: '/v1/fail' });
      expect(response.statusCode).toBe(500);
    }
  });
});

describe('the time limit', () => {
  it('answers 504 by the clock, and keeps the place until the work ends', async () => {
    const { route, runs } = waitingRoute();
    service = await httpService({
      routes: [route],
      config: { requestTimeoutSeconds: 5, maxInFlight: 1 },
    });
    let isAnswered = false;
    const answer = service.http.inject(wait).then((response) => {
      isAnswered = true;
      return response;
    });
    await until(() => runs.length === 1);
    await service.clock.advance(4_999);
    await nextTurn();
    expect(isAnswered).toBe(false);
    await service.clock.advance(1);
    const response = await answer;
    expect(response.statusCode).toBe(504);
    expect(response.json()).toEqual({
      _tag: 'TimeoutError',
      message: 'The request took longer than 5 s',
      retryAfterSeconds: 1,
    });
    expect(response.headers['retry-after']).toBe('1');
    expect(response.headers['x-service-error-layer']).toBe('timeout');

    expect((await service.http.inject(wait)).statusCode).toBe(503);
    runs[0]?.resolve(null);
    await nextTurn();
    const next = service.http.inject(wait);
    await until(() => runs.length === 2);
    runs[1]?.resolve('on time');
    expect((await next).json()).toBe('on time');
  });

  it('covers the look-up of the key', async () => {
    service = await httpService({ authenticate: () => new Promise(() => {}) });
    const answer = service.http.inject(goodEcho);
    await nextTurn();
    await service.clock.advance(30_000);
    expect((await answer).statusCode).toBe(504);
  });

  it('logs a failure after the answer once', async () => {
    const { route, runs } = waitingRoute();
    service = await httpService({ routes: [route] });
    const answer = service.http.inject(wait);
    await until(() => runs.length === 1);
    await service.clock.advance(30_000);
    await answer;
    service.logged();
    runs[0]?.reject(new Error('the disk came off'));
    await nextTurn();
    expect(service.logged()).toMatchObject([
      { msg: 'A timed-out request failed later', err: { message: 'the disk came off' } },
    ]);
  });

  it('leaves no timer after a request', async () => {
    service = await httpService();
    await service.http.inject(goodEcho);
    expect(service.clock.nextTimerAt()).toBeUndefined();
  });
});

describe('closing', () => {
  it('lets a request in work end first', async () => {
    const { route, runs } = waitingRoute();
    service = await httpService({ routes: [route] });
    const { url } = await service.http.listen();
    const answer = fetch(`${url}/v1/wait`, { headers: wait.headers });
    await until(() => runs.length === 1);
    const closed = service.http.close();
    runs[0]?.resolve('in time');
    expect(await (await answer).json()).toBe('in time');
    await closed;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it('does not wait for silent connections and half requests', async () => {
    service = await httpService();
    const { url } = await service.http.listen();
    const silent = rawConnection(url);
    const dribbling = rawConnection(url, 'GET /healthz HTTP/1.1\r\nX-Slow: ');
    const idle = rawConnection(url, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await idle.untilReceived('{"status":"ok"}');
    await service.http.close();
    expect(await silent.untilClosed()).toBe('');
    expect(await dribbling.untilClosed()).toBe('');
    await idle.untilClosed();
  });

  it('cuts the rest off at the end of the grace', async () => {
    const { route, runs } = waitingRoute();
    service = await httpService({ routes: [route], shutdownGraceSeconds: 10 });
    const { url } = await service.http.listen();
    const answer = fetch(`${url}/v1/wait`, { headers: wait.headers }).catch(() => 'cut off');
    await until(() => runs.length === 1);
    const closed = service.http.close();
    await nextTurn();
    await service.clock.advance(10_000);
    await closed;
    expect(await answer).toBe('cut off');
  });
});

describe('listening', () => {
  it('reports a port in use in plain words', async () => {
    service = await httpService();
    const { url } = await service.http.listen();
    const second = await httpService({ config: { port: Number(new URL(url).port) } });
    await expect(second.http.listen()).rejects.toThrow(
      /Cannot listen for HTTP on 127.0.0.1:\d+: another/,
    );
    await second.close();
  });
});
