// One POST against hostile or broken receivers: each is a failed attempt of bounded time and memory
// (src/webhooks/posting/post.ts).
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPoster, type Poster } from '../../src/webhooks/posting/post.ts';
import { eachApp } from '../support/each-app.ts';
import { testCert, testKey } from '../support/test-cert.ts';
import { loopbackConfig, type Receiver, rawReceiver, receiver, until } from './engine.ts';

const ok = 'HTTP/1.1 200 OK\r\n';

describe('a post', () => {
  const test = eachApp({ config: loopbackConfig });
  let poster: Poster;
  const closes: (() => Promise<void>)[] = [];
  beforeEach(() => {
    poster = createPoster(test.app);
  });
  afterEach(async () => {
    await poster.close();
    for (const close of closes.splice(0)) await close();
  });

  async function raw(take: (socket: Socket) => void) {
    const one = await rawReceiver(take);
    closes.push(one.close);
    return one;
  }

  const post = (url: string, body = '{}') => poster.post({ url, headers: {}, body });

  /** Answers with these bytes once part of the request has arrived. */
  const answering = (answer: string | Buffer) =>
    raw((socket) => socket.once('data', () => socket.write(answer)));

  it('to a hanging receiver ends after the time limit', async () => {
    const { url, sockets } = await raw((socket) => socket.resume());
    const outcome = post(url);
    await until(() => sockets.size === 1);
    await test.clock.advance(15_000);
    expect(await outcome).toMatchObject({
      isSuccess: false,
      errorClass: 'timeout',
      response: 'no complete answer within 15 s',
      durationMs: 15_000,
    });
    await until(() => [...sockets].every((socket) => socket.destroyed));
  });

  it('to a receiver that drips a byte a second ends after the same limit', async () => {
    let drip = () => {};
    const { url } = await raw((socket) => {
      socket.once('data', () => {
        socket.write(`${ok}content-length: 1000\r\n\r\n`);
        drip = () => socket.write('x');
      });
    });
    let ended: unknown;
    const outcome = post(url).then((value) => {
      ended = value;
      return value;
    });
    let seconds = 0;
    while (ended === undefined && seconds < 20) {
      await test.clock.advance(1_000);
      seconds += 1;
      drip();
    }
    expect(await outcome).toMatchObject({ isSuccess: false, errorClass: 'timeout' });
    expect(seconds).toBeLessThanOrEqual(16);
  });

  it('to a receiver that sends a gigabyte reads 64 KB of it', async () => {
    let written = 0;
    const megabyte = Buffer.alloc(1024 * 1024, 'x');
    const { url } = await raw((socket) => {
      const more = () => {
        while (written < 1024 && !socket.destroyed) {
          written += 1;
          if (!socket.write(megabyte)) return socket.once('drain', more);
        }
        return undefined;
      };
      socket.once('data', () => {
        socket.write(`${ok}content-length: ${1024 ** 3}\r\n\r\n`);
        more();
      });
    });
    expect(await post(url)).toMatchObject({
      isSuccess: false,
      errorClass: 'response',
      response: 'the answer has more than 64 KB',
    });
    expect(written).toBeLessThan(50);
  });

  it('to a receiver with a gzip bomb unpacks nothing', async () => {
    const bomb = gzipSync(Buffer.alloc(100 * 1024 * 1024));
    expect(bomb.length).toBeGreaterThan(64 * 1024);
    const head = `${ok}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`;
    const { url } = await answering(Buffer.concat([Buffer.from(head), bomb]));
    expect(await post(url)).toMatchObject({ isSuccess: false, errorClass: 'response' });
  });

  it.each([
    ['10,000 headers', `${ok}${'x-a: 1\r\n'.repeat(10_000)}\r\n`],
    ['an invalid status line', 'HTTP/1.1 banana\r\n\r\n'],
    ['no HTTP at all', '220 mail.example ESMTP\r\n'],
    ['two lengths', `${ok}content-length: 1\r\ncontent-length: 2\r\n\r\nxx`],
    [
      'a length and chunks',
      `${ok}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
  ])('to a receiver that answers with %s fails', async (_name, answer) => {
    const { url } = await answering(answer);
    const outcome = await post(url);
    expect(outcome).toMatchObject({ isSuccess: false, errorClass: 'response' });
    expect(outcome.response).toMatch(/[a-z]/);
  });

  it('to a receiver that resets the connection fails', async () => {
    const { url } = await raw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await post(url)).toMatchObject({ isSuccess: false, errorClass: 'response' });
  });

  it('to a receiver that closes within its answer fails', async () => {
    const { url } = await answeringAndClosing(`${ok}content-length: 10\r\n\r\nabc`);
    expect(await post(url)).toMatchObject({ isSuccess: false, errorClass: 'response' });
  });

  const answeringAndClosing = (answer: string) =>
    raw((socket) => socket.once('data', () => socket.end(answer)));

  it('to a receiver that answers before the request ends within the limit', async () => {
    let connections = 0;
    const { url } = await raw((socket) => {
      connections += 1;
      socket.end(`${ok}content-length: 0\r\n\r\n`);
    });
    const outcome = post(url, 'x'.repeat(256 * 1024));
    let ended = false;
    void outcome.then(() => {
      ended = true;
    });
    for (let i = 0; i < 20 && !ended; i++) await test.clock.advance(1_000);
    expect((await outcome).durationMs).toBeLessThanOrEqual(15_000);
    expect(connections).toBeLessThan(100);
  });

  it.each([204, 500])(
    'to a receiver that answers %i before the body was sent takes that answer',
    async (code) => {
      const { url } = await raw((socket) => {
        socket.once('data', () => {
          // The receiver never reads the rest.
          socket.pause();
          socket.write(`HTTP/1.1 ${code} Early\r\ncontent-length: 0\r\n\r\n`);
        });
      });
      const outcome = await post(url, 'x'.repeat(256 * 1024));
      expect(outcome).toMatchObject({ isSuccess: code === 204, statusCode: code });
      const next = post(url);
      await test.clock.advance(15_000);
      expect((await next).durationMs).toBeLessThanOrEqual(15_000);
    },
  );

  it('to a name without a DNS answer ends after the limit', async () => {
    const silence = new Promise<never>(() => {});
    const dns = { ...test.app.dns, addresses: () => silence };
    const lost = createPoster({ ...test.app, dns });
    let outcome: unknown;
    void lost.post({ url: 'http://hooks.example/', headers: {}, body: '{}' }).then((value) => {
      outcome = value;
    });
    await test.clock.advance(15_000);
    await until(() => outcome !== undefined);
    expect(outcome).toMatchObject({ errorClass: 'timeout', statusCode: null, durationMs: 15_000 });
    await lost.close();
  });

  it('keeps 4 KB of the answer, as text without control characters', async () => {
    const text = `a\u0000\u001b[31mb${'é'.repeat(4000)}`;
    const bytes = Buffer.from(text);
    const head = `HTTP/1.1 500 No\r\ncontent-length: ${bytes.length}\r\n\r\n`;
    const { url } = await answering(Buffer.concat([Buffer.from(head), bytes]));
    const { response } = await post(url);
    expect(response?.startsWith('a [31mbé')).toBe(true);
    expect(response).not.toMatch(/\p{Cc}|\uFFFD/u);
    expect(Buffer.byteLength(response ?? '')).toBeLessThanOrEqual(4096);
    expect(Buffer.byteLength(response ?? '')).toBeGreaterThan(4090);
  });

  it('keeps its connection for the next one', async () => {
    const to: Receiver = await receiver();
    closes.push(to.close);
    let connections = 0;
    to.answer = (request, response) => {
      connections = new Set([...seen, request.socket]).size;
      seen.add(request.socket);
      response.writeHead(200).end();
    };
    const seen = new Set<unknown>();
    for (let i = 0; i < 20; i++) expect((await post(to.url)).isSuccess).toBe(true);
    // One connection may still be in use when the next post begins.
    expect(connections).toBeLessThanOrEqual(2);
  });

  it('over TLS with an unproven certificate fails before a byte is sent', async () => {
    let requests = 0;
    const server = createTlsServer({ key: testKey, cert: testCert }, (_request, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closes.push(() => new Promise((resolve) => server.close(() => resolve())));
    const { port } = server.address() as AddressInfo;
    const outcome = await post(`https://localhost:${port}/`);
    expect(outcome).toMatchObject({ isSuccess: false, errorClass: 'tls', statusCode: null });
    expect(requests).toBe(0);
  });

  it('to a closed port fails to connect', async () => {
    expect(await post('http://127.0.0.1:1/')).toMatchObject({
      isSuccess: false,
      errorClass: 'connect',
    });
  });

  it('over TLS asks for the name of the endpoint (SNI) at the checked address', async () => {
    const asked: string[] = [];
    const server = createTlsServer({
      key: testKey,
      cert: testCert,
      SNICallback(name, done) {
        asked.push(name);
        done(null);
      },
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closes.push(() => new Promise((resolve) => server.close(() => resolve())));
    const { port } = server.address() as AddressInfo;
    const addresses = async () => ({ ipv4: ['127.0.0.1'], ipv6: [], authenticated: false });
    const app = { ...test.app, dns: { ...test.app.dns, addresses } };
    const named = createPoster(app);
    const outcome = await named.post({
      url: `https://hooks.example:${port}/`,
      headers: {},
      body: '{}',
    });
    expect(outcome).toMatchObject({ isSuccess: false, errorClass: 'tls' });
    expect(asked).toEqual(['hooks.example']);
    await named.close();
  });

  it('ignores proxy variables', async () => {
    const to = await receiver();
    const proxy = await receiver();
    closes.push(to.close, proxy.close);
    process.env.HTTP_PROXY = proxy.url;
    process.env.http_proxy = proxy.url;
    try {
      expect((await post(to.url)).isSuccess).toBe(true);
    } finally {
      delete process.env.HTTP_PROXY;
      delete process.env.http_proxy;
    }
    expect(proxy.received).toEqual([]);
  });
});
