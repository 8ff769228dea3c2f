import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import { stores } from '../../support/command.ts';
import { type EmptyTestApp, emptyTestApp } from '../../support/test-app.ts';

describe.each(stores)('organizations on %s', (store) => {
  let test: EmptyTestApp;
  beforeEach(async () => {
    test = await emptyTestApp({ store });
  });
  afterEach(() => test.close());

  it('begin enabled and approved, in UTC, without a payment method', async () => {
    const made = await createOrganization(test.app, { name: 'acme', plan: 'free' });
    expect(made).toEqual({
      id: expect.stringMatching(/^org_[0-9a-hjkmnp-tv-z]{24}$/),
      name: 'acme',
      plan: 'free',
      paymentMethodOnFile: false,
      timezone: 'UTC',
      sendingStatus: 'enabled',
      pausedAt: null,
      pauseReason: null,
      onboarding: { status: 'approved', generation: 1 },
      tracking: { opens: false, clicks: false },
      metadataKeys: [],
      signIn: 'any',
      retention: { messagesDays: null, contentDays: null },
      createdAt: '2026-01-05T12:00:00.000Z',
    });
  });

  it('are found by id and by name', async () => {
    const input = { name: 'Acme Inc.', plan: 'scale', paymentMethodOnFile: true } as const;
    const made = await createOrganization(test.app, input);
    expect(await getOrganization(test.app, made.id)).toEqual(made);
    expect(await getOrganization(test.app, 'Acme Inc.')).toEqual(made);
    await expect(getOrganization(test.app, 'acme inc.')).rejects.toMatchObject({
      _tag: 'ResourceNotFoundError',
      resource: 'organization',
      id: 'acme inc.',
    });
  });

  it('have periods of retention, which can be taken back', async () => {
    const { id } = await createOrganization(test.app, { name: 'acme', plan: 'free' });
    const set = await updateOrganization(test.app, id, { messagesDays: 90, contentDays: 1 });
    expect(set.retention).toEqual({ messagesDays: 90, contentDays: 1 });
    await updateOrganization(test.app, id, { messagesDays: null });
    expect((await getOrganization(test.app, id)).retention).toEqual({
      messagesDays: null,
      contentDays: 1,
    });
  });

  it.each(['messagesDays', 'contentDays'] as const)(
    'refuse a %s that is not an age',
    async (name) => {
      const { id } = await createOrganization(test.app, { name: 'acme', plan: 'free' });
      for (const days of [0, -1, 1.5, 36_501, '30' as unknown as number]) {
        await expect(updateOrganization(test.app, id, { [name]: days })).rejects.toMatchObject({
          fieldErrors: { [name]: [expect.any(String)] },
        });
      }
    },
  );

  it('keep a given age, but not one in the future', async () => {
    const createdAt = '2025-01-01T02:00:00+02:00';
    const old = await createOrganization(test.app, { name: 'old', plan: 'free', createdAt });
    expect(old.createdAt).toBe('2025-01-01T00:00:00.000Z');
    await expect(
      createOrganization(test.app, {
        name: 'new',
        plan: 'free',
        createdAt: '2026-01-06T00:00:00Z',
      }),
    ).rejects.toMatchObject({ fieldErrors: { createdAt: ['is in the future'] } });
  });

  it('have a unique name, also in a race', async () => {
    const made = await Promise.allSettled(
      ['free', 'scale'].map((plan) => createOrganization(test.app, { name: 'acme', plan })),
    );
    expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(
      createOrganization(test.app, { name: 'acme', plan: 'free' }),
    ).rejects.toMatchObject({ _tag: 'ConflictError', resource: 'organization' });
  });

  it('have a plan of the configuration', async () => {
    await expect(
      createOrganization(test.app, { name: 'acme', plan: 'gold' }),
    ).rejects.toMatchObject({
      _tag: 'ValidationError',
      fieldErrors: { plan: ['is not one of free, starter, growth, scale, self-hosted'] },
    });
  });

  it.each([
    ['name', { name: '' }],
    ['name', { name: 'two\nlines' }],
    ['name', { name: ' padded' }],
    ['name', { name: 'org_lookalike' }],
    ['timezone', { timezone: 'Mars/Olympus' }],
    ['timezone', { timezone: '+02:00' }],
    ['createdAt', { createdAt: '2025-01-01' }],
  ])('are refused for a bad %s: %j', async (field, wrong) => {
    const input = { name: 'acme', plan: 'free', ...wrong };
    await expect(createOrganization(test.app, input)).rejects.toMatchObject({
      fieldErrors: { [field]: expect.anything() },
    });
    expect((await listOrganizations(test.app, { page: 1, limit: 20 })).items).toEqual([]);
  });

  it('are listed by page, oldest first', async () => {
    for (const name of ['a', 'b', 'c']) {
      await createOrganization(test.app, { name, plan: 'free' });
      await test.clock.advance(1_000);
    }
    const page = await listOrganizations(test.app, { page: 2, limit: 2 });
    expect(page.items.map(({ name }) => name)).toEqual(['c']);
    expect(page.pagination).toEqual({ page: 2, limit: 2, total: 3, totalPages: 2 });
  });
});

describe('plans of the configuration', () => {
  it('can be added', async () => {
    const gold = { ratePerSecond: 7, dailyEmails: 10, trialCaps: false };
    const test = await emptyTestApp({ config: { plans: { gold } } });
    try {
      const made = await createOrganization(test.app, { name: 'acme', plan: 'gold' });
      expect(made.plan).toBe('gold');
    } finally {
      await test.close();
    }
  });
});
