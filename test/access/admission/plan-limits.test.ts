// The tables of specification 8, row by row, each test with its number, on both stores. The
// sentences around the tables: rate-limit.test.ts (8.1, one daemon), shared.test.ts (8.1, several),
// quota.test.ts (8.2). The rows of 8.3 on webhooks, custom tracking, warming, restored templates,
// and on tags and labels of contacts, conversations and threads are tested with those resources.
// Slow: a minute of requests at the rate of each plan.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { routes } from '../../../daemon/http/routes.ts';
import { admissionOf, type Drawer } from '../../../src/access/admission/admission.ts';
import { createKey } from '../../../src/access/keys/keys.ts';
import { updateOrganization } from '../../../src/access/organizations/organizations.ts';
import { listDomains } from '../../../src/identity/domains/domains.ts';
import { payload } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
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

  describe.each(planTable)('8.1 the plan $plan', ({ plan, rate, burst, keyBurst }) => {
    beforeEach(async () => {
      await updateOrganization(test.app, 'default', { plan });
      // The change is seen within a second, and the buckets fill up.
      await test.clock.advance(1_000);
      await drain(test.app, { organizationId: test.caller.organizationId, keyId: null });
      test.clock.set(test.clock.now() + 10_000);
    });

    /** Posts until refused, and counts: invalid requests draw too, and write nothing. */
    async function requests(apiKey: string): Promise<number> {
      for (let count = 0; ; count++) {
        const { status } = await api.post({}, { apiKey });
        if (status === 429) return count;
        expect(status).toBe(422);
      }
    }

    it(`admits a burst of ${burst} over HTTP with three keys, ${keyBurst} per key`, async () => {
      const counts: number[] = [];
      for (const key of keys) counts.push(await requests(key));
      expect(counts).toEqual([keyBurst, burst - keyBurst, 0]);
    });

    it(`admits a burst of ${keyBurst} per key from a full bucket of the organization`, async () => {
      const [key] = drawers(test, 1);
      if (!key) throw new Error('no key');
      expect(await drain(test.app, key)).toBe(keyBurst);
    });

    it(`refills the organization's bucket, two seconds of ${rate}, in two seconds`, async () => {
      const without = { organizationId: test.caller.organizationId, keyId: null };
      const passed: number[] = [];
      for (const ms of [0, 1_000, 2_000, 60_000]) {
        test.clock.set(test.clock.now() + ms);
        passed.push(await drain(test.app, without));
      }
      expect(passed).toEqual([burst, rate, burst, burst]);
    });

    // On PostgreSQL every draw is a transaction here: the daemon sends no heartbeat between the
    // steps, so it cannot know that it is alone.
    it.each(store === 'sqlite' ? [1, 2, 5] : [2])(
      `sustains exactly ${rate} requests a second over 60 seconds with %i keys`,
      async (count) => {
        const admitted = await admittedInAMinute(drawers(test, count));
        // One key begins with its own burst, several with the organization's.
        expect(admitted).toBe((count === 1 ? keyBurst : burst) + 60 * rate);
      },
    );

    /** Drains all keys again and again for a minute, and counts the admitted requests. */
    async function admittedInAMinute(asking: readonly Drawer[]): Promise<number> {
      const { app, clock } = test;
      let admitted = 0;
      // 200 ms is too short for a bucket to fill up meanwhile.
      for (let passed = 0; passed <= 60_000; passed += 200) {
        if (passed > 0) clock.set(clock.now() + 200);
        for (const key of asking) admitted += await drain(app, key);
      }
      return admitted;
    }
  });

  describe('8.2 the daily quota', () => {
    beforeEach(async () => {
      const day = Math.floor(test.clock.now() / dayMs);
      test.clock.set((day + 1) * dayMs);
    });

    it.each(planTable)(
      'allows $daily emails a day on the plan $plan, exactly, of 200 concurrent sends',
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

/** Routes of lists with `page` in their query. */
const pageBased = routes.filter(
  ({ query }) => query instanceof z.ZodObject && 'page' in query.shape,
);

describe.each(stores)('the bounds of requests (8.3) on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  /** Id of the parent resource, by the path before `/{id}`. */
  const owners: Record<string, string> = {};
  beforeAll(async () => {
    test = await testApp({ store });
    api = httpApi(test);
    const { items } = await listDomains(test.app, test.operator, { page: 1, limit: 1 });
    owners['/v1/email/domains'] = items[0]?.id ?? '';
    const group = await api.post<{ id: string }>('/v1/contact-groups', { name: 'G' });
    owners['/v1/contact-groups'] = group.body.id;
    const template = { slug: 't', subject: 'S', text: 'T' };
    owners['/v1/templates'] = (await api.post<{ id: string }>('/v1/templates', template)).body.id;
    const endpoint = { url: 'https://203.0.114.1/', events: ['*'] };
    owners['/v1/webhooks'] = (await api.post<{ id: string }>('/v1/webhooks', endpoint)).body.id;
  });
  afterAll(async () => {
    await api.close();
    await test.close();
  });

  it('8.3 has messages, domains and keys among the page-based lists', () => {
    expect(pageBased.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/v1/messages', '/v1/email/domains', '/v1/api-keys']),
    );
  });

  describe.each(pageBased.map(({ path }) => path))('8.3 the page-based list %s', (path) => {
    const list = (query: string) =>
      api.get<{ pagination: unknown; fields: unknown }>(
        `${path.replace('{id}', owners[path.split('/{id}')[0] ?? ''] ?? '')}${query}`,
      );

    it.each([
      ['', { page: 1, limit: 20 }],
      ['?page=1&limit=1', { page: 1, limit: 1 }],
      ['?page=2', { page: 2, limit: 20 }],
      ['?limit=100', { page: 1, limit: 100 }],
    ])('answers the query "%s" with %j', async (query, pagination) => {
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
    ])('answers ?%s with 422 and clamps nothing', async (query) => {
      const { status, body } = await list(`?${query}`);
      expect([status, Object.keys(body.fields ?? {})]).toEqual([422, [query.split('=')[0]]]);
    });
  });

  it.each([
    ['without an Idempotency-Key', null, 201],
    ['with an Idempotency-Key of 1 character', 'k', 201],
    ['with an Idempotency-Key of 255 characters', 'k'.repeat(255), 201],
    ['with an empty Idempotency-Key', '', 422],
    ['with an Idempotency-Key of 256 characters', 'k'.repeat(256), 422],
  ])('8.3 a send %s', async (_case, key, expected) => {
    const headers = key === null ? {} : { 'idempotency-key': key };
    const { status } = await api.post('/v1/messages', payload(), { headers });
    expect(status).toBe(expected);
  });
});
