// Specification 8, row by row of its tables, each test named by its number, on both stores. The sentences
// around the tables: rate-limit.test.ts (8.1, one daemon), shared.test.ts (8.1, several), quota.test.ts
// (8.2). Of 8.3 the rows on webhooks, custom tracking, warming, template restore, and on tags and labels
// of contacts, conversations and threads come with those resources.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { routes } from '../../daemon/http/routes.ts';
import { admissionOf, type Drawer } from '../../src/admission/admission.ts';
import { listDomains } from '../../src/domains/domains.ts';
import { createKey } from '../../src/keys/keys.ts';
import { updateOrganization } from '../../src/organizations/organizations.ts';
import { payload } from '../messages/fixtures.ts';
import { type HttpApi, httpApi } from '../support/http-client.ts';
import { stores, type TestApp, testApp } from '../support/test-app.ts';
import {
  dayMs,
  drain,
  drawers,
  type LimitedApi,
  limitedApi,
  onPlan,
  planTable,
  send,
  usedToday,
  useToday,
} from './fixtures.ts';

describe.each(stores)('section 8 on %s', (store) => {
  let test: TestApp;
  let api: LimitedApi;
  let keys: string[];
  beforeAll(async () => {
    test = await testApp({ store });
    await onPlan(test, 'free');
    await admissionOf(test.app).start();
    api = limitedApi(test);
    const { app, operator } = test;
    keys = [];
    for (let i = 0; i < 3; i++) {
      keys.push((await createKey(app, operator, { role: 'owner' })).key ?? '');
    }
  });
  afterAll(async () => {
    await admissionOf(test.app).stop();
    await api.close();
    await test.close();
  });

  describe.each(planTable)('8.1 plan $plan', ({ plan, rate, burst, keyBurst }) => {
    beforeEach(async () => {
      await updateOrganization(test.app, 'default', { plan });
      // The change is seen within a second, and the buckets fill up.
      await test.clock.advance(1_000);
      await drain(test.app, { organizationId: test.caller.organizationId, keyId: null });
      test.clock.set(test.clock.now() + 10_000);
    });

    /** Requests over HTTP until refused; what is invalid draws too, and writes nothing. */
    async function requests(apiKey: string): Promise<number> {
      for (let count = 0; ; count++) {
        const { status } = await api.post({}, { apiKey });
        if (status === 429) return count;
        expect(status).toBe(422);
      }
    }

    it(`burst ${burst}, per API key ${keyBurst}: over HTTP, with three keys`, async () => {
      const counts: number[] = [];
      for (const key of keys) counts.push(await requests(key));
      expect(counts).toEqual([keyBurst, burst - keyBurst, 0]);
    });

    it(`burst per API key: ${keyBurst}, however full the organization's bucket is`, async () => {
      const [key] = drawers(test, 1);
      if (!key) throw new Error('no key');
      expect(await drain(test.app, key)).toBe(keyBurst);
    });

    it(`the organization's bucket holds two seconds of ${rate}: it is full again after two`, async () => {
      const without = { organizationId: test.caller.organizationId, keyId: null };
      const passed: number[] = [];
      for (const ms of [0, 1_000, 2_000, 60_000]) {
        test.clock.set(test.clock.now() + ms);
        passed.push(await drain(test.app, without));
      }
      expect(passed).toEqual([burst, rate, burst, burst]);
    });

    // On PostgreSQL every draw is a transaction here: the heart of the daemon does not beat between
    // the steps, so it cannot know that it is alone.
    it.each(store === 'sqlite' ? [1, 2, 5] : [2])(
      'sustained over 60 seconds with %i keys, to the exact request',
      async (count) => {
        const admitted = await admittedInAMinute(drawers(test, count));
        // One key begins with its own burst, several with the organization's.
        expect(admitted).toBe((count === 1 ? keyBurst : burst) + 60 * rate);
      },
    );

    /** Asks with every key again and again for a minute; how often all of them were admitted. */
    async function admittedInAMinute(asking: readonly Drawer[]): Promise<number> {
      const { app, clock } = test;
      let admitted = 0;
      // So often that no bucket is ever full meanwhile.
      for (let passed = 0; passed <= 60_000; passed += 200) {
        if (passed > 0) clock.set(clock.now() + 200);
        for (const key of asking) admitted += await drain(app, key);
      }
      return admitted;
    }
  });

  describe('8.2', () => {
    beforeEach(async () => {
      const day = Math.floor(test.clock.now() / dayMs);
      test.clock.set((day + 1) * dayMs);
    });

    it.each(planTable)(
      'plan $plan: $daily emails per day; of 200 sends at once never one above',
      async ({ plan, daily }) => {
        await updateOrganization(test.app, 'default', { plan, paymentMethodOnFile: true });
        await useToday(test, daily - 37);
        const crowd = Array.from({ length: 200 }, () => send(test.app, test.caller));
        const answers = await Promise.all(crowd);
        expect(answers.filter((answer) => answer === null)).toHaveLength(37);
        expect(await usedToday(test)).toMatchObject({ emails: daily });
      },
    );
  });
});

/** The lists with `page` in their query. */
const pageBased = routes.filter(
  ({ query }) => query instanceof z.ZodObject && 'page' in query.shape,
);

describe.each(stores)('8.3 on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  /** What the path of a list names. */
  const owners: Record<string, string> = {};
  beforeAll(async () => {
    test = await testApp({ store });
    api = httpApi(test);
    const { items } = await listDomains(test.app, test.operator, { page: 1, limit: 1 });
    owners['/v1/email/domains'] = items[0]?.id ?? '';
    const group = await api.post<{ id: string }>('/v1/contact-groups', { name: 'G' });
    owners['/v1/contact-groups'] = group.body.id;
    const endpoint = { url: 'https://203.0.114.1/', events: ['*'] };
    owners['/v1/webhooks'] = (await api.post<{ id: string }>('/v1/webhooks', endpoint)).body.id;
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  it('8.3 finds the page-based lists', () => {
    expect(pageBased.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/v1/messages', '/v1/email/domains', '/v1/api-keys']),
    );
  });

  describe.each(pageBased.map(({ path }) => path))('8.3 page-based lists: %s', (path) => {
    const list = (query: string) =>
      api.get<{ pagination: unknown; fields: unknown }>(
        `${path.replace('{id}', owners[path.split('/{id}')[0] ?? ''] ?? '')}${query}`,
      );

    it.each([
      ['', { page: 1, limit: 20 }],
      ['?page=1&limit=1', { page: 1, limit: 1 }],
      ['?page=2', { page: 2, limit: 20 }],
      ['?limit=100', { page: 1, limit: 100 }],
    ])('%j', async (query, pagination) => {
      const { status, body } = await list(query);
      expect([status, body.pagination]).toEqual([200, expect.objectContaining(pagination)]);
    });

    it.each([
      'page=0',
      'page=-1',
      'page=one',
      'page=1.5',
      'page=',
      'limit=0',
      'limit=101',
      'limit=-5',
      'limit=1e1',
    ])('?%s is a 422, never clamped', async (query) => {
      const { status, body } = await list(`?${query}`);
      expect([status, Object.keys(body.fields ?? {})]).toEqual([422, [query.split('=')[0]]]);
    });
  });

  it.each([
    ['is not there', null, 201],
    ['has 1 character', 'k', 201],
    ['has 255', 'k'.repeat(255), 201],
    ['is empty', '', 422],
    ['has 256', 'k'.repeat(256), 422],
  ])('8.3 the Idempotency-Key %s', async (_what, key, expected) => {
    const headers = key === null ? {} : { 'idempotency-key': key };
    const { status } = await api.post('/v1/messages', payload(), { headers });
    expect(status).toBe(expected);
  });
});
