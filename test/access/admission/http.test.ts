// The limits as HTTP clients see them (specification 7 rules 1, 3 and 4, 8.1, 8.2): bodies,
// headers and the order of checks, through the real routes and keys.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { admissionOf } from '../../../src/access/admission/admission.ts';
import { createKey } from '../../../src/access/keys/keys.ts';
import {
  pauseOrganization,
  resumeOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import { route } from '../../../src/core/api/route.ts';
import { payload } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { type LimitedApi, limitedApi, onPlan, useToday } from './fixtures.ts';

const limited = {
  'x-service-throttle-source': 'service_admission',
  'content-type': 'application/json; charset=utf-8',
};

describe.each(stores)('sends over HTTP on %s', (store) => {
  const test = eachApp({ store });
  let api: LimitedApi;
  beforeEach(async () => {
    api = limitedApi(test);
  });
  afterEach(async () => {
    await api.close();
  });

  async function keyWith(role: 'owner' | 'viewer' = 'owner'): Promise<string> {
    return (await createKey(test.app, test.operator, { role })).key ?? '';
  }

  async function sendTimes(count: number): Promise<number[]> {
    const statuses: number[] = [];
    for (let i = 0; i < count; i++) statuses.push((await api.post(payload())).status);
    return statuses;
  }

  it('7.1: answers a 429 with Retry-After as in its body, and the throttle source', async () => {
    await onPlan(test, 'free');
    expect(await sendTimes(5)).toEqual([201, 201, 201, 201, 201]);
    const { status, headers, body } = await api.post(payload());
    expect(status).toBe(429);
    expect(body).toEqual({
      _tag: 'RateLimitedError',
      retryAfterSeconds: 1,
      operation: 'sendMessage',
    });
    expect(headers).toMatchObject({ ...limited, 'retry-after': '1' });
    await test.clock.advance(1_000);
    expect((await api.post(payload())).status).toBe(201);
  });

  it('shows the remaining requests in every response to a send', async () => {
    await onPlan(test, 'free');
    const shown: unknown[] = [];
    for (let i = 0; i < 6; i++) {
      const { headers } = await api.post(payload());
      shown.push(['limit', 'remaining', 'reset'].map((name) => headers[`ratelimit-${name}`]));
    }
    expect(shown).toEqual([
      ['5', '4', '1'],
      ['5', '3', '1'],
      ['5', '2', '1'],
      ['5', '1', '1'],
      ['5', '0', '1'],
      ['5', '0', '1'],
    ]);
  });

  it("shows the organization's limit where it is tighter than the key's", async () => {
    await onPlan(test, 'free');
    await sendTimes(5);
    const second = await keyWith();
    for (let i = 0; i < 3; i++) await api.post(payload(), { apiKey: second });
    const { headers } = await api.post(payload(), { apiKey: await keyWith() });
    expect([headers['ratelimit-limit'], headers['ratelimit-remaining']]).toEqual(['10', '1']);
  });

  it('omits the headers on a plan without limit and before the key is authorized', async () => {
    const names = (headers: Record<string, unknown>) =>
      Object.keys(headers).filter((name) => name.startsWith('ratelimit'));
    expect(names((await api.post(payload())).headers)).toEqual([]);
    await onPlan(test, 'free');
    expect(names((await api.post(payload(), { apiKey: 'nonsense' })).headers)).toEqual([]);
    const viewer = await keyWith('viewer');
    expect(names((await api.post(payload(), { apiKey: viewer })).headers)).toEqual([]);
  });

  it('8.1: counts each request, also replays and failed validations', async () => {
    await onPlan(test, 'free');
    const headers = { 'idempotency-key': 'k' };
    expect((await api.post(payload(), { headers })).status).toBe(201);
    expect((await api.post(payload(), { headers })).status).toBe(201);
    expect((await api.post(payload({}, { nonsense: 1 }))).status).toBe(422);
    expect((await api.post('{broken')).status).toBe(400);
    expect((await api.post(payload({}, { conversationId: 'conv_0000000000000000' }))).status).toBe(
      404,
    );
    expect((await api.post(payload())).status).toBe(429);
  });

  it('8.1: gives each key its own burst, and draws all keys on the organization', async () => {
    await onPlan(test, 'free');
    const second = await keyWith();
    expect(await sendTimes(6)).toEqual([201, 201, 201, 201, 201, 429]);
    const answers: number[] = [];
    for (let i = 0; i < 6; i++) {
      answers.push((await api.post(payload(), { apiKey: second })).status);
    }
    expect(answers).toEqual([201, 201, 201, 201, 201, 429]);
    expect((await api.post(payload(), { apiKey: await keyWith() })).status).toBe(429);
  });

  it('7.3: answers 402 beyond the quota with usage, limit and operation, and no Retry-After', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 100);
    const { status, headers, body } = await api.post(payload());
    expect(status).toBe(402);
    expect(body).toEqual({
      _tag: 'PaymentRequiredError',
      resource: 'daily-emails',
      currentUsage: 100,
      limit: 100,
      operation: 'sendMessage',
    });
    expect(headers).not.toHaveProperty('retry-after');
    expect(headers).not.toHaveProperty('x-service-throttle-source');
    await updateOrganization(test.app, 'default', { paymentMethodOnFile: true });
    expect((await api.post(payload())).status).toBe(201);
  });

  it('7.4: answers every send of a paused organization with a 403 that gives the reason', async () => {
    const note = '12.4% of the last 1,250 messages bounced (limit 5%)';
    await pauseOrganization(test.app, 'default', { note });
    for (let i = 0; i < 3; i++) {
      const { status, body } = await api.post(payload());
      expect([status, body]).toEqual([
        403,
        { _tag: 'ForbiddenError', message: `Sending is paused: ${note}.` },
      ]);
    }
  });

  it('checks in the order 401, 403, 429, 400, 422, 404, 403, 402', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 100);
    await pauseOrganization(test.app, 'default', {});
    const viewer = await keyWith('viewer');
    await test.clock.advance(1_000);
    // The request is wrong in every way at first; each step mends the last error.
    const missing = payload({}, { conversationId: 'conv_0000000000000000' });
    const status = async (...args: Parameters<LimitedApi['post']>) =>
      (await api.post(...args)).status;
    while ((await status(missing)) !== 429);
    expect(await status('{broken', { apiKey: 'nonsense' })).toBe(401);
    expect(await status('{broken', { apiKey: viewer })).toBe(403);
    expect(await status('{broken')).toBe(429);
    await test.clock.advance(2_000);
    expect(await status('{broken')).toBe(400);
    expect(await status({ ...missing, nonsense: 1 })).toBe(422);
    expect(await status(missing)).toBe(404);
    expect(await status(payload())).toBe(403);
    await resumeOrganization(test.app, 'default');
    expect(await status(payload())).toBe(402);
  });
});

describe('a batch over HTTP', () => {
  // The rate limit of the batch operation, without its sends.
  const batch = route({
    method: 'POST',
    path: '/v1/batch-of-the-test',
    name: 'sendBatch',
    summary: 'Draw for a batch',
    area: 'messages',
    permission: 'messages:send',
    body: z.strictObject({ count: z.int().min(1).max(100) }),
    drawsOnSendRate: 'batch',
    status: 200,
    output: z.object({ count: z.number() }),
    run: async (app, { caller, body: { count } }) => {
      await admissionOf(app).admitBatch(caller, count, 'sendBatch');
      return { count };
    },
  });
  const test = eachApp();
  let api: LimitedApi;
  beforeEach(async () => {
    api = limitedApi(test, [batch]);
  });
  afterEach(async () => {
    await api.close();
  });

  it('draws one request per entry, and shows the remainder in the headers', async () => {
    await onPlan(test, 'growth');
    const { status, headers } = await api.post({ count: 20 });
    expect([status, headers['ratelimit-remaining']]).toEqual([200, '5']);
  });

  it('draws nothing when refused, and gives a Retry-After for the whole batch', async () => {
    await onPlan(test, 'growth');
    await api.post({ count: 20 });
    const { status, headers, body } = await api.post({ count: 10 });
    expect([status, body]).toEqual([
      429,
      { _tag: 'RateLimitedError', retryAfterSeconds: 1, operation: 'sendBatch' },
    ]);
    expect(headers).toMatchObject({ ...limited, 'ratelimit-remaining': '5' });
    await test.clock.advance(1_000);
    expect((await api.post({ count: 10 })).status).toBe(200);
  });

  it('gives Retry-After until the buckets are full when refused before its size is known', async () => {
    await onPlan(test, 'growth');
    expect((await api.post({ count: 75 })).status).toBe(200);
    expect((await api.post({ count: 2 })).headers['retry-after']).toBe('3');
    await test.clock.advance(3_000);
    expect((await api.post({ count: 100 })).status).toBe(200);
  });

  it('draws one request for invalid input', async () => {
    await onPlan(test, 'growth');
    expect((await api.post({ count: 101 })).status).toBe(422);
    expect(admissionOf(test.app).stateOf(test.caller)?.remaining).toBe(24);
  });
});
