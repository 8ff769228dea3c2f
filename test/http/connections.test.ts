// Slow, idle and surplus connections, over real sockets: each is cut by its own bound.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { getRoute, goodEcho, type HttpService, httpService } from './http-service.ts';
import { parseAnswer, type RawConnection, rawConnection } from './raw-socket.ts';

const health = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const ok = '{"status":"ok"}';
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: owner\r\n\r\n`;
const postHead = (length: number) =>
  `POST ${goodEcho.url} HTTP/1.1\r\nHost: x\r\nX-API-Key: owner\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`;

let service: HttpService;

afterEach(() => service.close());

/** Waits for this number of open connections: the service notices an end later than the client. */
async function untilOpen(count: number): Promise<void> {
  while ((await metric('svc_http_connections')) !== count) await nextTurn();
}

async function metric(name: string): Promise<number> {
  const { body } = await service.http.inject('/metrics');
  const line = body.split('\n').find((text) => text.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}
const refused = (reason: string) => metric(`svc_requests_refused_total{reason="${reason}"}`);

/** Opens a connection that has had one answer, and is kept alive. */
async function idleConnection(url: string): Promise<RawConnection> {
  const connection = rawConnection(url, health);
  await connection.untilReceived(ok);
  return connection;
}

describe('surplus connections', () => {
  const waiting: ((value: null) => void)[] = [];
  const wait = getRoute('/v1/wait', () => new Promise((resolve) => waiting.push(resolve)));

  async function workingConnection(url: string): Promise<RawConnection> {
    const before = waiting.length;
    const connection = rawConnection(url, get('/v1/wait'));
    while (waiting.length === before) await nextTurn();
    return connection;
  }

  it('close the longest idle one, never one in work', async () => {
    service = await httpService({ routes: [wait], socketLimits: { mostConnections: 4 } });
    const { url } = await service.http.listen();
    const working = await workingConnection(url);
    const [first, second, third] = [
      await idleConnection(url),
      await idleConnection(url),
      await idleConnection(url),
    ];
    first.socket.write(health);
    await first.untilReceived(`${ok}HTTP`);
    expect(await metric('svc_http_connections')).toBe(4);

    const newcomer = await idleConnection(url);
    await second.untilClosed();
    expect(await metric('svc_http_connections')).toBe(4);
    expect(await refused('capacity-connections')).toBe(1);
    for (const connection of [third, first, newcomer]) expect(connection.socket.closed).toBe(false);
    waiting.splice(0).forEach((resolve) => {
      resolve(null);
    });
    expect(parseAnswer(await working.untilReceived('null')).status).toBe(200);
  });

  it('count as in work until the last request is answered', async () => {
    service = await httpService({ routes: [wait], socketLimits: { mostConnections: 1 } });
    const { url } = await service.http.listen();
    const before = waiting.length;
    const working = rawConnection(url, get('/v1/wait') + get('/v1/wait'));
    while (waiting.length < before + 2) await nextTurn();
    waiting[before]?.(null);
    await working.untilReceived('null');
    expect(await rawConnection(url, health).untilClosed()).toBe('');
    waiting.splice(0).forEach((resolve) => {
      resolve(null);
    });
    await working.untilReceived('nullHTTP');
  });

  it('count as idle while their headers trickle in', async () => {
    service = await httpService({ routes: [wait], socketLimits: { mostConnections: 2 } });
    const { url } = await service.http.listen();
    const dribbling = rawConnection(url, 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    const idle = await idleConnection(url);
    dribbling.socket.write('a');
    await idleConnection(url);
    await dribbling.untilClosed();
    expect(idle.socket.closed).toBe(false);
  });

  it('close the new one when all others are in work', async () => {
    service = await httpService({ routes: [wait], socketLimits: { mostConnections: 2 } });
    const { url } = await service.http.listen();
    const working = [await workingConnection(url), await workingConnection(url)];
    expect(await rawConnection(url, health).untilClosed()).toBe('');
    waiting.splice(0).forEach((resolve) => {
      resolve(null);
    });
    for (const connection of working) await connection.untilReceived('null');
    await idleConnection(url);
  });
});

describe('an idle connection', () => {
  it('is closed after its time, and not counted as refused', async () => {
    service = await httpService({ socketLimits: { keepAliveTimeoutMs: 50, checkEveryMs: 20 } });
    const { url } = await service.http.listen();
    const connection = await idleConnection(url);
    const answer = await connection.untilClosed();
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    await untilOpen(0);
    expect(await refused('slow')).toBe(0);
  });

  it('is closed also without a first request', async () => {
    service = await httpService({ socketLimits: { headersTimeoutMs: 50, checkEveryMs: 20 } });
    const { url } = await service.http.listen();
    await rawConnection(url).untilClosed();
    expect(await refused('slow')).toBe(0);
  });
});

describe('a slow client', () => {
  async function uploading(length: number) {
    service = await httpService();
    const { url } = await service.http.listen();
    const connection = rawConnection(url, postHead(length));
    await connection.untilReceived('100 Continue');
    return connection;
  }
  const tooSlow = 'The body arrives too slowly';

  it('is refused with 400 after 10 s with only single bytes', async () => {
    const connection = await uploading(1_000);
    for (let second = 0; second < 9; second++) {
      connection.socket.write(' ');
      await service.clock.advance(1_000);
    }
    expect(connection.socket.closed).toBe(false);
    await service.clock.advance(1_100);
    const text = await connection.untilClosed();
    expect(text).toContain('HTTP/1.1 400');
    expect(text).toContain(tooSlow);
    expect(await refused('slow')).toBe(1);
    expect(service.clock.nextTimerAt()).toBeUndefined();
  });

  it('is served at 1 KB for each second of 10', async () => {
    const padding = 40_000;
    const served: Socket[] = [];
    const seen = (message: unknown) => served.push((message as { socket: Socket }).socket);
    subscribe('http.server.request.start', seen);
    const connection = await uploading(padding + goodEcho.payload.length);
    unsubscribe('http.server.request.start', seen);
    const [socket] = served;
    const before = socket?.bytesRead ?? 0;
    for (let window = 1; window <= 4; window++) {
      connection.socket.write(' '.repeat(padding / 4));
      await expect.poll(() => socket?.bytesRead).toBe(before + (window * padding) / 4);
      await service.clock.advance(10_000);
    }
    connection.socket.write(goodEcho.payload);
    await connection.untilReceived('HTTP/1.1 201');
    expect(service.clock.nextTimerAt()).toBeUndefined();
  });

  it('that does not read its response is cut', async () => {
    const large = getRoute('/v1/large', async () => 'x'.repeat(20_000_000));
    service = await httpService({ routes: [large], socketLimits: { answerTimeoutMs: 300_000 } });
    const { url } = await service.http.listen();
    const connection = rawConnection(url, get('/v1/large'));
    connection.socket.pause();
    while (service.clock.nextTimerAt() !== service.clock.now() + 300_000) {
      await nextTurn();
    }
    expect(await metric('svc_http_connections')).toBe(1);
    await service.clock.advance(300_000);
    await untilOpen(0);
    connection.socket.resume();
    const text = await connection.untilClosed();
    expect(text.length).toBeLessThan(20_000_000);
  });
});
