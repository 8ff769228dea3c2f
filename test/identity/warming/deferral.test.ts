// `direct: defer`: first attempts of a warming domain take places of its open window, and the rest
// of its mail waits in the queue for the next one.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { warmedDomains } from '../../../src/identity/warming/warmed-domains.ts';
import {
  cancelWarming,
  getWarming,
  pauseWarming,
  resumeWarming,
  startWarming,
} from '../../../src/identity/warming/warming.ts';
import { moveWindows } from '../../../src/identity/warming/windows.ts';
import { releaseClaims } from '../../../src/outbound/deliveries/claim-queries.ts';
import { explainMessage } from '../../../src/outbound/explain/explain.ts';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { claimMessages } from '../../../src/outbound/queue/claiming/claim.ts';
import { DeferredMail } from '../../../src/outbound/queue/claiming/deferred.ts';
import { payload } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { noLimits, startPipeline } from '../../support/delivery.ts';
import { eachApi } from '../../support/each-app.ts';
import { watchQueries } from '../../support/watched-queries.ts';
import { dayMs, hourMs, inShort, outcomes, provenDomain, ramp, sendTo, warm } from './fixtures.ts';

const from = { email: `news@${warm}` };
/** Windows of 4, 8 and 10 recipients. */
const small = { ...ramp, initialDailyRecipients: 4, targetDailyRecipients: 10 };

describe.each(stores)('a warming plan that defers direct sends on %s', (store) => {
  const { test, api } = eachApi({ store });
  let domainId: string;
  let deferred: DeferredMail;
  beforeEach(async () => {
    domainId = await provenDomain(test.app, test.operator);
    deferred = new DeferredMail(test.app);
  });

  const begin = (direct: 'count' | 'defer' = 'defer', app: App = test.app) =>
    startWarming(app, test.operator, domainId, { ...small, direct });
  const show = () => getWarming(test.app, test.operator, domainId);

  /** Claims as a daemon does, and returns the number of deliveries. */
  async function claim(app: App = test.app, worker = 'wrk_test'): Promise<number> {
    const options = { worker, leaseMs: 100 * dayMs, limit: 100 };
    const { messages } = await claimMessages(app, noLimits(app), options);
    return messages.flatMap(({ deliveries }) => deliveries).length;
  }
  /** Frees what may go, then claims. */
  async function step(): Promise<number> {
    await deferred.free();
    return claim();
  }
  async function waiting(): Promise<Record<string, unknown>[]> {
    const query = sql<Record<string, unknown>>`
      select wait_reason, lane, count(*) as count from deliveries
      where lane is not null group by wait_reason, lane`;
    const { rows } = await query.execute(test.app.store.db);
    return rows.map((row) => ({ ...row, count: Number(row['count']) }));
  }
  const inLane = async () => (await waiting()).map(({ count }) => count);
  async function nextWindow(): Promise<void> {
    await test.clock.advance(dayMs);
    await moveWindows(test.app);
  }

  it('is started by `direct: defer`; the default is `count`', async () => {
    const path = `/v1/email/domains/${domainId}/warming`;
    const start = (more: object) =>
      api.post<{ plan: { direct: string } }>(path, { ...small, ...more });
    expect((await start({ direct: 'later' })).status).toBe(422);
    expect((await start({})).body.plan.direct).toBe('count');
    await cancelWarming(test.app, test.operator, domainId, {});
    expect((await start({ direct: 'defer' })).body.plan.direct).toBe('defer');
    expect((await show()).plan.direct).toBe('defer');
  });

  it('lets the allowance go and keeps the rest with the reason `rate`, accepted once', async () => {
    await begin();
    await sendTo(test.app, test.operator, 15);
    expect(await claim()).toBe(4);
    const lane = `warming ${test.operator.organizationId} ${warm}`;
    expect(await waiting()).toEqual([{ wait_reason: 'rate', lane, count: 11 }]);
    expect(await step()).toBe(0);
    await nextWindow();
    expect(await step()).toBe(8);
    expect(await inLane()).toEqual([3]);
    await nextWindow();
    expect(await step()).toBe(3);
    expect(await inLane()).toEqual([]);
    expect(inShort(await show())).toEqual(['1 closed 4 15', '2 closed 8 0', '3 open 10 0']);
  });

  it('lets all mail go with `count`', async () => {
    await begin('count');
    await sendTo(test.app, test.operator, 15);
    expect(await claim()).toBe(15);
  });

  it('never delays mail of other domains', async () => {
    await begin();
    await provenDomain(test.app, test.operator, 'other.example');
    await sendTo(test.app, test.operator, 15);
    await sendTo(test.app, test.operator, 15, 'other.example');
    expect(await claim()).toBe(4 + 15);
  });

  it('sends the oldest waiting mail first', async () => {
    await begin();
    const ids: string[] = [];
    for (let i = 0; i < 8; i++) {
      const sent = await api.post<Message>('/v1/messages', payload({}, { from }));
      ids.push(sent.body.id);
      await test.clock.advance(1_000);
    }
    expect(await claim()).toBe(4);
    await nextWindow();
    await deferred.free();
    const options = { worker: 'wrk_test', leaseMs: dayMs * 100, limit: 2 };
    const { messages } = await claimMessages(test.app, noLimits(test.app), options);
    expect(messages.map(({ message }) => message.id)).toEqual(ids.slice(4, 6));
  });

  it('takes one place for all attempts of a delivery', async () => {
    await begin();
    await sendTo(test.app, test.operator, 4);
    expect(await claim()).toBe(4);
    await test.app.store.write((trx) => releaseClaims(trx, null, test.clock.now()));
    await sendTo(test.app, test.operator, 1);
    expect(await step()).toBe(4);
    expect(await inLane()).toEqual([1]);
  });

  it('sends the waiting mail at once when it is cancelled', async () => {
    await begin();
    await sendTo(test.app, test.operator, 15);
    expect(await claim()).toBe(4);
    await cancelWarming(test.app, test.operator, domainId, {});
    expect(await step()).toBe(11);
  });

  it('sends the waiting mail at once when another process cancels it', async () => {
    await begin();
    await sendTo(test.app, test.operator, 15);
    expect(await step()).toBe(4);
    const other = await test.another();
    await cancelWarming(other, test.operator, domainId, {});
    expect(await step()).toBe(11);
  });

  it('sends the waiting mail at once when it is completed', async () => {
    await begin();
    await sendTo(test.app, test.operator, 4 + 8 + 10 + 5);
    const sent: number[] = [await claim()];
    for (let i = 0; i < 3; i++) {
      await nextWindow();
      sent.push(await step());
    }
    expect((await show()).plan.status).toBe('completed');
    expect(sent).toEqual([4, 8, 10, 5]);
  });

  it('keeps the waiting mail until the resume if it is paused when its window ends', async () => {
    await begin();
    await sendTo(test.app, test.operator, 15);
    expect(await claim()).toBe(4);
    await pauseWarming(test.app, test.operator, domainId, {});
    await nextWindow();
    expect(await step()).toBe(0);
    await resumeWarming(test.app, test.operator, domainId, {});
    expect(await step()).toBe(8);
  });

  it('keeps the waiting mail until the resume if it is held', async () => {
    await begin();
    await sendTo(test.app, test.operator, 15);
    expect(await claim()).toBe(4);
    await outcomes(test.app, test.operator, { attempted: 100, hard_bounced: 5 });
    await nextWindow();
    expect((await show()).plan.status).toBe('held');
    expect(await step()).toBe(0);
    await resumeWarming(test.app, test.operator, domainId, { note: 'The list is clean' });
    expect(await step()).toBe(4);
  });

  it('lets mail go at its age limit without a place', async () => {
    await begin();
    await sendTo(test.app, test.operator, 6);
    expect(await claim()).toBe(4);
    await pauseWarming(test.app, test.operator, domainId, {});
    const { maxAgeHours } = test.app.config.delivery.retry;
    await test.clock.advance(maxAgeHours * hourMs - 1);
    await moveWindows(test.app);
    expect(await step()).toBe(0);
    await test.clock.advance(1);
    expect(await step()).toBe(2);
  });

  it('gives places that others left to waiting mail within a minute', async () => {
    await begin();
    await sendTo(test.app, test.operator, 6);
    expect(await step()).toBe(4);
    const gaveUp = sql`update warming_plans set taken_recipients = 3`;
    await test.app.store.write((trx) => gaveUp.execute(trx), 'now');
    expect(await step()).toBe(0);
    await test.clock.advance(60_000);
    expect(await step()).toBe(1);
  });

  it('defers scheduled mail when it falls due', async () => {
    await begin();
    const scheduledFor = new Date(test.clock.now() + hourMs).toISOString();
    const to = Array.from({ length: 6 }, (_, index) => ({ email: `u${index}@example.com` }));
    const body = payload({}, { from, to, scheduledFor });
    expect((await api.post('/v1/messages/scheduled', body)).status).toBe(201);
    expect(await step()).toBe(0);
    const pipeline = await startPipeline(test.app);
    try {
      await test.clock.advance(hourMs + 60_000);
      await pipeline.idle();
      expect(await inLane()).toEqual([2]);
      await nextWindow();
      await test.clock.advance(60_000);
      await pipeline.idle();
      expect(await inLane()).toEqual([]);
    } finally {
      await pipeline.close();
    }
    expect(inShort(await show())).toEqual(['1 closed 4 6', '2 open 8 0', '3 scheduled 10 0']);
  });

  it('lets the daemon send the waiting mail of a cancelled plan', async () => {
    await begin();
    await sendTo(test.app, test.operator, 15);
    const pipeline = await startPipeline(test.app);
    try {
      await test.clock.advance(1_000);
      await pipeline.idle();
      expect(await inLane()).toEqual([11]);
      await cancelWarming(test.app, test.operator, domainId, {});
      await test.clock.advance(1_000);
      await expect.poll(inLane).toEqual([]);
    } finally {
      await pipeline.close();
    }
  });

  it('never lets two daemons exceed the allowance together', async () => {
    const other = await test.another();
    await begin();
    for (const app of [test.app, other]) await warmedDomains(app).deferring();
    for (let i = 0; i < 12; i++) await sendTo(test.app, test.operator, 1);
    const two = (app: App, worker: string) =>
      claimMessages(app, noLimits(app), { worker, leaseMs: dayMs * 100, limit: 3 });
    const claimed = await Promise.all([
      two(test.app, 'wrk_a'),
      two(other, 'wrk_b'),
      two(test.app, 'wrk_a'),
      two(other, 'wrk_b'),
    ]);
    expect(claimed.flatMap(({ messages }) => messages)).toHaveLength(4);
    expect(await claim()).toBe(0);
    expect(await inLane()).toEqual([8]);
  });

  it('is the reason that `explain` gives', async () => {
    await begin();
    await sendTo(test.app, test.operator, 4);
    await claim();
    const sent = await api.post<Message>('/v1/messages', payload({}, { from }));
    await claim();
    const [explained] = (await explainMessage(test.app, test.operator, sent.body.id)).recipients;
    expect(explained).toMatchObject({
      waitReason: 'rate',
      because: `The warming plan of ${warm} defers it: its window has no room left.`,
      next: expect.stringMatching(/^It is sent when a window of the plan has room, at the latest /),
    });
  });

  it('costs a claim without such a plan one read of a counter each half second', async () => {
    await begin('count');
    await sendTo(test.app, test.operator, 1);
    await step();
    const queries = watchQueries();
    const asked = async () => {
      await sendTo(test.app, test.operator, 1);
      queries.take();
      await step();
      return queries.take().filter(({ text }) => /warming_(plans|changes)/.test(text)).length;
    };
    try {
      expect(await asked()).toBe(0);
      await test.clock.advance(500);
      expect(await asked()).toBe(1);
      expect(await asked()).toBe(0);
    } finally {
      queries.stop();
    }
  });
});
