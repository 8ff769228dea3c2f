// `svc plan show`: the limits, today's usage, the cap that binds now and the command that lifts it.
import { describe, expect, it } from 'vitest';
import { getPlanState } from '../../../src/access/admission/plan-state.ts';
import {
  createOrganization,
  pauseOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import { stores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { testApp } from '../../support/test-app.ts';
import { dayMs, onPlan, send, useToday } from './fixtures.ts';

describe.each(stores)('the state of a plan on %s', (store) => {
  const test = eachApp({ store });

  const binding = async (name = 'default') => {
    const { binds, liftedBy } = await getPlanState(test.app, name);
    return [binds, liftedBy];
  };

  it('shows rate, bursts, usage, remaining emails and the reset time', async () => {
    await onPlan(test, 'growth');
    const { id } = await createOrganization(test.app, { name: 'busy', plan: 'growth' });
    const { app, clock, caller } = test;
    for (const organizationId of [id, 'org_0']) {
      await useToday({ app, clock, caller: { ...caller, organizationId } }, 7);
    }
    await send(test.app, test.caller, { recipients: 3 });
    expect(await getPlanState(test.app, 'default')).toEqual({
      organizationId: test.caller.organizationId,
      name: 'default',
      plan: 'growth',
      sendingStatus: 'enabled',
      rate: { perSecond: 25, burst: 50, burstPerKey: 25 },
      daily: {
        usedEmails: 3,
        limitEmails: 20_000,
        remainingEmails: 19_997,
        resetsAt: '2026-01-07T00:00:00.000Z',
        caps: [{ reason: 'plan', emails: 20_000, endsAt: null }],
      },
      binds: '20,000 emails a day, by the plan growth.',
      liftedBy: 'svc orgs update default --plan scale',
    });
  });

  it('names the cap that binds first and the command that lifts it, until no cap is left', async () => {
    await onPlan(test, 'scale', { paymentMethodOnFile: false, isNew: true });
    expect(await binding()).toEqual([
      '100 emails a day, because no payment method is on file.',
      'svc orgs update default --payment-method',
    ]);
    await updateOrganization(test.app, 'default', { paymentMethodOnFile: true });
    expect(await binding()).toEqual([
      '200 emails a day in the first 24 hours, until 2026-01-06T12:00:00.000Z.',
      null,
    ]);
    await test.clock.advance(dayMs);
    expect(await binding()).toEqual([
      '100,000 emails a day, by the plan scale.',
      'svc orgs update default --plan self-hosted',
    ]);
    await updateOrganization(test.app, 'default', { plan: 'self-hosted' });
    expect(await binding()).toEqual(['There is no daily quota.', null]);
  });

  it('names a command that lifts the cap', async () => {
    await onPlan(test, 'free', { paymentMethodOnFile: false });
    await useToday(test, 100);
    expect(await send(test.app, test.caller)).not.toBeNull();
    const [, command] = await binding();
    expect(command).toBe('svc orgs update default --payment-method');
    await updateOrganization(test.app, 'default', { paymentMethodOnFile: true });
    expect(await send(test.app, test.caller)).toBeNull();
  });

  it('gives the reason of a paused organization, and the command that resumes it', async () => {
    await pauseOrganization(test.app, 'default', { note: 'A leaked key.' });
    expect(await binding()).toEqual([
      'Sending is paused: A leaked key.',
      'svc orgs resume default',
    ]);
  });

  it('quotes a name for the shell', async () => {
    await createOrganization(test.app, { name: "Ada's mail", plan: 'free' });
    expect(await binding("Ada's mail")).toEqual([
      '100 emails a day, because no payment method is on file.',
      "svc orgs update 'Ada'\\''s mail' --payment-method",
    ]);
  });
});

it('the state of a plan missing from the configuration is that of `free`, and names the missing plan', async () => {
  const gone = { ratePerSecond: 1, dailyEmails: 7, trialCaps: false };
  const test = await testApp({ config: { plans: { gone } } });
  await onPlan(test, 'gone');
  expect(await getPlanState(test.app, 'default')).toMatchObject({ daily: { limitEmails: 7 } });
  Reflect.deleteProperty(test.app.config.plans, 'gone');
  expect(await getPlanState(test.app, 'default')).toMatchObject({
    rate: { perSecond: 5, burst: 10, burstPerKey: 5 },
    daily: { limitEmails: 1_000 },
    binds: '1,000 emails a day, by the plan free, because the configuration has no plan gone.',
    liftedBy: 'svc orgs update default --plan starter',
  });
  await test.close();
});
