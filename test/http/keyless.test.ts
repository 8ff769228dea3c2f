// Every path that answers without a key, as the servers mount them: the capacity that it draws on,
// the number of its handlers of one connection, and that nothing large is made anew for each
// request.
import diagnostics from 'node:diagnostics_channel';
import { request } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readAssets } from '../../daemon/console/assets.ts';
import { pages } from '../../daemon/console/pages/pages.ts';
import { eventKinds } from '../../daemon/http/event-kinds.ts';
import { routes } from '../../daemon/http/routes.ts';
import { createHttpServer, type HttpServer } from '../../daemon/http/server.ts';
import { openWorkload, type Workload } from '../../daemon/http/workload.ts';
import { startTrackingListeners, type TrackingListeners } from '../../daemon/tracking/listeners.ts';
import { serveLinks } from '../../daemon/tracking/serve.ts';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import { addProcessMetrics } from '../../src/platform/runtime/metrics.ts';
import { StandingClock } from '../../src/platform/runtime/standing-clock.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { rawConnection } from './raw-socket.ts';

/** Paths that answer while all others are refused. */
const probes = ['/healthz', '/readyz', '/metrics'];
/** Size above which an answer must be kept. */
const largeBytes = 10_000;
const mostInWork = 8;
const pipelined = 12;

type Asked = readonly [method: string, path: string];

const mounted: Asked[] = [];
/** Bodies that the server sent. */
const sent: unknown[] = [];
const inWork = { now: 0, most: 0 };
let service: TestApp;
let http: HttpServer;
let listeners: TrackingListeners;
let workload: Workload;
let url: string;

/** Paths below a wildcard: each asset and page of the console, and one link. */
function pathsBelow(pattern: string): string[] {
  const filled = pattern.replace(/:\w+/g, 'x');
  if (pattern !== '/console/*') return [filled.replace('*', 'x')];
  const assets = [...readAssets().files.keys()].map((name) => `/console/assets/${name}`);
  const drawn = pages.map(({ path }) => `/console${path.replace(/[{:]\w+}?/g, 'x')}`);
  return [...assets, ...drawn, '/console/sign-in', '/console/open/x', '/console/live'];
}

/**
 * Records the mounted paths, the bodies and the requests in work of the server that is made next.
 */
function watchServer(message: unknown): void {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook('onRoute', ({ method, url: pattern }) => {
    for (const one of [method].flat()) {
      for (const path of pathsBelow(pattern)) mounted.push([one, path]);
    }
  });
  fastify.addHook('onRequest', (_request, reply, done) => {
    inWork.now += 1;
    inWork.most = Math.max(inWork.most, inWork.now);
    reply.raw.once('finish', () => {
      inWork.now -= 1;
    });
    done();
  });
  fastify.addHook('onSend', (_request, _reply, payload, done) => {
    sent.push(payload);
    done(null, payload);
  });
}

beforeAll(async () => {
  service = await testApp({
    config: {
      http: { publicUrl: 'http://127.0.0.1' },
      tracking: { http: { host: '127.0.0.1', port: 0 } },
    },
  });
  const { app } = service;
  addProcessMetrics(app.metrics);
  const authenticator = createAuthenticator(app);
  workload = openWorkload(app);
  diagnostics.subscribe('fastify.initialization', watchServer);
  http = createHttpServer(app, {
    ...{ routes, eventKinds, workload, sessions: authenticator },
    authenticate: (plaintext) => authenticator.authenticate(plaintext),
    isQueueRunning: () => true,
    virtualClock: { clock: new StandingClock(0), token: 'token' },
  });
  diagnostics.unsubscribe('fastify.initialization', watchServer);
  listeners = await startTrackingListeners({ app, workload, serve: serveLinks });
  url = (await http.listen()).url;
});

afterAll(async () => {
  await http.close(0);
  await listeners.close(0);
  await service.close();
});

/** Asks without a key. Forms are sent to the paths of forms. */
function ask(base: string, [method, path]: Asked, encoding = 'identity') {
  return new Promise<{ status: number; bytes: number }>((resolve, reject) => {
    const headers = {
      'accept-encoding': encoding,
      ...(method !== 'GET' && method !== 'HEAD' && { 'content-type': 'application/json' }),
    };
    const asked = request(`${base}${path}`, { method, headers, agent: false }, (answer) => {
      let bytes = 0;
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
      });
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, bytes }));
    });
    asked.once('error', reject);
    asked.end();
  });
}

const isProbe = ([, path]: Asked) => probes.includes(path);
const nameOf = ([method, path]: Asked) => `${method} ${path}`;

describe('without capacity', () => {
  let release = () => {};

  beforeAll(() => {
    const ended = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { maxInFlight } = service.app.config.http;
    for (let count = 0; count < maxInFlight; count++) void workload.begin(() => ended);
  });

  afterAll(() => release());

  it('refuses every path but the probes', async () => {
    expect(mounted.length).toBeGreaterThan(routes.length);
    const found: string[] = [];
    for (const asked of mounted) {
      const { status } = await ask(url, asked);
      if (status !== (isProbe(asked) ? 200 : 503)) found.push(`${nameOf(asked)}: ${status}`);
    }
    expect(found).toEqual([]);
  });

  it.each(['/t/o/x', '/t/c/x', '/u/x', '/c/x', '/.well-known/acme-challenge/x', '/other'])(
    'refuses %s of a tracking host',
    async (path) => {
      const { status } = await ask(`http://127.0.0.1:${listeners.httpPort}`, ['GET', path]);
      expect(status).toBe(503);
    },
  );
});

it('runs few requests of one connection at once, on every path', async () => {
  const found: string[] = [];
  for (const asked of mounted) {
    inWork.most = 0;
    const [method, path] = asked;
    const head = `${method} ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n`;
    const last = `${head}Connection: close\r\n\r\n`;
    const raw = rawConnection(url, `${head}\r\n`.repeat(pipelined - 1) + last);
    await raw.untilClosed();
    if (inWork.most > mostInWork) found.push(`${nameOf(asked)}: ${inWork.most}`);
  }
  expect(found).toEqual([]);
});

it('keeps every large answer without a key', async () => {
  const searches: Asked[] = [
    ['GET', '/docs?q=message'],
    ['GET', '/docs?q=of+a'],
  ];
  const large: Asked[] = [];
  for (const asked of [...mounted.filter(([method]) => method === 'GET'), ...searches]) {
    const { bytes } = await ask(url, asked);
    if (bytes >= largeBytes) large.push(asked);
  }
  const found: string[] = [];
  for (const asked of large) {
    for (const encoding of ['identity', 'gzip', 'br']) {
      sent.length = 0;
      await ask(url, asked, encoding);
      await ask(url, asked, encoding);
      if (sent.length !== 2 || sent[0] !== sent[1]) found.push(`${nameOf(asked)} as ${encoding}`);
    }
  }
  expect(large.map(nameOf)).toEqual(
    expect.arrayContaining(['GET /docs', 'GET /metrics', 'GET /docs?q=of+a']),
  );
  expect(found).toEqual([]);
});
