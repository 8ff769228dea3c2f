// Every reason of a refusal by the HTTP server is counted under its own name
// (`svc_requests_refused_total`): one real refusal for each, which counts there and nowhere else.
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { answerPoolOf } from '../../daemon/http/answer-memory.ts';
import { pauseOrganization } from '../../src/access/organizations/organizations.ts';
import { createMimeParser } from '../../src/mail/parse/parser.ts';
import {
  CapacityError,
  ConflictError,
  ExternalServiceError,
  RateLimitedError,
  refusalReasons,
} from '../../src/platform/errors.ts';
import { AsideReads } from '../../src/platform/store/aside.ts';
import { limitedApi, onPlan, useToday } from '../access/admission/fixtures.ts';
import { readMarkdown, section, tableRows } from '../docs/markdown.ts';
import { payload } from '../outbound/messages/fixtures.ts';
import { testApp } from '../support/test-app.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import {
  getRoute,
  goodEcho,
  type HttpService,
  type HttpServiceOptions,
  httpService,
} from './http-service.ts';
import { rawConnection } from './raw-socket.ts';

const work = { url: '/v1/work', headers: { 'x-api-key': 'owner' } } as const;
const seen = new Set<string>();

/** Reads the refusals until now: reason → count, without reasons at 0. */
async function refusals(metrics: () => Promise<string>): Promise<Record<string, number>> {
  const lines = (await metrics()).matchAll(/^svc_requests_refused_total\{reason="(.+)"\} (\d+)$/gm);
  const counts = [...lines].map(([, reason = '', count]) => [reason, Number(count)] as const);
  for (const [reason, count] of counts) if (count > 0) seen.add(reason);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/** Options with a route that runs the test's function. */
const working = (run: () => Promise<unknown>): HttpServiceOptions => ({
  routes: [getRoute(work.url, run)],
});
const failing = (error: unknown) => working(() => Promise.reject(error));
const neverEnding = () => new Promise(() => {});

async function ask({ http }: HttpService, request: object, status: number): Promise<void> {
  const response = await http.inject(request);
  expect(response.statusCode).toBe(status);
}

/** Sends requests that need a raw socket, until the service closes the connection. */
async function askRaw({ http }: HttpService, ...bytes: string[]): Promise<void> {
  const { url } = await http.listen();
  const connections = bytes.map((text) => rawConnection(url, text));
  await Promise.race(connections.map((connection) => connection.untilClosed()));
  for (const { socket } of connections) socket.destroy();
}

/** Opens one stream of events more than allowed. */
async function manyStreams({ http }: HttpService): Promise<void> {
  const { url } = await http.listen();
  const head = 'GET /v1/events/stream HTTP/1.1\r\nHost: x\r\nX-API-Key: owner\r\n\r\n';
  const streams = Array.from({ length: 71 }, () => rawConnection(url, head));
  for (const stream of streams) await stream.untilReceived('retry: ');
  const refused = rawConnection(url, head);
  await refused.untilReceived(' 503 ');
  for (const { socket } of [...streams, refused]) socket.destroy();
}

/** Asks for a stored file while another client of the site holds its share of the memory. */
async function fileWithoutMemory({ app, http }: HttpService): Promise<void> {
  const { url } = await http.listen();
  const held = answerPoolOf(app).enter(
    { holder: '127.0.0.0/24', pace: () => Number.POSITIVE_INFINITY, evict: () => {} },
    45_000_000,
  );
  const refused = rawConnection(url, 'GET /storage/x HTTP/1.1\r\nHost: x\r\n\r\n');
  await refused.untilReceived(' 503 ');
  refused.socket.destroy();
  held?.leave();
}

const echoHead = (length: number) =>
  `POST ${goodEcho.url} HTTP/1.1\r\nHost: x\r\nX-API-Key: owner\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

describe('the count of refusals', () => {
  let service: HttpService | undefined;
  afterEach(async () => {
    await service?.close();
    service = undefined;
  });

  type Case = [reason: string, HttpServiceOptions, (service: HttpService) => Promise<unknown>];
  it.each<Case>([
    [
      'validation',
      {},
      (service) => ask(service, { ...goodEcho, payload: '{"text":1,"to":[]}' }, 422),
    ],
    ['not-found', {}, (service) => ask(service, { url: '/v1/nope' }, 404)],
    [
      'unauthorized',
      {},
      (service) => ask(service, { ...goodEcho, headers: { 'x-api-key': 'unknown' } }, 401),
    ],
    [
      'forbidden',
      {},
      (service) => ask(service, { ...goodEcho, headers: { 'x-api-key': 'reader' } }, 403),
    ],
    ['conflict', failing(new ConflictError('thing', 'no')), (service) => ask(service, work, 409)],
    ['rate', rateLimited(), (service) => ask(service, goodEcho, 429)],
    ['internal', failing(new Error('no')), (service) => ask(service, work, 500)],
    ['malformed', {}, (service) => ask(service, { ...goodEcho, payload: '{' }, 400)],
    ['malformed', {}, (service) => askRaw(service, 'NOISE\r\n\r\n')],
    ['slow', shortTimes(), (service) => askRaw(service, 'GET /healthz HTTP/1.1\r\nX-Slow: ')],
    ['capacity-in-flight', { ...working(neverEnding), config: { maxInFlight: 1 } }, crowd],
    ['capacity-event-loop', { loopDelay: { read: () => 1_000, stop: () => {} } }, lag],
    [
      'capacity-bodies',
      { config: { maxBodyBytes: 200_000 } },
      (service) => askRaw(service, ...Array(8).fill(`${echoHead(190_000)}${' '.repeat(180_000)}`)),
    ],
    [
      'capacity-connections',
      { socketLimits: { mostConnections: 2 } },
      (service) => askRaw(service, '', '', ''),
    ],
    ['capacity-streams', {}, manyStreams],
    ['capacity-answers', {}, fileWithoutMemory],
    ['capacity-parser', working(parseTooMuch), (service) => ask(service, work, 503)],
    ['capacity-searches', working(searchTooMuch), (service) => ask(service, work, 503)],
    [
      'capacity-store',
      failing(new CapacityError('full disk')),
      (service) => ask(service, work, 503),
    ],
    [
      'capacity-storage',
      failing(new CapacityError('no bucket', 5, { reason: 'capacity-storage' })),
      (service) => ask(service, work, 503),
    ],
    [
      'external',
      failing(new ExternalServiceError('storage', 'no bucket')),
      (service) => ask(service, work, 502),
    ],
    ['timeout', working(neverEnding), outrun],
  ])('has the reason %s', async (reason, options, provoke) => {
    service = await httpService(options);
    await provoke(service);
    const { registry } = service.app.metrics;
    const counted = await refusals(() => registry.metrics());
    // The number of surplus bodies among eight depends on the arrival of their bytes.
    const expected = reason === 'capacity-bodies' ? expect.any(Number) : 1;
    expect(counted).toEqual({ [reason]: expected });
  });

  it.each([
    ['paused', 403],
    ['quota', 402],
  ])('has the reason %s for a real send', async (reason, status) => {
    const test = await testApp();
    const api = limitedApi(test);
    const { organizationId } = test.caller;
    if (reason === 'paused') await pauseOrganization(test.app, organizationId, {});
    else {
      await onPlan(test, 'free', { paymentMethodOnFile: false });
      await useToday(test, 100);
    }
    expect((await api.post(payload())).status).toBe(status);
    expect(await refusals(() => test.app.metrics.registry.metrics())).toEqual({ [reason]: 1 });
    await api.close();
    await test.close();
  });

  afterAll(() => {
    expect([...seen].sort()).toEqual([...refusalReasons].sort());
  });
});

it.each(refusalReasons)('docs/making/refusals.md explains %s', (reason) => {
  const table = tableRows(section(readMarkdown('docs/making/refusals.md'), 'Refusals'));
  expect(table.map(([cell]) => cell).join()).toContain(`\`${reason}\``);
});

it('the metrics show every reason as 0 before its first refusal', async () => {
  const service = await httpService();
  const text = await service.app.metrics.registry.metrics();
  for (const reason of refusalReasons) {
    expect(text).toContain(`svc_requests_refused_total{reason="${reason}"} 0`);
  }
  await service.close();
});

function rateLimited(): HttpServiceOptions {
  return { admit: () => Promise.reject(new RateLimitedError('echo', 2)) };
}

function shortTimes(): HttpServiceOptions {
  return { socketLimits: { headersTimeoutMs: 50, checkEveryMs: 20 } };
}

async function crowd(service: HttpService): Promise<void> {
  void service.http.inject(work);
  await new Promise(setImmediate);
  await ask(service, work, 503);
}

/** Advances two bad windows: the first request ends the first, the second the second. */
async function lag(service: HttpService): Promise<void> {
  await service.clock.advance(1_000);
  await ask(service, goodEcho, 201);
  await service.clock.advance(1_000);
  await ask(service, goodEcho, 503);
}

async function outrun(service: HttpService): Promise<void> {
  const answer = service.http.inject(work);
  await new Promise(setImmediate);
  await service.clock.advance(30_000);
  expect((await answer).statusCode).toBe(504);
}

/** Runs more searches of one organization than may wait, while no place opens. */
function searchTooMuch(): Promise<unknown> {
  const searches = new AsideReads(() => new Promise(() => {}));
  return Promise.race(Array.from({ length: 400 }, () => searches.run('org_a', async () => 0)));
}

async function parseTooMuch(): Promise<unknown> {
  const parser = createMimeParser({ clock: virtualClock(), maxQueuedMails: 0 });
  return parser.parse(Buffer.from('Subject: x\r\n\r\n'));
}
