// Malicious clients, over real sockets: the server answers in its own form or closes, stays within
// its bounds, and continues serving others.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SocketLimits } from '../../daemon/http/http-listener.ts';
import { authenticateWord, goodEcho, type HttpService, httpService } from './http-service.ts';
import { parseAnswer, rawConnection } from './raw-socket.ts';

const shortLimits: Partial<SocketLimits> = {
  headersTimeoutMs: 150,
  requestTimeoutMs: 400,
  checkEveryMs: 50,
};
const maxBodyBytes = 200_000;

let service: HttpService;
let url: string;
let lookedUp: number;

beforeEach(async () => {
  lookedUp = 0;
  service = await httpService({
    config: { maxBodyBytes },
    socketLimits: shortLimits,
    authenticate: (key) => {
      lookedUp++;
      return authenticateWord(key);
    },
  });
  ({ url } = await service.http.listen());
});

afterEach(async () => {
  const alive = await fetch(`${url}/healthz`);
  expect(alive.status).toBe(200);
  expect(service.check.faults).toEqual([]);
  expect(service.logged().filter(({ msg }) => msg !== 'unauthorized')).toEqual([]);
  await service.close();
});

const requestHead = (fields: string, path = goodEcho.url) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: owner\r\nContent-Type: application/json\r\n${fields}\r\n`;

async function post(payload: string | ReadableStream, headers: Record<string, string> = {}) {
  const response = await fetch(url + goodEcho.url, {
    method: 'POST',
    headers: { ...goodEcho.headers, ...headers },
    body: payload,
    ...(payload instanceof ReadableStream && { duplex: 'half' }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('malformed requests', () => {
  it.each([
    ['noise', '\x16\x03\x01\x02\x00 hello'],
    ['a request line without end', `GET /${'a'.repeat(20_000)}`],
    ['two content lengths', requestHead('Content-Length: 4\r\nContent-Length: 5\r\n')],
    [
      'length and chunks together',
      requestHead('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n'),
    ],
    ['a NUL in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n'],
    ['a header name with a space', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX A: b\r\n\r\n'],
    ['an unknown method', 'BREW /healthz HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('are answered with a 400 in the form of the API: %s', async (_case, bytes) => {
    const answer = parseAnswer(await rawConnection(url, bytes).untilClosed());
    expect(answer.status).toBe(400);
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
    expect(JSON.parse(answer.body)).toEqual({
      _tag: 'MalformedRequestError',
      message: expect.any(String),
    });
    expect(lookedUp).toBe(0);
  });

  it('are refused after the first 16 KB of a megabyte of headers', async () => {
    const connection = rawConnection(url, 'GET /healthz HTTP/1.1\r\nHost: x\r\n');
    connection.socket.write(`X-Big: ${'a'.repeat(1_000_000)}\r\n\r\n`);
    const answer = parseAnswer(await connection.untilReceived('too large'));
    expect([answer.status, JSON.parse(answer.body).message]).toEqual([
      400,
      'The headers are too large',
    ]);
  });

  it('are refused for a URL of 9 KB', async () => {
    const response = await fetch(`${url}/v1/${'a'.repeat(9_000)}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ message: 'The URL exceeds 8192 bytes' });
  });

  it('end the connection, not the service, for garbage in the chunks of a body', async () => {
    const head = requestHead('Transfer-Encoding: chunked\r\n');
    const answer = parseAnswer(await rawConnection(url, `${head}zz\r\nhello\r\n`).untilClosed());
    expect(answer.status).toBe(400);
  });

  it('get no second answer for garbage after a request', async () => {
    const connection = rawConnection(url, 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await connection.untilReceived('{"status":"ok"}');
    connection.socket.write('\x00\x01\x02 garbage\r\n\r\n');
    const text = await connection.untilClosed();
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
  });
});

describe('slow clients', () => {
  it.each([
    ['the headers', 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    ['the body', `${requestHead('Content-Length: 1000\r\n')}{"text":`],
  ])('are cut off when %s do not arrive in time', async (_case, bytes) => {
    const connection = rawConnection(url, bytes);
    const drip = setInterval(() => connection.socket.write('a'), 20);
    const answer = parseAnswer(await connection.untilClosed());
    clearInterval(drip);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).message).toBe('The request did not arrive in time');
  });

  it('are cut off without an answer when they send nothing', async () => {
    expect(await rawConnection(url, '').untilClosed()).toBe('');
  });

  it('do not delay other clients in any number', async () => {
    const slow = Array.from({ length: 100 }, () =>
      rawConnection(url, `${requestHead('Content-Length: 1000\r\n')}{`),
    );
    expect((await post(goodEcho.payload)).status).toBe(201);
    await Promise.all(slow.map((connection) => connection.untilClosed()));
  });

  it('leave nothing behind when they hang up in a body', async () => {
    const connection = rawConnection(url, `${requestHead('Content-Length: 1000\r\n')}{"text":`);
    await post(goodEcho.payload);
    connection.socket.destroy();
    await connection.untilClosed();
    expect((await post(goodEcho.payload)).status).toBe(201);
  });
});

describe('bodies', () => {
  const tooLarge = {
    _tag: 'MalformedRequestError',
    message: 'The body is larger than 200000 bytes',
  };

  it('beyond the limit are answered with 413 before they are sent, by their declared length', async () => {
    const declared = rawConnection(url, requestHead('Content-Length: 200001\r\n'));
    const answer = parseAnswer(await declared.untilReceived('larger'));
    expect([answer.status, JSON.parse(answer.body)]).toEqual([413, tooLarge]);
    declared.socket.destroy();
  });

  it('beyond the limit are answered with 413, also when sent whole or in chunks', async () => {
    const big = JSON.stringify({ text: 'a'.repeat(3 * maxBodyBytes), to: [] });
    expect(await post(big)).toEqual({ status: 413, body: tooLarge });
    expect(await post(new Blob([big]).stream())).toEqual({ status: 413, body: tooLarge });
  });

  it('of exactly the limit are read', async () => {
    const frame = JSON.stringify({ text: '', to: [] });
    const body = JSON.stringify({ text: 'a'.repeat(maxBodyBytes - frame.length), to: [] });
    expect((await post(body)).status).toBe(201);
    expect((await post(`${body} `)).status).toBe(413);
    expect((await post(new Blob([body]).stream())).status).toBe(201);
  });

  it('nested a hundred thousand levels deep are answered with 400', async () => {
    const answer = await post(`${'['.repeat(100_000)}${']'.repeat(99_999)}`);
    expect([answer.status, answer.body.message]).toEqual([
      400,
      'The body is nested deeper than 64 levels',
    ]);
  });

  it.each(['{"__proto__":{"isAdmin":true}}', '{"to":[{"constructor":{"prototype":{}}}]}'])(
    'that reach for a prototype are answered with 400: %s',
    async (body) => {
      const answer = await post(body);
      expect([answer.status, answer.body.message]).toEqual([
        400,
        expect.stringContaining('forbidden key'),
      ]);
    },
  );

  it('are shed when together they would fill the memory', async () => {
    const half = `{"text":"${'a'.repeat(180_000)}`;
    const uploads = Array.from({ length: 8 }, () =>
      rawConnection(url, `${requestHead('Content-Length: 190000\r\n')}${half}`),
    );
    const answers = await Promise.all(uploads.map((upload) => upload.untilClosed()));
    const statuses = answers.map((text) => parseAnswer(text).status);
    expect(statuses).toContain(503);
    expect(statuses).toContain(400);
    expect((await post(JSON.stringify({ text: 'a'.repeat(180_000), to: [] }))).status).toBe(201);
  });

  it('are requested only after the key is verified', async () => {
    const expecting = 'Expect: 100-continue\r\nContent-Length: 24\r\n';
    const refused = rawConnection(url, requestHead(expecting).replace('owner', 'nobody'));
    const refusal = await refused.untilReceived('UnauthorizedError');
    expect(refusal).not.toContain('100 Continue');
    refused.socket.destroy();

    const taken = rawConnection(url, requestHead(expecting));
    await taken.untilReceived('HTTP/1.1 100 Continue\r\n\r\n');
    taken.socket.write(goodEcho.payload);
    expect(await taken.untilReceived('"hello"')).toContain('HTTP/1.1 201 Created');
    taken.socket.destroy();
  });

  it('of refused requests are discarded, and the connection serves the next request', async () => {
    const next = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    const junk = 'x'.repeat(50_000);
    const refused = requestHead(`Content-Length: ${junk.length}\r\n`).replace('owner', 'nobody');
    const connection = rawConnection(url, refused + junk + next);
    const text = await connection.untilReceived('{"status":"ok"}');
    expect(text).toContain('HTTP/1.1 401');
    connection.socket.destroy();
  });
});
