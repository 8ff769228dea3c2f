// `POST /v1/messages/scheduled` (specification 4.8, 8.1, 8.2) on both stores, by a virtual clock:
// the stored rows, the time of the send, the quotas it waits for, and that a crash neither loses
// nor doubles.
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admissionOf } from '../../../src/access/admission/admission.ts';
import {
  pauseOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import type { App } from '../../../src/core/app.ts';
import { explainMessage } from '../../../src/outbound/explain/explain.ts';
import { getMessage } from '../../../src/outbound/messages/messages.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { scheduledPayload } from '../../../src/outbound/messages/send-schema.ts';
import { flushQueue, retryDeliveries } from '../../../src/outbound/queue/desk/queue.ts';
import { resumeSending } from '../../../src/outbound/queue/desk/resume.ts';
import { askForQuota } from '../../../src/outbound/queue/schedule/scheduled.ts';
import { scheduleMessage } from '../../../src/outbound/sending/schedule/schedule.ts';
import { createBlock } from '../../../src/people/blocks/blocks.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { clockJumpsOf } from '../../../src/platform/runtime/clock-jumps.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { onPlan, usedToday, useToday } from '../../access/admission/fixtures.ts';
import { bothStores } from '../../support/command.ts';
import {
  firstDelivery,
  type RunningPipeline,
  startPipeline,
  timeline,
} from '../../support/delivery.ts';
import { type TestApp, testApp, testStart } from '../../support/test-app.ts';
import { payload, rowCounts } from '../messages/fixtures.ts';
import { type ServedApi, servedApi } from '../sending/fixtures.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe('the body of a scheduled send', () => {
  let test: TestApp;
  let api: ServedApi;
  beforeAll(async () => {
    test = await testApp();
    api = servedApi(test);
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  const post = (more: Record<string, unknown>) =>
    api.post<{ _tag: string; fields: Record<string, string[]> }>(
      '/v1/messages/scheduled',
      payload({}, more),
    );

  it.each([
    ['past', '2026-01-05T11:59:59.999Z', /is past/],
    ['beyond a year', '2027-01-05T12:00:00.001Z', /within a year/],
    ['without an offset', '2026-01-06T12:00:00', /offset/],
    ['a bare date', '2026-01-06', /offset/],
    ['a number', testStart + hourMs, /offset/],
    ['missing', undefined, /offset/],
    ['no time at all', 'tomorrow', /offset/],
    ['impossible', '2026-02-30T12:00:00Z', /offset/],
  ])('with this time answers 422 naming scheduledFor: %s', async (_name, scheduledFor, words) => {
    const { status, body } = await post({ scheduledFor });
    expect([status, body._tag]).toEqual([422, 'ValidationError']);
    expect(Object.keys(body.fields)).toEqual(['scheduledFor']);
    expect(body.fields.scheduledFor?.[0]).toMatch(words);
    expect(await rowCounts(test.app)).toMatchObject({ deliveries: 0 });
  });

  it.each([
    ['', 422],
    ['x'.repeat(256), 422],
    ['a\nb', 422],
    ['x'.repeat(255), 201],
    [null, 201],
  ])('takes an idempotencyKey of 1 to 255 characters or none (%#)', async (key, expected) => {
    const scheduledFor = '2026-01-05T12:00:00Z';
    const { status, body } = await post({ scheduledFor, idempotencyKey: key });
    expect(status).toBe(expected);
    if (status === 422) expect(Object.keys(body.fields)).toEqual(['idempotencyKey']);
  });
});

describe.each(bothStores)('scheduled sends on %s', (store) => {
  let test: TestApp;
  let api: ServedApi;
  const running: RunningPipeline[] = [];
  beforeEach(async () => {
    test = await testApp({ store });
    api = servedApi(test);
  });
  afterEach(async () => {
    for (const pipeline of running.splice(0)) await pipeline.close();
    await api.close();
    await test.close();
  });

  const at = (ms: number) => isoTime(ms);
  const post = (scheduledFor: unknown, top: Record<string, unknown> = {}) =>
    api.post<Message & Record<string, unknown>>(
      '/v1/messages/scheduled',
      payload({}, { scheduledFor, ...top }),
    );

  async function start(app: App = test.app): Promise<RunningPipeline> {
    const pipeline = await startPipeline(app, { worker: `wrk_${running.length}` });
    running.push(pipeline);
    return pipeline;
  }

  /** Schedules `count` messages for one time; returns their ids. */
  async function schedule(count: number, time: number, recipients = 1): Promise<string[]> {
    const { app, caller } = test;
    const to = Array.from({ length: recipients }, (_, index) => ({ email: `r${index}@a.example` }));
    const scheduled = scheduledPayload.parse(payload({}, { to, scheduledFor: at(time) }));
    const messages = Array.from({ length: count }, () => scheduleMessage(app, caller, scheduled));
    return (await Promise.all(messages)).map(({ id }) => id);
  }

  /** Advances the clock in small steps, and finishes the due work of each. */
  async function pass(ms: number, stepMs: number, pipelines = running): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await test.clock.advance(Math.min(stepMs, ms - passed));
      for (const pipeline of pipelines) await pipeline.idle();
    }
  }

  /** Returns the times at which sent messages were queued, in ms after `start`, sorted. */
  async function departures(start: number): Promise<number[]> {
    const { rows } = await sql<{ at: number }>`select timestamp as at from events
      where event_type = 'queued' order by timestamp`.execute(test.app.store.db);
    return rows.map((row) => Number(row.at) - start);
  }

  describe('acceptance', () => {
    it('answers 201 scheduled, with one event, without drawing on rate or quota', async () => {
      await onPlan(test, 'free');
      const time = test.clock.now() + hourMs;
      const { status, body } = await post(at(time));
      expect(status).toBe(201);
      expect(body).toMatchObject({
        status: 'scheduled',
        scheduledFor: at(time),
        recipients: [{ status: 'scheduled' }],
        deliveries: [
          {
            status: 'scheduled',
            queuedAt: null,
            scheduling: { dueAt: at(time), waitReason: null },
          },
        ],
      });
      expect(await timeline(test.app, test.caller, body.id)).toEqual(['scheduled:scheduled']);
      expect(await usedToday(test)).toEqual({ emails: 0, messages: 0 });
      const { organizationId } = test.caller;
      expect(await admissionOf(test.app).tryDraw({ organizationId, keyId: null }, 10)).toBe(0);
    });

    it('takes any offset, the present, and the last instant of a year', async () => {
      const { clock } = test;
      const local = await post('2026-01-05T15:30:00.250+02:30');
      expect(local.body.scheduledFor).toBe('2026-01-05T13:00:00.250Z');
      expect((await post(at(clock.now()))).status).toBe(201);
      expect((await post('2027-01-05T12:00:00.000Z')).status).toBe(201);
    });

    it('refuses an unverified sender, a paused organization and an unknown field', async () => {
      const time = at(test.clock.now() + hourMs);
      const stranger = { from: { email: 'someone@unverified.example' } };
      expect((await post(time, stranger)).status).toBe(403);
      expect((await post(time, { nonsense: 1 })).status).toBe(422);
      await pauseOrganization(test.app, 'default', {});
      expect((await post(time)).status).toBe(403);
    });
  });

  describe('the idempotencyKey in the body', () => {
    it('makes one message, also for a repeat after its time', async () => {
      const time = at(test.clock.now() + 1_000);
      const first = await post(time, { idempotencyKey: 'k' });
      const again = await post('2026-01-05T14:00:01+02:00', { idempotencyKey: 'k' });
      expect([again.status, again.body]).toEqual([201, first.body]);
      await test.clock.advance(5_000);
      const late = await post(time, { idempotencyKey: 'k' });
      expect([late.status, late.body]).toEqual([201, first.body]);
      expect(await rowCounts(test.app)).toMatchObject({ messages: 1, deliveries: 1 });
    });

    it('with other content or another time answers 409', async () => {
      const time = test.clock.now() + hourMs;
      await post(at(time), { idempotencyKey: 'k' });
      expect((await post(at(time + 1), { idempotencyKey: 'k' })).status).toBe(409);
      expect((await post(at(time), { idempotencyKey: 'k', tags: ['x'] })).status).toBe(409);
    });
  });

  describe('departure', () => {
    it('happens at the exact time and counts on that day', async () => {
      const { app, caller, clock } = test;
      const pipeline = await start();
      const time = clock.now() + 30 * dayMs;
      const [id = ''] = await schedule(1, time, 3);
      // The queue polls each minute: two hours of polls show as much as thirty days.
      clock.set(time - 2 * hourMs);
      await pass(2 * hourMs - 1, hourMs);
      expect((await getMessage(app, caller, id)).status).toBe('scheduled');
      await clock.advance(1);
      await pipeline.idle();
      const message = await getMessage(app, caller, id);
      expect(message.status).toBe('delivered');
      expect(message.deliveries[0]).toMatchObject({ queuedAt: at(time), sentAt: at(time) });
      expect((await timeline(app, caller, id)).slice(0, 3)).toEqual([
        'scheduled:scheduled',
        'queued:queued',
        'processing:processing',
      ]);
      expect(await usedToday(test)).toEqual({ emails: 3, messages: 1 });
    });

    it('follows once at the next start when no daemon ran', async () => {
      const { app, caller, clock } = test;
      const [id = ''] = await schedule(1, clock.now() + hourMs);
      await clock.advance(2 * hourMs);
      for (let starts = 0; starts < 2; starts++) {
        const pipeline = await startPipeline(await test.another());
        await pipeline.idle();
        await pipeline.close();
      }
      const events = await timeline(app, caller, id);
      expect(events.filter((event) => event === 'queued:queued')).toHaveLength(1);
      expect((await firstDelivery(app, caller, id)).attemptCount).toBe(1);
    });

    it.each([
      ['free', 5],
      ['scale', 50],
    ])('8.1: is paced on plan %s at %d a second after the burst', async (plan, rate) => {
      await onPlan(test, plan);
      const time = test.clock.now() + hourMs;
      const count = 2 * rate + 10;
      await schedule(count, time);
      await start();
      await pass(hourMs, hourMs);
      await pass(10_000 / rate, 1_000 / rate);
      const expected = Array.from({ length: count }, (_, index) =>
        Math.max(0, ((index - 2 * rate + 1) * 1_000) / rate),
      );
      expect(await departures(time)).toEqual(expected);
    });

    it('8.1: shares the bucket with direct sends, and waits for the reason rate', async () => {
      const { app, caller, clock } = test;
      await onPlan(test, 'free');
      const { organizationId } = caller;
      const [id = ''] = await schedule(1, clock.now() + hourMs);
      const pipeline = await start();
      await clock.advance(hourMs - 1);
      expect(await admissionOf(app).tryDraw({ organizationId, keyId: null }, 10)).toBe(0);
      await clock.advance(1);
      await pipeline.idle();
      const waiting = await firstDelivery(app, caller, id);
      expect(waiting).toMatchObject({ status: 'scheduled', scheduling: { waitReason: 'rate' } });
      expect(waiting.scheduling?.dueAt).toBe(at(clock.now() + 199));
      const [why] = (await explainMessage(app, caller, id)).recipients;
      expect(why?.because).toMatch(/already sends at the rate of its plan/);
      await clock.advance(199);
      await pipeline.idle();
      expect((await getMessage(app, caller, id)).status).toBe('delivered');
    });

    it('8.1: reserves a token of its own for each delayed message', async () => {
      const { app, caller, clock } = test;
      await onPlan(test, 'free');
      const { organizationId } = caller;
      const due = clock.now() + hourMs;
      const [first, second] = [await schedule(6, due), await schedule(3, due + 100)];
      const pipeline = await start();
      await clock.advance(hourMs - 1);
      expect(await admissionOf(app).tryDraw({ organizationId, keyId: null }, 10)).toBe(0);
      const reservedTimes = async (ids: string[]) => {
        const found = await Promise.all(ids.map((id) => firstDelivery(app, caller, id)));
        const times = found.map(({ scheduling }) => Date.parse(scheduling?.dueAt ?? '') - due);
        return times.sort((a, b) => a - b);
      };
      await clock.advance(1);
      await pipeline.idle();
      expect(await reservedTimes(first)).toEqual([199, 399, 599, 799, 999, 1_199]);
      await clock.advance(100);
      await pipeline.idle();
      expect(await reservedTimes(second)).toEqual([1_399, 1_599, 1_799]);
    });

    it('8.2: waits for the next UTC day without room in the quota', async () => {
      const { app, caller, clock } = test;
      await onPlan(test, 'free', { paymentMethodOnFile: false });
      await useToday(test, 97);
      const time = clock.now() + hourMs;
      const ids = await schedule(3, time, 2);
      const pipeline = await start();
      await pass(hourMs, hourMs);
      const statuses = async () =>
        (await Promise.all(ids.map((id) => getMessage(app, caller, id)))).map((one) => one.status);
      expect((await statuses()).sort()).toEqual(['delivered', 'scheduled', 'scheduled']);
      expect((await usedToday(test)).emails).toBe(99);
      const midnight = Math.ceil(time / dayMs) * dayMs;
      const waiting = ids[(await statuses()).indexOf('scheduled')] ?? '';
      expect((await firstDelivery(app, caller, waiting)).scheduling).toMatchObject({
        dueAt: at(midnight),
        waitReason: 'daily-quota',
      });
      const [why] = (await explainMessage(app, caller, waiting)).recipients;
      expect(why?.help?.command).toBe('svc plan show');
      clock.set(midnight - hourMs);
      // On PostgreSQL nothing is due by the new time within a minute after the daemon finds it.
      clockJumpsOf(app).look();
      await pass(hourMs - 1, hourMs);
      expect(await statuses()).toContain('scheduled');
      await clock.advance(1);
      await pipeline.idle();
      expect(new Set(await statuses())).toEqual(new Set(['delivered']));
      expect(await usedToday(test)).toEqual({ emails: 4, messages: 2 });
    });

    it('8.2: follows at once on a higher plan', async () => {
      const { app, caller, clock } = test;
      await onPlan(test, 'free', { paymentMethodOnFile: false });
      await useToday(test, 100);
      const [id = ''] = await schedule(1, clock.now() + hourMs);
      const pipeline = await start();
      await pass(hourMs, hourMs);
      expect((await firstDelivery(app, caller, id)).scheduling?.waitReason).toBe('daily-quota');
      await updateOrganization(app, 'default', { paymentMethodOnFile: true });
      await askForQuota(app, caller.organizationId);
      await pipeline.idle();
      expect((await getMessage(app, caller, id)).status).toBe('delivered');
    });

    it('waits as tenant-health during a pause, then follows by rate and quota', async () => {
      const { app, caller, clock } = test;
      await onPlan(test, 'free');
      const ids = await schedule(12, clock.now() + hourMs);
      const pipeline = await start();
      await pauseOrganization(app, 'default', {});
      await pass(hourMs, hourMs);
      const [id = ''] = ids;
      expect((await firstDelivery(app, caller, id)).scheduling?.waitReason).toBe('tenant-health');
      expect((await usedToday(test)).emails).toBe(0);
      await resumeSending(app, 'default');
      await pipeline.idle();
      expect((await usedToday(test)).emails).toBe(10);
      await pass(400, 200);
      expect((await usedToday(test)).emails).toBe(12);
    });

    it('leaves out recipients blocked since the scheduling', async () => {
      const { app, caller, clock } = test;
      const [blocked = ''] = await schedule(1, clock.now() + hourMs, 2);
      await createBlock(app, caller, { address: 'r1@a.example', reason: 'unsubscribe' });
      await start();
      await pass(hourMs, hourMs);
      const { recipients, deliveries } = await getMessage(app, caller, blocked);
      expect(recipients.map(({ status }) => status)).toEqual(['delivered', 'failed']);
      expect(deliveries[1]).toMatchObject({ errorCode: 'suppressed', attemptCount: 0 });
    });

    it('is cancelled when the sender may not send any more', async () => {
      const { app, caller, clock } = test;
      const [refused = ''] = await schedule(1, clock.now() + hourMs);
      const pipeline = await start();
      await app.store.write((trx) => sql`update domains set status = 'failed'`.execute(trx));
      await app.store.write((trx) => sql`update senders set verified_at = null`.execute(trx));
      await pass(hourMs, hourMs);
      await pipeline.idle();
      expect(await timeline(app, caller, refused)).toEqual([
        'scheduled:scheduled',
        'cancelled:failed',
      ]);
      expect(await firstDelivery(app, caller, refused)).toMatchObject({
        errorCode: 'cancelled',
        errorMessage: expect.stringMatching(/hello@sandbox.test may not send/),
      });
    });

    it('is not brought forward by retry or flush', async () => {
      const { app, caller, clock } = test;
      const [id = ''] = await schedule(1, clock.now() + hourMs);
      await expect(retryDeliveries(app, [id])).rejects.toThrow(/is scheduled for/);
      expect(await flushQueue(app, {})).toEqual({ flushed: 0 });
      await (await start()).idle();
      expect((await getMessage(app, caller, id)).status).toBe('scheduled');
    });
  });

  it('happens once for each message over daemons that crash between any two writes', async () => {
    const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
    const random = seededRandom(seed);
    await onPlan(test, 'free');
    const time = test.clock.now() + hourMs;
    const count = 30;
    const ids = await schedule(count, time, 2);
    await test.clock.advance(hourMs);
    let crashes = 0;
    for (let round = 0; round < 200 && (await usedToday(test)).messages < count; round++) {
      // The first four daemons die at one write each, the others at a random one.
      const writes = round < 4 ? round : Math.floor(random.float() * 7);
      const app = await dyingApp(writes, random.float() < 0.5, () => crashes++);
      const pipeline = await startPipeline(app, { worker: `wrk_${round}` }).catch(() => null);
      if (pipeline) {
        for (let steps = 0; steps < 3; steps++) {
          await pipeline.idle();
          await test.clock.advance(1_000);
        }
        await pipeline.close();
      }
      // On PostgreSQL the leases of dead daemons must run out.
      await test.clock.advance(61_000);
    }
    const last = await start();
    await pass(180_000, 30_000, [last]);
    const seen = `seed ${seed}, ${crashes} crashes`;
    expect(crashes, seen).toBeGreaterThan(3);
    expect((await departures(time)).length, seen).toBe(count);
    expect(await usedToday(test), seen).toEqual({ emails: 2 * count, messages: count });
    const { rows } = await sql<{ n: number }>`select count(*) as n from deliveries
      where status = 'delivered' and attempt_count >= 1`.execute(test.app.store.db);
    expect(Number(rows[0]?.n), seen).toBe(2 * count);
    expect(ids).toHaveLength(count);
  });

  /** Starts a daemon whose writes fail after this many, the next one perhaps after its commit. */
  async function dyingApp(writes: number, afterCommit: boolean, onCrash: () => void): Promise<App> {
    const { store } = test.app;
    let writesLeft = writes;
    const dead = () => {
      throw new Error('the daemon is dead');
    };
    const write: typeof store.write = async (work, durability) => {
      if (writesLeft < 0) return dead();
      if (writesLeft-- > 0) return store.write(work, durability);
      onCrash();
      if (afterCommit) await store.write(work, durability);
      return dead();
    };
    return { ...test.app, store: { ...store, write } };
  }

  it.runIf(store === 'postgres')(
    'happens once for each message with two daemons, at the rate of one',
    async () => {
      await onPlan(test, 'free');
      const other = await test.another();
      const time = test.clock.now() + hourMs;
      await schedule(25, time);
      await start();
      await start(other);
      await pass(hourMs, hourMs);
      await pass(5_000, 200);
      const gone = await departures(time);
      expect(gone).toHaveLength(25);
      // Departures never exceed burst and rate.
      for (const [index, after] of gone.entries()) {
        expect(after).toBeGreaterThanOrEqual(Math.max(0, (index - 9) * 200));
      }
      expect((await usedToday(test)).messages).toBe(25);
    },
  );
});
