// Routes that stream a body in or an answer out: the order of checks, and their bounds in number,
// bytes and time. Over real sockets.
import { once } from 'node:events';
import { request as ask, type ClientRequest, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from '../../daemon/http/openapi/openapi.ts';
import { type Route, route } from '../../src/core/api/route.ts';
import { ValidationError } from '../../src/platform/errors.ts';
import { type HttpService, httpService, ownerKey } from './http-service.ts';

const mostBytes = 3_000_000;
/** Bytes and pieces that the route has read. */
let taken: { bytes: number; pieces: number; type: string };
/** Lets the waiting route read on. */
let goOn: () => void;
let until: Promise<void>;
/** Pieces of the answer created so far. */
let made: number;

const take = route({
  method: 'POST',
  path: '/v1/take',
  name: 'take',
  summary: 'Take it',
  area: 'messages',
  permission: 'messages:send',
  query: z.strictObject({
    most: z.coerce.number().optional(),
    waits: z.coerce.boolean().optional(),
  }),
  takes: { types: ['text/csv', 'application/x-ndjson'], mostBytes },
  status: 200,
  output: z.object({ bytes: z.number() }),
  async run(_app, { query: { most = Infinity, waits = false }, stream }) {
    if (!stream) throw new Error('no stream');
    taken.type = stream.type;
    for await (const chunk of stream.chunks) {
      taken.bytes += chunk.length;
      taken.pieces++;
      if (waits) await until;
      if (taken.bytes > most) throw new ValidationError('Enough');
    }
    return { bytes: taken.bytes };
  },
});

const line = `${'x'.repeat(99_999)}\n`;

const give = route({
  method: 'GET',
  path: '/v1/give',
  name: 'give',
  summary: 'Give it',
  area: 'messages',
  permission: 'messages:read',
  query: z.strictObject({ pieces: z.coerce.number() }),
  streams: ['text/csv'],
  status: 200,
  output: z.unknown(),
  async run(_app, { query: { pieces } }) {
    const texts = async function* () {
      for (let i = 0; i < pieces; i++) {
        made++;
        yield line;
      }
    };
    return { type: 'text/csv', texts: texts() };
  },
});

let service: HttpService;
let url: string;

beforeEach(async () => {
  taken = { bytes: 0, pieces: 0, type: '' };
  made = 0;
  ({ promise: until, resolve: goOn } = Promise.withResolvers<void>());
  service = await httpService({ routes: [take, give] });
  ({ url } = await service.http.listen());
});

afterEach(async () => {
  expect(service.check.faults).toEqual([]);
  await service.close();
});

const csv = { 'x-api-key': ownerKey, 'content-type': 'text/csv' };

/** Begins a request without its body. */
function begin(headers: Record<string, string> = csv, path = '/v1/take'): ClientRequest {
  const request = ask(url + path, { method: 'POST', headers });
  request.on('error', () => {});
  return request;
}

async function answerOf(request: ClientRequest) {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const body = JSON.parse(await text(response)) as Record<string, unknown>;
  return { status: response.statusCode, headers: response.headers, body };
}

async function post(body: Buffer | string, headers: Record<string, string> = csv, path?: string) {
  return answerOf(begin(headers, path).end(body));
}

describe('a streamed body', () => {
  it('arrives whole, in pieces', async () => {
    const { status, body } = await post(Buffer.alloc(2_500_000, 'a'));
    expect([status, body]).toEqual([200, { bytes: 2_500_000 }]);
    expect(taken.pieces).toBeGreaterThan(10);
    const type = 'Application/X-NDJSON; charset=UTF-8';
    expect((await post('{}', { ...csv, 'content-type': type })).status).toBe(200);
    expect(taken.type).toBe('application/x-ndjson');
  });

  it.each<[string, number, Record<string, string>, string?]>([
    ['no key', 401, { 'content-type': 'text/csv' }],
    ['a key without permission', 403, { ...csv, 'x-api-key': 'reader' }],
    ['another media type', 415, { ...csv, 'content-type': 'application/json' }],
    ['another charset', 415, { ...csv, 'content-type': 'text/csv; charset=latin1' }],
    ['a compressed body', 415, { ...csv, 'content-encoding': 'gzip' }],
    ['a length beyond the bound', 413, { ...csv, 'content-length': String(mostBytes + 1) }],
    ['an invalid query', 422, csv, '/v1/take?most=x'],
  ])('is not requested after %s', async (_case, status, headers, path) => {
    const request = begin({ ...headers, expect: '100-continue' }, path);
    let isAskedFor = false;
    request.on('continue', () => {
      isAskedFor = true;
    });
    request.flushHeaders();
    const answer = await answerOf(request);
    expect([answer.status, isAskedFor, taken.pieces]).toEqual([status, false, 0]);
    expect(answer.headers.connection).toBe('close');
    request.destroy();
  });

  it('is requested by the route', async () => {
    const request = begin({ ...csv, expect: '100-continue' });
    request.flushHeaders();
    await once(request, 'continue');
    request.end('a,b');
    expect((await answerOf(request)).body).toEqual({ bytes: 3 });
  });

  it('is cut when it grows beyond its bound', async () => {
    const { status, body, headers } = await post(Buffer.alloc(mostBytes + 1), {
      ...csv,
      'transfer-encoding': 'chunked',
    });
    expect([status, body._tag]).toEqual([413, 'MalformedRequestError']);
    expect(headers.connection).toBe('close');
    expect(taken.bytes).toBeLessThanOrEqual(mostBytes);
  });

  it('is discarded when the route refuses it half-way', async () => {
    const { status, body } = await post(Buffer.alloc(2_000_000), csv, '/v1/take?most=100000');
    expect([status, body.message]).toEqual([422, 'Enough']);
    expect(taken.bytes).toBeLessThan(1_000_000);
  });

  it('slower than 1 KB/s over 10 s is answered with 400', async () => {
    const request = begin({ ...csv, 'transfer-encoding': 'chunked' });
    request.write('a'.repeat(10_000));
    await vi.waitFor(() => expect(taken.bytes).toBe(10_000));
    await service.clock.advance(10_000);
    request.write('b'.repeat(9_999));
    await vi.waitFor(() => expect(taken.bytes).toBe(19_999));
    await service.clock.advance(9_999);
    const answered = answerOf(request);
    await service.clock.advance(1);
    const { status, body } = await answered;
    expect([status, body.message]).toEqual([400, 'The body arrives too slowly']);
    request.destroy();
  });

  it('that waits for the route is not cut for its pace', async () => {
    const request = begin({ ...csv, 'transfer-encoding': 'chunked' }, '/v1/take?waits=1');
    request.write('a');
    await vi.waitFor(() => expect(taken.pieces).toBe(1));
    await service.clock.advance(120_000);
    goOn();
    expect((await answerOf(request.end('b'))).body).toEqual({ bytes: 2 });
  });

  it('is one of three at once per organization: a fourth answers 503, until one has ended', async () => {
    const open = Array.from({ length: 3 }, () => begin({ ...csv, 'transfer-encoding': 'chunked' }));
    for (const request of open) request.write('a');
    await vi.waitFor(() => expect(taken.pieces).toBe(3));
    const fourth = await post('b');
    expect([fourth.status, fourth.body._tag, fourth.headers['retry-after']]).toEqual([
      503,
      'CapacityError',
      '5',
    ]);
    const [first, second, ...others] = open as [ClientRequest, ClientRequest, ...ClientRequest[]];
    expect((await answerOf(first.end())).status).toBe(200);
    second.destroy();
    await vi.waitFor(async () => expect((await post('c')).status).toBe(200));
    for (const request of others) expect((await answerOf(request.end())).status).toBe(200);
  });

  it('is ended as the slowest of a larger holder for a newcomer', async () => {
    const [slow, ...quick] = [0, 1, 2].map(() => begin({ ...csv, 'transfer-encoding': 'chunked' }));
    for (const request of quick) request.write('a'.repeat(50_000));
    slow?.write('a');
    await vi.waitFor(() => expect(taken.bytes).toBe(100_001));
    const other = begin({ ...csv, 'x-api-key': 'second', 'transfer-encoding': 'chunked' });
    other.write('b');
    await vi.waitFor(() => expect(taken.bytes).toBe(100_002));
    await service.clock.advance(2_000);
    const ended = answerOf(slow as ClientRequest);
    expect((await post('c', { ...csv, 'x-api-key': 'third' })).status).toBe(200);
    const { status, body, headers } = await ended;
    expect([status, body._tag, headers['retry-after']]).toEqual([503, 'CapacityError', '5']);
    for (const request of [...quick, other]) {
      expect((await answerOf(request.end())).status).toBe(200);
    }
  });
});

describe('a streamed answer', () => {
  const get = (path: string, key = ownerKey) =>
    fetch(url + path, { headers: { 'x-api-key': key } });

  it('arrives whole, with its type', async () => {
    const response = await get('/v1/give?pieces=30');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/csv; charset=utf-8',
    ]);
    expect(await response.text()).toBe(line.repeat(30));
  });

  it('is refused like any other', async () => {
    expect((await get('/v1/give?pieces=1', 'nobody')).status).toBe(401);
    const { status, headers } = await get('/v1/give?pieces=x');
    expect([status, headers.get('content-type')]).toEqual([422, 'application/json; charset=utf-8']);
  });

  it('is created as fast as it is read, and released with its reader', async () => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const headers = { 'x-api-key': ownerKey };
    const slow = await Promise.all(
      [1, 2, 3].map(() => fetch(`${url}/v1/give?pieces=10000`, { headers, signal })),
    );
    expect(slow.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await get('/v1/give?pieces=1')).status).toBe(503);
    // Only as much as the sockets hold.
    expect(made).toBeLessThan(1_000);
    leaving.abort();
    await vi.waitFor(async () => expect((await get('/v1/give?pieces=1')).status).toBe(200));
  });

  it('is cut as the slowest for a newcomer', async () => {
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => get('/v1/give?pieces=200')));
    const second = await get('/v1/give?pieces=200', 'second');
    await service.clock.advance(2_000);
    const third = await get('/v1/give?pieces=1', 'third');
    expect([second.status, third.status, await third.text()]).toEqual([200, 200, line]);
    const read = async (response: Response | undefined) =>
      response?.text().then(
        () => 'whole',
        () => 'cut',
      );
    const ends = await Promise.all([first, ...others].map(read));
    expect(ends.toSorted()).toEqual(['cut', 'whole', 'whole']);
    await second.body?.cancel();
  });

  it('is cut after ten minutes, in a way that the reader notices', async () => {
    const response = await get('/v1/give?pieces=1000');
    await service.clock.advance(600_001);
    await expect(response.text()).rejects.toThrow();
  });
});

it('both kinds of stream are described in the reference', () => {
  const { paths } = openApiDocument([take, give], '/');
  expect(paths['/v1/take']?.post?.requestBody).toEqual({
    required: true,
    content: {
      'text/csv': { schema: { type: 'string' } },
      'application/x-ndjson': { schema: { type: 'string' } },
    },
  });
  expect(paths['/v1/give']?.get?.responses['200']?.content).toEqual({
    'text/csv': { schema: { type: 'string' } },
  });
});

it('a route with a streamed body takes no other body', async () => {
  const both = { ...take, body: z.object({}) } as Route;
  await expect(httpService({ routes: [both] })).rejects.toThrow(/no other body/);
});

it('only a GET streams its answer', async () => {
  const posted = { ...give, method: 'POST' } as Route;
  await expect(httpService({ routes: [posted] })).rejects.toThrow(/only a GET/);
});
