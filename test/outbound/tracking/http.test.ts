// Pixels and links on the main HTTP face, also while the store cannot be written.
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHttpServer, type HttpServer } from '../../../daemon/http/server.ts';
import type { App } from '../../../src/core/app.ts';
import { tokensOf } from '../../../src/outbound/tracking/tokens.ts';
import { CapacityError } from '../../../src/platform/errors.ts';
import { type RunningPipeline, send, startPipeline } from '../../support/delivery.ts';
import { eachApp } from '../../support/each-app.ts';
import { ask, cohorts, engagement, page, person, tracked } from './fixtures.ts';

const test = eachApp();
let http: HttpServer;
let pipeline: RunningPipeline;
beforeEach(async () => {
  http = faceOf(test.app);
  pipeline = await startPipeline(test.app);
});
afterEach(async () => {
  await pipeline.close();
  await http.close();
});

function faceOf(app: App): HttpServer {
  return createHttpServer(app, {
    routes: [],
    authenticate: async () => null,
    isQueueRunning: () => true,
  });
}

/** Sends a message that is captured, so that only the test has its links. */
async function sent() {
  const { app, caller, clock } = test;
  const email = { html: page, tracking: tracked };
  const { id, deliveries } = await send(app, caller, 'ada@example.com', { email });
  await pipeline.idle();
  await clock.advance(3_000);
  const token = tokensOf(app, deliveries[0]?.id ?? '');
  return { id, pixel: `/t/o/${token(0)}`, link: `/t/c/${token(2)}` };
}

const headers = { 'user-agent': person };

it('a pixel is an uncached GIF of 43 bytes, without a key and without a cookie', async () => {
  const { id, pixel } = await sent();
  const answer = await http.inject({ method: 'GET', url: pixel, headers });
  expect(answer.statusCode).toBe(200);
  expect(answer.rawPayload).toHaveLength(43);
  expect(answer.rawPayload.subarray(0, 6).toString()).toBe('GIF89a');
  expect(answer.rawPayload.at(-1)).toBe(0x3b);
  expect(answer.headers).toMatchObject({
    'content-type': 'image/gif',
    'cache-control': expect.stringContaining('no-store'),
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow',
  });
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(await engagement(test.app, test.caller, id)).toEqual(['opened:read']);
});

it('a link is a 302 to the stored address', async () => {
  const { id, link } = await sent();
  const answer = await http.inject({
    method: 'GET',
    url: `${link}?x=https://evil.example`,
    headers,
  });
  expect([answer.statusCode, answer.headers.location]).toEqual([302, 'https://shop.example/b']);
  expect(await engagement(test.app, test.caller, id)).toEqual(['opened:read', 'clicked:read']);
});

it('HEAD gives the same without a body, and counts as a machine', async () => {
  const { id, pixel, link } = await sent();
  const [opened, clicked] = [
    await http.inject({ method: 'HEAD', url: pixel, headers }),
    await http.inject({ method: 'HEAD', url: link, headers }),
  ];
  expect([opened.statusCode, opened.headers['content-length'], opened.body]).toEqual([
    200,
    '43',
    '',
  ]);
  expect([clicked.statusCode, clicked.headers.location]).toEqual([302, 'https://shop.example/b']);
  const events = ['opened:delivered*', 'clicked:delivered*'];
  expect(await engagement(test.app, test.caller, id)).toEqual(events);
  expect(await cohorts(test.app, test.caller)).toBe('opened 0/1, clicked 0/1');
});

it.each(['/t/o/x', '/t/c/x', '/t/', '/t/y/z', '/u/x', '/u/', '/c/x', '/c/'])(
  'the broken link %s is a page for people',
  async (url) => {
    const answer = await http.inject({ method: 'GET', url, headers });
    expect(answer.statusCode).toBe(404);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.body).toContain('<h1>This link does not work</h1>');
    const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(answer.body) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(answer.headers['content-security-policy']).toContain(`style-src 'sha256-${hash}'`);
  },
);

it('a POST to a link of a mail is refused with 404', async () => {
  const { link } = await sent();
  expect((await http.inject({ method: 'POST', url: link, headers })).statusCode).toBe(404);
});

it('a link leads to its target while the store cannot be written', async () => {
  const { id, pixel, link } = await sent();
  const { app } = test;
  const write = () => Promise.reject(new CapacityError('The disk is full', 1));
  const full: App = { ...app, store: { ...app.store, db: app.store.db, write } };
  expect((await ask(full, link))?.headers['location']).toBe('https://shop.example/b');
  expect((await ask(full, pixel))?.status).toBe(200);
  expect(await engagement(app, test.caller, id)).toEqual([]);
});
