// The pace of a run by a virtual clock, on both stores: the rates of the four plans, shared with
// direct sends to the exact request, the daily quota to the last email, changes of the plan, and
// the limit of its own queue. Slow: runs of thousands of recipients at the rates of four plans.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { updateOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Run } from '../../../src/campaigns/setup/run-schema.ts';
import type { CampaignLoop } from '../../../src/campaigns/walk/loop.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import {
  ask,
  dayMs,
  drain,
  onPlan,
  planTable,
  send,
  usedToday,
  useToday,
} from '../../access/admission/fixtures.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { makeCampaign, makeContacts, makeRun, readRun, whileWalking } from './fixtures.ts';

const stepMs = 100;
/** Watched seconds, by store: steps are slow on PostgreSQL. */
const secondsOn = { sqlite: 10, postgres: 3 };

describe.each(stores)('the pace of a run on %s', (store) => {
  const test = eachApp({ store });
  const seconds = secondsOn[store];
  const drawer = () => ({ organizationId: test.caller.organizationId, keyId: null });
  const read = (run: Run) => readRun(test.app, test.operator, run);

  async function runTo(contacts: number): Promise<Run> {
    await makeContacts(test.app, test.operator, contacts);
    const campaignId = await makeCampaign(test.app, test.operator);
    return makeRun(test.app, test.operator, campaignId);
  }

  /** Advances the clock in steps; the run continues at each. */
  async function pass(loop: CampaignLoop, ms: number, each = async () => {}) {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await test.clock.advance(stepMs);
      await loop.idle();
      await each();
    }
  }

  describe.each(planTable)('on the plan $plan', ({ plan, rate, burst }) => {
    it('is half of the burst, then the rate, and leaves the other half to requests', async () => {
      await onPlan(test, plan);
      const run = await runTo(burst + 20 * rate);
      await whileWalking(test.app, async (loop) => {
        await loop.idle();
        expect(await read(run)).toMatchObject({
          status: 'running',
          dispatchedCount: burst / 2,
          waitReason: 'rate',
          nextDispatchAt: isoTime(test.clock.now() + 1_000 / rate),
        });
        await pass(loop, seconds * 1_000);
        expect((await read(run)).dispatchedCount).toBe(burst / 2 + seconds * rate);
        expect(await drain(test.app, drawer())).toBe(burst / 2);
      });
    });

    it('shares the rate with direct sends to the exact request', async () => {
      await onPlan(test, plan);
      const run = await runTo(burst + 20 * rate);
      await whileWalking(test.app, async (loop) => {
        await loop.idle();
        let direct = await drain(test.app, drawer());
        // Direct sends take part of the rate, then all that they can get.
        let passed = 0;
        await pass(loop, seconds * 1_000, async () => {
          passed += stepMs;
          if (passed % 2_000 === 0) {
            for (let sent = 0; sent < rate; sent++) {
              if ((await ask(test.app, drawer())) === null) direct++;
            }
          }
        });
        direct += await drain(test.app, drawer());
        const { dispatchedCount } = await read(run);
        expect(dispatchedCount + direct).toBe(burst + seconds * rate);
        expect(dispatchedCount).toBeGreaterThan(rate);
      });
    });
  });

  it('ends at the last email of the quota and continues at midnight UTC', async () => {
    await onPlan(test, 'scale');
    await updateOrganization(test.app, 'default', { plan: 'free' });
    await useToday(test, 990);
    const run = await runTo(25);
    const midnight = Math.ceil(test.clock.now() / dayMs) * dayMs;
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      await pass(loop, 5_000);
      expect(await read(run)).toMatchObject({
        status: 'running',
        dispatchedCount: 10,
        waitReason: 'daily-quota',
        nextDispatchAt: isoTime(midnight),
      });
      expect(await usedToday(test)).toMatchObject({ emails: 1_000 });
      expect(await send(test.app, test.caller)).toMatchObject({ _tag: 'PaymentRequiredError' });
      await test.clock.advance(midnight - 1 - test.clock.now());
      await loop.idle();
      expect((await read(run)).dispatchedCount).toBe(10);
      await test.clock.advance(1);
      await loop.idle();
      await pass(loop, 5_000);
      expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 25 });
      expect(await usedToday(test)).toMatchObject({ emails: 15 });
    });
  });

  it('continues within 30 seconds of a larger plan', async () => {
    await onPlan(test, 'free');
    await useToday(test, 1_000);
    const run = await runTo(3);
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      expect(await read(run)).toMatchObject({ dispatchedCount: 0, waitReason: 'daily-quota' });
      await updateOrganization(test.app, 'default', { plan: 'starter' });
      await pass(loop, 30_000);
      expect(await read(run)).toMatchObject({ status: 'completed', dispatchedCount: 3 });
    });
  });

  it('slows down on a smaller plan and waits for its quota', async () => {
    await onPlan(test, 'scale');
    await useToday(test, 995);
    const run = await runTo(300);
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      expect((await read(run)).dispatchedCount).toBe(50);
      await updateOrganization(test.app, 'default', { plan: 'free' });
      await pass(loop, 5_000);
      expect(await read(run)).toMatchObject({
        status: 'running',
        dispatchedCount: 50,
        waitReason: 'daily-quota',
      });
    });
  });

  it('has at most 5,000 messages in the queue', async () => {
    const run = await runTo(5_200);
    await whileWalking(test.app, async (loop) => {
      await loop.idle();
      expect(await read(run)).toMatchObject({
        status: 'running',
        dispatchedCount: 5_000,
        waitReason: 'queue',
      });
      const left = sql`update deliveries set due_at = null where id in (
        select id from deliveries where campaign_run_id = ${run.id} limit 150)`;
      await test.app.store.write((trx) => left.execute(trx));
      await pass(loop, 1_000);
      expect(await read(run)).toMatchObject({ dispatchedCount: 5_150, waitReason: 'queue' });
    });
  });
});
