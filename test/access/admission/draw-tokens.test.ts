// Draws of many tokens for mail of the service's own time, alone and beside a second daemon.
import { describe, expect, it } from 'vitest';
import { admissionOf } from '../../../src/access/admission/admission.ts';
import { drawTokens } from '../../../src/access/admission/draw-tokens.ts';
import { eachApp } from '../../support/each-app.ts';
import { watchWrites } from '../../support/watched-writes.ts';
import { drain, onPlan, planTable } from './fixtures.ts';

describe.each(planTable)('drawing tokens on the plan $plan', ({ plan, rate, burst }) => {
  const test = eachApp();
  const drawer = () => ({ organizationId: test.caller.organizationId, keyId: null });

  it('draws all wanted tokens that the bucket has', async () => {
    await onPlan(test, plan);
    expect(await drawTokens(test.app, drawer(), burst)).toEqual({ drawn: burst, waitMs: 0 });
  });

  it('draws the available tokens and tells the time of the next', async () => {
    await onPlan(test, plan);
    const waitMs = 1_000 / rate;
    expect(await drawTokens(test.app, drawer(), burst + 500)).toEqual({ drawn: burst, waitMs });
    await test.clock.advance(waitMs - 1);
    expect(await drawTokens(test.app, drawer(), 500)).toEqual({ drawn: 0, waitMs: 1 });
    await test.clock.advance(1);
    expect(await drawTokens(test.app, drawer(), 500)).toEqual({ drawn: 1, waitMs });
  });

  it('shares the bucket with requests', async () => {
    await onPlan(test, plan);
    await drawTokens(test.app, drawer(), 3);
    expect(await drain(test.app, drawer())).toBe(burst - 3);
    expect(await drawTokens(test.app, drawer(), 1)).toMatchObject({ drawn: 0 });
  });

  it('leaves half of the bucket to requests', async () => {
    await onPlan(test, plan);
    const draw = () => drawTokens(test.app, drawer(), 500, { leavesHalf: true });
    const waitMs = 1_000 / rate;
    expect(await draw()).toEqual({ drawn: burst / 2, waitMs });
    expect(await drain(test.app, drawer())).toBe(burst / 2);
    await test.clock.advance(1_000);
    expect(await draw()).toEqual({ drawn: 0, waitMs });
    await test.clock.advance(1_000);
    expect(await draw()).toEqual({ drawn: rate, waitMs });
  });

  it('takes tokens back', async () => {
    await onPlan(test, plan);
    await drawTokens(test.app, drawer(), burst);
    await admissionOf(test.app).giveBack(drawer(), 4);
    expect(await drain(test.app, drawer())).toBe(4);
  });
});

describe('drawing tokens', () => {
  const test = eachApp();

  it('draws any number without a rate limit', async () => {
    const drawer = { organizationId: test.caller.organizationId, keyId: null };
    await onPlan(test, 'self-hosted');
    expect(await drawTokens(test.app, drawer, 5_000)).toEqual({ drawn: 5_000, waitMs: 0 });
  });
});

describe('drawing tokens beside a second daemon', () => {
  const test = eachApp({ store: 'postgres' });

  it('draws a burst exactly and in a handful of transactions', async () => {
    await onPlan(test, 'scale');
    const daemons = [test.app, await test.another()];
    const settled = daemons.map(({ store }) => watchWrites(store));
    for (const app of daemons) await admissionOf(app).start();
    try {
      for (let passed = 0; passed < 1_000; passed += 250) {
        await test.clock.advance(250);
        for (const written of settled) await written();
      }
      const { write } = test.app.store;
      let writes = 0;
      Object.assign(test.app.store, {
        write: (...args: Parameters<typeof write>) => {
          writes++;
          return write(...args);
        },
      });
      const drawer = { organizationId: test.caller.organizationId, keyId: null };
      const draws = daemons.map((app) => drawTokens(app, drawer, 90));
      const drawn = (await Promise.all(draws)).map((one) => one.drawn);
      expect(drawn.reduce((a, b) => a + b)).toBe(100);
      expect(writes).toBeLessThan(30);
    } finally {
      for (const app of daemons) await admissionOf(app).stop();
    }
  });
});
