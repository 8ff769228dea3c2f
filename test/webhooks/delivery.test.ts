// The state table of a delivery (src/webhooks/posting/settle.ts), each move against a real receiver
// on loopback: retries and their times, ends, and the state of failing endpoints.
import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import type { App } from '../../src/core/app.ts';
import { redeliverNow } from '../../src/webhooks/deliveries/redeliver.ts';
import { updateWebhook } from '../../src/webhooks/endpoints/webhooks.ts';
import { createWebhookLoop, type WebhookLoop } from '../../src/webhooks/posting/loop.ts';
import { stores } from '../support/command.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { leap } from '../support/virtual-clock.ts';
import {
  attemptRows,
  countsOf,
  deliveryRow,
  endpointRow,
  loopbackConfig,
  makeDeliveries,
  makeEndpoint,
  type Receiver,
  receiver,
  secret,
  status,
  until,
} from './engine.ts';

const hourMs = 3600_000;
const dayMs = 24 * hourMs;
const schedule = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

describe.each(stores)('a delivery, on %s', (store) => {
  let test: TestApp;
  let app: App;
  let loop: WebhookLoop;
  let to: Receiver;
  beforeEach(async () => {
    test = await testApp({ store, config: loopbackConfig });
    app = test.app;
    to = await receiver();
    loop = createWebhookLoop(app);
    await loop.start();
  });
  afterEach(async () => {
    await loop.stop(0);
    await to.close();
    await test.close();
  });

  /** Advances the clock until the attempt of this number was made and settled. */
  async function attempted(id: string, number: number): Promise<void> {
    const { attempt_count, due_at } = await deliveryRow(app, id);
    if (attempt_count < number && due_at !== null && (await isUnclaimed(id))) {
      await passTime(due_at - test.clock.now());
    }
    await until(async () => (await deliveryRow(app, id)).attempt_count === number);
    await loop.idle();
  }

  /**
   * Advances hours by a leap of the wall clock, because a PostgreSQL store has 17,000 timers a day.
   */
  async function passTime(ms: number): Promise<void> {
    if (ms <= hourMs / 2) await test.clock.advance(Math.max(0, ms));
    else await leap(test, ms);
    // A step under way as time passed has its timer in the past: it has to be woken.
    await loop.idle();
  }

  async function isUnclaimed(id: string): Promise<boolean> {
    return (await deliveryRow(app, id)).claimed_by === null;
  }

  async function one(more: Parameters<typeof makeDeliveries>[3] = {}) {
    const endpoint = await makeEndpoint(test, to.url);
    const [id = ''] = await makeDeliveries(test, endpoint, 1, more);
    return { endpoint, id };
  }

  it('succeeds with a 2xx, signed, with its body', async () => {
    const headers = { 'x-own': 'yes' };
    const endpoint = await makeEndpoint(test, to.url, { plainHeaders: headers });
    const [id = ''] = await makeDeliveries(test, endpoint, 1);
    await loop.idle();
    await until(async () => (await deliveryRow(app, id)).status === 'delivered');
    const row = await deliveryRow(app, id);
    expect(row).toMatchObject({ attempt_count: 1, due_at: null, claimed_by: null });
    const [got] = to.received;
    expect(got?.headers).toMatchObject({ 'webhook-id': row.event_id, 'x-own': 'yes' });
    expect(got?.headers['accept-encoding']).toBe('identity');
    vi.useFakeTimers({ now: test.clock.now(), toFake: ['Date'] });
    try {
      expect(new Webhook(secret).verify(got?.body ?? '', got?.headers ?? {})).toEqual({
        type: 'domain.verified',
        timestamp: new Date(row.created_at).toISOString(),
        data: { id: 'dom_1', name: 'a' },
        organizationId: test.caller.organizationId,
      });
    } finally {
      vi.useRealTimers();
    }
    const [made] = await attemptRows(app, id);
    expect(made).toMatchObject({ trigger: 'automatic', outcome: 'succeeded', status_code: 204 });
    const { counted, byRows } = await countsOf(app, endpoint);
    expect(counted).toEqual(byRows);
  });

  it('passes the whole schedule with jitter within a fifth, then is exhausted', async () => {
    to.answer = status(500, {}, 'no\u0007room');
    const { endpoint, id } = await one();
    // Over two days without a success, within the five that would disable it.
    await attempted(id, 1);
    const factors: number[] = [];
    for (let made = 1; made < schedule.length; made++) {
      const row = await deliveryRow(app, id);
      expect(row).toMatchObject({ status: 'pending', attempt_count: made, claimed_by: null });
      factors.push(((row.due_at ?? 0) - test.clock.now()) / ((schedule[made] ?? 0) * 1000));
      await attempted(id, made + 1);
    }
    expect(await deliveryRow(app, id)).toMatchObject({
      status: 'exhausted',
      attempt_count: schedule.length,
      due_at: null,
    });
    for (const factor of factors) {
      expect(factor).toBeGreaterThanOrEqual(0.8 - 1e-3);
      expect(factor).toBeLessThanOrEqual(1.2 + 1e-3);
    }
    expect(Math.max(...factors) - Math.min(...factors)).toBeGreaterThan(0.1);
    const made = await attemptRows(app, id);
    expect(made).toHaveLength(schedule.length);
    expect(made[0]).toMatchObject({ error_class: 'status', status_code: 500, response: 'no room' });
    expect(new Set(to.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(to.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(to.received.map(({ headers }) => headers['webhook-signature'])).size).toBe(
      schedule.length,
    );
    const { counted, byRows } = await countsOf(app, endpoint);
    expect(counted).toEqual(byRows);
    expect(counted).toMatchObject({ pending: 0, exhausted: 1 });
  });

  it.each([
    ['the least', 0, 0.8],
    ['the middle', 0.5, 1],
    ['the most', 1 - 2 ** -32, 1.2],
  ])('is delayed by its jitter: %s', async (_name, float, factor) => {
    to.answer = status(500);
    vi.spyOn(app.random, 'float').mockReturnValue(float);
    const { id } = await one();
    await attempted(id, 1);
    expect((await deliveryRow(app, id)).due_at).toBe(test.clock.now() + 5_000 * factor);
    await attempted(id, 2);
    expect((await deliveryRow(app, id)).due_at).toBe(test.clock.now() + 300_000 * factor);
  });

  it.each([
    ['seconds of a 429', 429, '120', 120_000],
    ['seconds of a 503', 503, ' 7200 ', 7_200_000],
    ['more than a day', 503, '999999999', dayMs],
    ['a date', 429, 'Mon, 05 Jan 2026 13:00:00 GMT', hourMs],
  ])('is delayed by the Retry-After: %s', async (_name, code, header, waitMs) => {
    to.answer = status(code, { 'retry-after': header });
    const { id } = await one();
    await attempted(id, 1);
    expect((await deliveryRow(app, id)).due_at).toBe(test.clock.now() + waitMs);
  });

  it.each([
    ['is sooner than the schedule', 503, '1'],
    ['is a date of the past', 503, 'Mon, 05 Jan 2026 11:00:00 GMT'],
    ['is malformed', 429, 'soon'],
    ['comes with another status', 500, '7200'],
  ])('follows the schedule when the Retry-After %s', async (_name, code, header) => {
    to.answer = status(code, { 'retry-after': header });
    vi.spyOn(app.random, 'float').mockReturnValue(0.5);
    const { id } = await one();
    await attempted(id, 1);
    expect((await deliveryRow(app, id)).due_at).toBe(test.clock.now() + 5_000);
  });

  it('fails at a redirect, which is not followed', async () => {
    const other = await receiver();
    to.answer = status(307, { location: other.url });
    const { id } = await one();
    await attempted(id, 1);
    expect(await deliveryRow(app, id)).toMatchObject({ status: 'pending', attempt_count: 1 });
    expect((await attemptRows(app, id))[0]).toMatchObject({
      status_code: 307,
      error_class: 'status',
    });
    expect(other.received).toEqual([]);
    await other.close();
  });

  it('is exhausted by a 410, which disables the endpoint and cancels queued ones', async () => {
    const warn = vi.spyOn(app.log, 'warn');
    const endpoint = await makeEndpoint(test, to.url);
    const later = { due_at: test.clock.now() + hourMs };
    const behind = await makeDeliveries(test, endpoint, 1_500, later);
    to.answer = status(410);
    const [id = ''] = await makeDeliveries(test, endpoint, 1);
    await until(async () => (await endpointRow(app, endpoint)).status === 'disabled');
    await until(async () => {
      const { byRows } = await countsOf(app, endpoint);
      return byRows.cancelled === behind.length;
    });
    expect(await deliveryRow(app, id)).toMatchObject({ status: 'exhausted', attempt_count: 1 });
    expect(await endpointRow(app, endpoint)).toMatchObject({
      disabled_reason: 'it answered with status 410',
    });
    const { counted, byRows } = await countsOf(app, endpoint);
    expect(counted).toEqual(byRows);
    expect(counted).toEqual({ pending: 0, delivered: 0, exhausted: 1, cancelled: 1_500 });
    const { rows } = await sql<{ subject: string; data: string }>`
      select subject, data from resource_events where event_type = 'webhook.disabled'`.execute(
      app.store.db,
    );
    expect(rows.map(({ subject }) => subject)).toEqual([endpoint]);
    expect(rows[0]?.data).not.toContain('whsec_');
    const lines = warn.mock.calls.filter(([, text]) => /disabled/.test(String(text)));
    expect(lines).toEqual([
      [
        {
          endpointId: endpoint,
          organizationId: test.caller.organizationId,
          host: new URL(to.url).host,
          reason: 'it answered with status 410',
        },
        'a webhook endpoint was disabled',
      ],
    ]);
  });

  it('disables an endpoint that fails for days without a success', async () => {
    to.answer = status(500);
    const { endpoint, id } = await one();
    await attempted(id, 1);
    const since = test.clock.now();
    expect((await endpointRow(app, endpoint)).failing_since).toBe(since);
    // One success restarts the count of days.
    to.answer = status(200);
    await passTime(4 * dayMs);
    await until(async () => (await deliveryRow(app, id)).status === 'delivered');
    expect((await endpointRow(app, endpoint)).failing_since).toBe(null);
    to.answer = status(500);
    const [second = ''] = await makeDeliveries(test, endpoint, 1);
    await attempted(second, 1);
    await passTime(5 * dayMs - 1);
    expect((await endpointRow(app, endpoint)).status).toBe('active');
    await test.clock.advance(1);
    const [third = ''] = await makeDeliveries(test, endpoint, 1);
    await until(async () => (await endpointRow(app, endpoint)).status === 'disabled');
    expect(await deliveryRow(app, third)).toMatchObject({ status: 'cancelled', attempt_count: 1 });
    expect(await endpointRow(app, endpoint)).toMatchObject({
      disabled_reason: 'it failed for 5 days without a success',
    });
    const { counted, byRows } = await countsOf(app, endpoint);
    expect(counted).toEqual(byRows);
  });

  it('of an endpoint enabled again starts clean: earlier pending ones are cancelled', async () => {
    const now = test.clock.now();
    const before = { status: 'active', cancel_before: now, failing_since: null } as const;
    const endpoint = await makeEndpoint(test, to.url, before);
    const [old = ''] = await makeDeliveries(test, endpoint, 1, { created_at: now - 1 });
    const [fresh = ''] = await makeDeliveries(test, endpoint, 1);
    await until(async () => (await deliveryRow(app, fresh)).status === 'delivered');
    expect(await deliveryRow(app, old)).toMatchObject({ status: 'cancelled', attempt_count: 0 });
    expect(to.received).toHaveLength(1);
    const { counted, byRows } = await countsOf(app, endpoint);
    expect(counted).toEqual(byRows);
  });

  it('under way across disabling and enabling does not count for the time after', async () => {
    const held: (() => void)[] = [];
    to.answer = (_request, response) => held.push(() => response.writeHead(500).end());
    const { endpoint, id } = await one();
    await until(() => held.length === 1);
    await test.clock.advance(1);
    for (const given of ['disabled', 'active'] as const) {
      await updateWebhook(app, test.caller, endpoint, { status: given });
    }
    held[0]?.();
    await until(async () => (await deliveryRow(app, id)).status === 'cancelled');
    expect(await endpointRow(app, endpoint)).toMatchObject({
      status: 'active',
      failing_since: null,
    });
  });

  it('is tried again under its id after its daemon died', async () => {
    await loop.stop(0);
    const leaseEnds = test.clock.now() + 90_000;
    const dead = { claimed_by: 'wrk_dead', due_at: leaseEnds };
    const { id } = await one(dead);
    loop = createWebhookLoop(app);
    await loop.start();
    if (store === 'postgres') {
      await passTime(89_000);
      expect(await deliveryRow(app, id)).toMatchObject(dead);
      await passTime(1_000);
    }
    await until(async () => (await deliveryRow(app, id)).status === 'delivered');
    const { event_id } = await deliveryRow(app, id);
    expect(to.received.map(({ headers }) => headers['webhook-id'])).toEqual([event_id]);
  });

  it('is cancelled when its daemon died and its endpoint was disabled', async () => {
    await loop.stop(0);
    const dead = { claimed_by: 'wrk_dead', due_at: test.clock.now() + 90_000 };
    const { endpoint, id } = await one(dead);
    await updateWebhook(app, test.caller, endpoint, { status: 'disabled' });
    expect(await deliveryRow(app, id)).toMatchObject({ status: 'pending', ...dead });
    await test.clock.advance(90_000);
    loop = createWebhookLoop(app);
    await loop.start();
    await until(async () => (await deliveryRow(app, id)).status === 'cancelled');
    expect(await deliveryRow(app, id)).toMatchObject({ due_at: null, claimed_by: null });
    expect(to.received).toEqual([]);
  });

  it('is not changed by an attempt after another daemon took its lease', async () => {
    const held: (() => void)[] = [];
    to.answer = (_request, response) => held.push(() => response.writeHead(200).end());
    const { id } = await one();
    await until(() => held.length === 1);
    const { due_at } = await deliveryRow(app, id);
    await app.store.write((trx) =>
      sql`update webhook_deliveries set claimed_by = 'wrk_other' where id = ${id}`.execute(trx),
    );
    held[0]?.();
    await loop.idle();
    expect(await deliveryRow(app, id)).toMatchObject({
      status: 'pending',
      attempt_count: 0,
      claimed_by: 'wrk_other',
      due_at,
    });
    expect(await attemptRows(app, id)).toEqual([]);
  });

  it('is handed back at a stop without counting an attempt', async () => {
    to.answer = () => {};
    const { id } = await one();
    await until(() => to.received.length === 1);
    await loop.stop(0);
    expect(await deliveryRow(app, id)).toMatchObject({
      status: 'pending',
      attempt_count: 0,
      claimed_by: null,
      due_at: test.clock.now(),
    });
    loop = createWebhookLoop(app);
    to.answer = status(204);
    await loop.start();
    await until(async () => (await deliveryRow(app, id)).status === 'delivered');
  });

  it.each([
    ['pending', { due_at: Date.UTC(2026, 0, 6), attempt_count: 3 }],
    ['delivered', { status: 'delivered', due_at: null, attempt_count: 1 }],
    ['exhausted', { status: 'exhausted', due_at: null, attempt_count: 10 }],
    ['cancelled', { status: 'cancelled', due_at: null, attempt_count: 2 }],
  ] as const)('keeps its state when it is redelivered: %s', async (_name, columns) => {
    const endpoint = await makeEndpoint(test, to.url, { status: 'disabled' });
    await loop.stop(0);
    const [id = ''] = await makeDeliveries(test, endpoint, 1, columns);
    const before = await deliveryRow(app, id);
    for (const code of [200, 500, 410]) {
      to.answer = status(code);
      const answer = await redeliverNow(app, test.caller, endpoint, id);
      const outcome = code === 200 ? 'succeeded' : 'failed';
      expect(answer).toMatchObject({ accepted: true, deliveryId: id, outcome });
    }
    expect(await deliveryRow(app, id)).toEqual(before);
    expect(await attemptRows(app, id)).toMatchObject([
      { trigger: 'manual', status_code: 200 },
      { trigger: 'manual', status_code: 500 },
      { trigger: 'manual', status_code: 410 },
    ]);
    expect(new Set(to.received.map(({ body }) => body)).size).toBe(1);
    loop = createWebhookLoop(app);
  });

  it('ends the failing days of its endpoint by a successful redelivery', async () => {
    to.answer = status(500);
    const { endpoint, id } = await one();
    await attempted(id, 1);
    const since = test.clock.now();
    const failingSince = async () => (await endpointRow(app, endpoint)).failing_since;
    await redeliverNow(app, test.caller, endpoint, id);
    expect(await failingSince()).toBe(since);
    to.answer = status(200);
    await redeliverNow(app, test.caller, endpoint, id);
    expect(await failingSince()).toBe(null);
  });

  it("has two attempts when redelivered twice at once, beside the loop's own", async () => {
    const held: (() => void)[] = [];
    to.answer = (_request, response) => held.push(() => response.writeHead(200).end());
    const { endpoint, id } = await one();
    await until(() => held.length === 1);
    const before = await deliveryRow(app, id);
    const twice = [1, 2].map(() => redeliverNow(app, test.caller, endpoint, id));
    await until(() => held.length === 3);
    for (const answer of held.slice(1)) answer();
    await Promise.all(twice);
    expect(await deliveryRow(app, id)).toEqual(before);
    held[0]?.();
    await until(async () => (await deliveryRow(app, id)).status === 'delivered');
    const made = await attemptRows(app, id);
    expect(made.filter(({ trigger }) => trigger === 'manual')).toHaveLength(2);
    expect(made.filter(({ trigger }) => trigger === 'automatic')).toHaveLength(1);
  });

  it('is redelivered while another organization redelivers as much as it may', async () => {
    const held: (() => void)[] = [];
    to.answer = (_request, response) => held.push(() => response.writeHead(500).end());
    const endpoint = await makeEndpoint(test, to.url, { status: 'disabled' });
    const [id = ''] = await makeDeliveries(test, endpoint, 1, {
      status: 'exhausted',
      due_at: null,
    });
    const redeliver = () => redeliverNow(app, test.caller, endpoint, id);
    const many = Array.from({ length: 60 }, redeliver);
    const ended = Promise.allSettled(many);
    await until(() => held.length === 36);
    await expect(redeliver()).rejects.toMatchObject({ _tag: 'CapacityError' });
    const { id: organizationId } = await createOrganization(app, { name: 'Other', plan: 'free' });
    const other = { ...test, caller: { ...test.caller, organizationId } };
    // Disabled and exhausted, like the first: else the loop posts it as well.
    const theirs = await makeEndpoint(other, to.url, { status: 'disabled' });
    const [their = ''] = await makeDeliveries(other, theirs, 1, {
      status: 'exhausted',
      due_at: null,
    });
    const redelivered = redeliverNow(app, other.caller, theirs, their);
    await until(() => held.length === 37);
    for (const answer of held) answer();
    expect(await redelivered).toMatchObject({ outcome: 'failed' });
    const outcomes = (await ended).map((one) => one.status);
    expect(outcomes.filter((one) => one === 'fulfilled')).toHaveLength(36);
    to.answer = status(200);
    expect(await redeliver()).toMatchObject({ outcome: 'succeeded' });
  });

  it('that cannot be signed returns its place at a redelivery', async () => {
    await loop.stop(0);
    const { endpoint, id } = await one();
    await app.store.write((trx) =>
      sql`update webhook_endpoints set secret = 'of another key' where id = ${endpoint}`.execute(
        trx,
      ),
    );
    const fifty = Array.from({ length: 50 }, () => redeliverNow(app, test.caller, endpoint, id));
    expect((await Promise.allSettled(fifty)).map(({ status: is }) => is)).toEqual(
      Array(50).fill('rejected'),
    );
    const [next] = await Promise.allSettled([redeliverNow(app, test.caller, endpoint, id)]);
    expect(next).not.toMatchObject({ reason: { _tag: 'CapacityError' } });
    expect(next?.status).toBe('rejected');
    loop = createWebhookLoop(app);
  });

  it('answers 404 for another organization and under another endpoint', async () => {
    const { endpoint, id } = await one();
    const other = await makeEndpoint(test, to.url);
    const stranger = { ...test.caller, organizationId: 'org_0000000000000000000000' };
    await expect(redeliverNow(app, stranger, endpoint, id)).rejects.toMatchObject({ status: 404 });
    await expect(redeliverNow(app, test.caller, other, id)).rejects.toMatchObject({ status: 404 });
  });

  it('is not held back by a million deliveries to a dead endpoint', async () => {
    const dead = await makeEndpoint(test, to.url.replace('/hook', '/dead'));
    const held: unknown[] = [];
    to.answer = (request, response) => {
      if (request.url === '/dead') held.push(response);
      else response.writeHead(204).end();
    };
    await makeDeliveries(test, dead, 300);
    await until(() => held.length === 5);
    const { id } = await one();
    await until(async () => (await deliveryRow(app, id)).status === 'delivered');
    expect(held).toHaveLength(5);
  });

  it('precedes replays', async () => {
    await loop.stop(0);
    const endpoint = await makeEndpoint(test, to.url);
    const replays = await makeDeliveries(test, endpoint, 10, { is_replay: 1 });
    await test.clock.advance(1_000);
    const live = await makeDeliveries(test, endpoint, 10);
    loop = createWebhookLoop(app);
    await loop.start();
    await until(async () => (await countsOf(app, endpoint)).byRows.delivered === 20);
    const order = await Promise.all(
      to.received.map(async ({ headers }) => {
        const rows = await sql<{ id: string }>`select id from webhook_deliveries
          where event_id = ${headers['webhook-id']}`.execute(app.store.db);
        return rows.rows[0]?.id ?? '';
      }),
    );
    expect(new Set(order.slice(0, 10))).toEqual(new Set(live));
    expect(new Set(order.slice(10))).toEqual(new Set(replays));
  });
});
