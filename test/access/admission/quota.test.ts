// Specification 8.2 and 7 rules 3 and 4: the quota of the UTC day, the trial caps, the mail that
// counts, exactness under concurrency, and the pause. On both stores.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  pauseOrganization,
  resumeOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import { rowCounts } from '../../outbound/messages/fixtures.ts';
import { bothStores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { type TestApp, testApp, testStart } from '../../support/test-app.ts';
import { dayMs, onPlan, planTable, send, usedToday, useToday } from './fixtures.ts';

function refusal(currentUsage: number, limit: number) {
  return {
    _tag: 'PaymentRequiredError',
    resource: 'daily-emails',
    currentUsage,
    limit,
    operation: 'sendMessage',
  };
}

describe.each(bothStores)('the daily quota (8.2) on %s', (store) => {
  let test: TestApp;
  beforeEach(async () => {
    const tiny = { ratePerSecond: 1, dailyEmails: 3, trialCaps: true };
    test = await testApp({ store, config: { plans: { tiny } } });
  });
  afterEach(() => test.close());

  const sendOne = (options = {}) => send(test.app, test.caller, options);

  it.each(planTable)('allows $daily emails a day on the plan $plan', async ({ plan, daily }) => {
    await onPlan(test, plan);
    await useToday(test, daily - 1);
    expect(await sendOne()).toBeNull();
    expect(await sendOne()).toEqual(refusal(daily, daily));
    expect((await usedToday(test)).emails).toBe(daily);
  });

  it('counts emails on the plan self-hosted without any quota or trial cap', async () => {
    await useToday(test, 1_000_000);
    expect(await sendOne()).toBeNull();
    expect((await usedToday(test)).emails).toBe(1_000_001);
  });

  it.each(planTable)(
    'allows 100 emails a day on the plan $plan without a payment method',
    async ({ plan }) => {
      await onPlan(test, plan, { paymentMethodOnFile: false });
      await useToday(test, 99);
      expect(await sendOne()).toBeNull();
      expect(await sendOne()).toEqual(refusal(100, 100));
    },
  );

  it.each(planTable)(
    'allows 200 emails a day on the plan $plan in the first 24 hours',
    async ({ plan }) => {
      await onPlan(test, plan, { isNew: true });
      await useToday(test, 199);
      expect(await sendOne()).toBeNull();
      expect(await sendOne()).toEqual(refusal(200, 200));
    },
  );

  it('takes the lower cap, 100, for a new organization without payment method', async () => {
    await onPlan(test, 'scale', { paymentMethodOnFile: false, isNew: true });
    await useToday(test, 100);
    expect(await sendOne()).toEqual(refusal(100, 100));
  });

  it('takes the quota of the plan where it is below the trial caps', async () => {
    await onPlan(test, 'tiny', { paymentMethodOnFile: false, isNew: true });
    expect(await sendOne({ recipients: 3 })).toBeNull();
    expect(await sendOne()).toEqual(refusal(3, 3));
  });

  it('ends the first 24 hours to the millisecond', async () => {
    await onPlan(test, 'free', { isNew: true });
    await test.clock.advance(dayMs - 1);
    await useToday(test, 200);
    expect(await sendOne()).toEqual(refusal(200, 200));
    await test.clock.advance(1);
    expect(await sendOne()).toBeNull();
  });

  it('resets at the turn of the UTC day', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 100);
    const midnight = Math.ceil(testStart / dayMs) * dayMs + dayMs;
    await test.clock.advance(midnight - 1 - test.clock.now());
    expect(await sendOne()).toEqual(refusal(100, 100));
    await test.clock.advance(1);
    expect(await sendOne()).toBeNull();
    expect(await usedToday(test)).toEqual({ emails: 1, messages: 1 });
  });

  it('rises from the next send on with a payment method or a higher plan', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 100);
    const command = await test.another();
    expect(await sendOne()).toEqual(refusal(100, 100));
    await updateOrganization(command, 'default', { paymentMethodOnFile: true });
    expect(await sendOne()).toBeNull();
    await useToday(test, 899);
    expect(await sendOne()).toEqual(refusal(1_000, 1_000));
    await updateOrganization(command, 'default', { plan: 'starter' });
    expect(await sendOne()).toBeNull();
  });

  it('counts one email per distinct accepted recipient', async () => {
    await onPlan(test, 'free');
    const cc = [{ email: 'R0@EXAMPLE.com' }, { email: 'r0@example.com' }, { email: 'x@y.example' }];
    expect(await sendOne({ recipients: 2, top: { cc } })).toBeNull();
    // r0 and r1, and x: the two of cc that differ from r0 in case alone are r0.
    expect((await rowCounts(test.app)).deliveries).toBe(3);
    expect(await usedToday(test)).toEqual({ emails: 3, messages: 1 });
  });

  it('accepts one address twice as the last email of the quota', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 99);
    const cc = [{ email: 'R0@EXAMPLE.com' }];
    expect(await sendOne({ recipients: 1, top: { cc } })).toBeNull();
    expect((await usedToday(test)).emails).toBe(100);
    expect(await sendOne()).toEqual(refusal(100, 100));
  });

  it('accepts a request whole or not at all, and still accepts a smaller one', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 98);
    expect(await sendOne({ recipients: 3 })).toEqual(refusal(98, 100));
    expect(await sendOne({ recipients: 2 })).toBeNull();
    expect((await usedToday(test)).emails).toBe(100);
  });

  it('leaves neither usage nor rows behind after any refusal', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 100);
    const before = await rowCounts(test.app);
    expect(await sendOne({ idempotencyKey: 'k' })).toMatchObject({ _tag: 'PaymentRequiredError' });
    const stranger = { from: { email: 'someone@unverified.example' } };
    expect(await sendOne({ top: stranger })).toMatchObject({ _tag: 'ForbiddenError' });
    expect(await sendOne({ top: { conversationId: 'conv_0000000000000000' } })).toMatchObject({
      _tag: 'ResourceNotFoundError',
    });
    expect(await rowCounts(test.app)).toEqual(before);
    expect(await usedToday(test)).toEqual({ emails: 100, messages: 100 });
  });

  it('replays an idempotent send beyond the quota, without charge', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 99);
    expect(await sendOne({ idempotencyKey: 'k' })).toBeNull();
    for (let i = 0; i < 3; i++) expect(await sendOne({ idempotencyKey: 'k' })).toBeNull();
    expect((await usedToday(test)).emails).toBe(100);
    const crowd = Array.from({ length: 20 }, () => sendOne({ idempotencyKey: 'k' }));
    expect(await Promise.all(crowd)).toEqual(crowd.map(() => null));
    expect((await usedToday(test)).emails).toBe(100);
  });

  it('releases the idempotency key of a refused request for its retry', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 99);
    expect(await sendOne({ idempotencyKey: 'k', recipients: 2 })).toEqual(refusal(99, 100));
    expect(await sendOne({ idempotencyKey: 'k', recipients: 1 })).toBeNull();
  });

  it('counts test keys and the simulator like all other mail', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    const to = [{ email: 'delivered@simulator.test' }];
    expect(await send(test.app, { ...test.caller, isTest: true }, { top: { to } })).toBeNull();
    expect(await usedToday(test)).toEqual({ emails: 1, messages: 1 });
  });

  it('accepts exactly the remaining emails of 200 concurrent sends', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    const crowd = Array.from({ length: 200 }, () => sendOne());
    const answers = await Promise.all(crowd);
    expect(answers.filter((answer) => answer === null)).toHaveLength(100);
    const refusals = answers.filter((answer) => answer !== null);
    expect(refusals).toEqual(refusals.map(() => refusal(100, 100)));
    expect(await usedToday(test)).toEqual({ emails: 100, messages: 100 });
    expect((await rowCounts(test.app)).deliveries).toBe(100);
  });

  it('accepts exactly the remaining emails of 200 concurrent sends with one to four recipients', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    const sizes = Array.from({ length: 200 }, (_, index) => 1 + (index % 4));
    const answers = await Promise.all(sizes.map((recipients) => sendOne({ recipients })));
    const accepted = sizes.filter((_, index) => answers[index] === null);
    expect(accepted.reduce((sum, size) => sum + size, 0)).toBe(100);
    expect((await usedToday(test)).emails).toBe(100);
  });
});

describe('the daily quota (8.2) with two daemons on postgres', () => {
  const test = eachApp({ store: 'postgres' });

  it('accepts exactly the remaining emails of 200 concurrent sends to both', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 50);
    const apps = [test.app, await test.another()];
    const crowd = Array.from({ length: 200 }, (_, index) =>
      send(apps[index % 2] ?? test.app, test.caller, { recipients: 1 + (index % 3) }),
    );
    const answers = await Promise.all(crowd);
    const refused = answers.filter((answer) => answer !== null);
    for (const answer of refused) expect(answer).toMatchObject({ _tag: 'PaymentRequiredError' });
    expect((await usedToday(test)).emails).toBe(100);
    expect((await rowCounts(test.app)).deliveries).toBe(50);
  });

  it('charges one idempotency key at both daemons once', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    const apps = [test.app, await test.another()];
    const crowd = Array.from({ length: 40 }, (_, index) =>
      send(apps[index % 2] ?? test.app, test.caller, { idempotencyKey: `k${index % 5}` }),
    );
    expect(await Promise.all(crowd)).toEqual(crowd.map(() => null));
    expect(await usedToday(test)).toEqual({ emails: 5, messages: 5 });
  });
});

describe.each(bothStores)('a paused organization (7.4) on %s', (store) => {
  const test = eachApp({ store });

  it('answers every send with a 403 that gives the reason, until it is resumed', async () => {
    const note = '12.4% of the last 1,250 messages bounced (limit 5%)';
    const operator = await test.another();
    await pauseOrganization(operator, 'default', { note });
    const crowd = Array.from({ length: 20 }, () => send(test.app, test.caller));
    for (const answer of await Promise.all(crowd)) {
      expect(answer).toEqual({ _tag: 'ForbiddenError', message: `Sending is paused: ${note}.` });
    }
    expect((await rowCounts(test.app)).messages).toBe(0);
    expect((await usedToday(test)).emails).toBe(0);
    await resumeOrganization(operator, 'default');
    expect(await send(test.app, test.caller)).toBeNull();
  });

  it('refuses before the quota is checked, and after missing resources', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 100);
    await pauseOrganization(test.app, 'default', {});
    expect(await send(test.app, test.caller)).toEqual({
      _tag: 'ForbiddenError',
      message: 'Sending is paused: the operator paused it.',
    });
    const top = { conversationId: 'conv_0000000000000000' };
    expect(await send(test.app, test.caller, { top })).toMatchObject({
      _tag: 'ResourceNotFoundError',
    });
  });

  it('still replays a send accepted before the pause', async () => {
    expect(await send(test.app, test.caller, { idempotencyKey: 'k' })).toBeNull();
    await pauseOrganization(test.app, 'default', {});
    expect(await send(test.app, test.caller, { idempotencyKey: 'k' })).toBeNull();
    expect((await rowCounts(test.app)).messages).toBe(1);
  });
});
