// Specification 7, line by line, each test with its number, through the real routes and keys on
// both stores; every answer is checked against the OpenAPI document. The single error classes:
// errors.test.ts. 7.6 (custom tracking) comes with that resource, and so do FlagDisabledError,
// BillingProviderError, ExternalServiceError and WebhookEnqueueError as answers: here only their
// shapes (7.9).
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorHeaders } from '../../daemon/http/errors.ts';
import { errorSchemas, responseHeaders } from '../../daemon/http/openapi/openapi-errors.ts';
import { createKey } from '../../src/access/keys/keys.ts';
import {
  pauseOrganization,
  updateOrganization,
} from '../../src/access/organizations/organizations.ts';
import { countHealth } from '../../src/identity/reputation/health.ts';
import { resumeSending } from '../../src/outbound/queue/desk/resume.ts';
import { InternalError, RateLimitedError, TimeoutError } from '../../src/platform/errors.ts';
import {
  dayMs,
  type LimitedApi,
  limitedApi,
  onPlan,
  useToday,
} from '../access/admission/fixtures.ts';
import { payload, rowCounts } from '../outbound/messages/fixtures.ts';
import { stores } from '../support/command.ts';
import { eachApp } from '../support/each-app.ts';

const noConversation = payload({}, { conversationId: 'conv_0000000000000000' });

describe.each(stores)('the errors of specification 7 on %s', (store) => {
  const test = eachApp({ store });
  let api: LimitedApi;
  beforeEach(async () => {
    api = limitedApi(test);
  });
  afterEach(async () => {
    await api.close();
  });

  const status = async (...args: Parameters<LimitedApi['post']>) =>
    (await api.post(...args)).status;
  const keyed = (key: string) => ({ headers: { 'idempotency-key': key } });

  async function viewer(): Promise<string> {
    return (await createKey(test.app, test.operator, { role: 'viewer' })).key ?? '';
  }

  /** Makes the store fail before or after its next transaction. */
  function failOnce(when: 'before' | 'after'): void {
    const { store: real } = test.app;
    const { write } = real;
    Object.assign(real, {
      async write(...args: Parameters<typeof write>) {
        Object.assign(real, { write });
        if (when === 'after') await write.apply(real, args);
        throw new InternalError('The store broke', 'store');
      },
    });
  }

  const table: [
    tag: string,
    status: number,
    fields: string[],
    ask: () => ReturnType<LimitedApi['post']>,
  ][] = [
    ['ValidationError', 422, ['message', 'fields'], () => api.post(payload({}, { nonsense: 1 }))],
    ['ResourceNotFoundError', 404, ['resource', 'id'], () => api.post(noConversation)],
    ['UnauthorizedError', 401, ['message'], () => api.post(payload(), { apiKey: 'nonsense' })],
    [
      'PaymentRequiredError',
      402,
      ['resource', 'currentUsage', 'limit', 'operation'],
      async () => {
        await onPlan(test, 'free', { paymentMethodOnFile: false });
        await useToday(test, 100);
        return api.post(payload());
      },
    ],
    [
      'ForbiddenError',
      403,
      ['message'],
      async () => api.post(payload(), { apiKey: await viewer() }),
    ],
    [
      'ConflictError',
      409,
      ['message', 'resource'],
      async () => {
        await api.post(payload(), keyed('k'));
        return api.post(payload({ subject: 'Other' }), keyed('k'));
      },
    ],
    [
      'RateLimitedError',
      429,
      ['retryAfterSeconds', 'operation'],
      async () => {
        await onPlan(test, 'free');
        for (let i = 0; i < 5; i++) await api.post({});
        return api.post({});
      },
    ],
    [
      'InternalError',
      500,
      ['message'],
      () => {
        failOnce('before');
        return api.post(payload());
      },
    ],
  ];

  it.each(table)(
    '7 table: %s is answered with %i, flat, with %j',
    async (tag, expected, fields, ask) => {
      const answer = await ask();
      expect(answer.status).toBe(expected);
      expect(answer.body._tag).toBe(tag);
      expect(new Set(Object.keys(answer.body))).toEqual(new Set(['_tag', ...fields]));
    },
  );

  it('7 status codes: a send is answered with 201', async () => {
    expect(await status(payload())).toBe(201);
  });

  it('7 status codes: malformed JSON is answered with 400', async () => {
    expect(await status('{broken')).toBe(400);
  });

  it('7.1 a 429 has whole seconds in header and body, the throttle source, and a sufficient wait', async () => {
    await onPlan(test, 'free');
    for (let i = 0; i < 5; i++) expect(await status(payload())).toBe(201);
    const { headers, body } = await api.post(payload());
    expect(headers['x-service-throttle-source']).toBe('service_admission');
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(Number(headers['retry-after'])).toBe(body.retryAfterSeconds);
    await test.clock.advance(Number(body.retryAfterSeconds) * 1_000);
    expect(await status(payload())).toBe(201);
  });

  it('7.2 every 429 of ours has the throttle source, and no other answer has', async () => {
    await onPlan(test, 'free');
    const second = (await createKey(test.app, test.operator, { role: 'owner' })).key ?? '';
    let refused = 0;
    for (let i = 0; i < 20; i++) {
      const { status: answered, headers } = await api.post({}, i % 2 ? { apiKey: second } : {});
      const isRefused = answered === 429;
      expect('x-service-throttle-source' in headers).toBe(isRefused);
      if (isRefused) refused++;
    }
    expect(refused).toBe(10);
  });

  it.each([
    [
      'a payment method',
      { paymentMethodOnFile: false },
      100,
      () => updateOrganization(test.app, 'default', { paymentMethodOnFile: true }),
    ],
    [
      'a higher plan',
      {},
      1_000,
      () => updateOrganization(test.app, 'default', { plan: 'starter' }),
    ],
    ['the turn of the UTC day', {}, 1_000, () => test.clock.advance(dayMs / 2)],
  ] as const)(
    '7.3 a 402 has no Retry-After, and is cleared by %s',
    async (_case, paid, used, clear) => {
      await onPlan(test, 'free', paid);
      await useToday(test, used);
      const { status: answered, headers } = await api.post(payload());
      expect(answered).toBe(402);
      expect(headers).not.toHaveProperty('retry-after');
      await clear();
      expect(await status(payload())).toBe(201);
    },
  );

  it.each([
    [1_250, 155, 0, '12.4% of the last 1,250 messages bounced (limit 5%).'],
    [200, 10, 0, '5% of the last 200 messages bounced (limit 5%).'],
    [2_000, 0, 7, '0.35% of the last 2,000 messages were reported as spam (limit 0.3%).'],
  ])(
    '7.4 paused at %i attempts, %i bounces, %i complaints, every send answers 403 that names the rate',
    async (attempted, hard_bounced, complained, rate) => {
      const { organizationId } = test.caller;
      const counts = { attempted, hard_bounced, complained };
      const observation = { organizationId, sender: null, fromDomain: 'sandbox.test', counts };
      await test.app.store.write((trx) => countHealth(test.app, trx, [observation]));
      for (let i = 0; i < 3; i++) {
        const { status: answered, body } = await api.post(payload());
        expect([answered, body]).toEqual([
          403,
          { _tag: 'ForbiddenError', message: `Sending is paused: ${rate}` },
        ]);
      }
      await resumeSending(test.app, organizationId);
      expect(await status(payload())).toBe(201);
    },
  );

  it('7.4 a pause by the operator gives its reason', async () => {
    await pauseOrganization(test.app, 'default', { note: 'A leaked key sends spam' });
    expect((await api.post(payload())).body).toEqual({
      _tag: 'ForbiddenError',
      message: 'Sending is paused: A leaked key sends spam.',
    });
  });

  it('7.5 an Idempotency-Key is answered with 409 for other content, and replays the same', async () => {
    const first = await api.post(payload(), keyed('k'));
    expect(await status(payload({ subject: 'Other' }), keyed('k'))).toBe(409);
    expect((await api.post(payload(), keyed('k'))).body).toEqual(first.body);
    expect((await rowCounts(test.app)).messages).toBe(1);
  });

  it.each([
    ['was not stored', 'before', 0],
    ['was stored', 'after', 1],
  ] as const)(
    '7.7 a write that %s before its 5xx exists once after a retry with its Idempotency-Key',
    async (_case, when, landed) => {
      failOnce(when);
      expect(await status(payload(), keyed('k'))).toBe(500);
      expect((await rowCounts(test.app)).messages).toBe(landed);
      expect(await status(payload(), keyed('k'))).toBe(201);
      expect(await status(payload(), keyed('k'))).toBe(201);
      expect((await rowCounts(test.app)).messages).toBe(1);
    },
  );

  it('7.8 X-Service-Error-Layer names the layer of a 500, and is on no other answer', async () => {
    failOnce('before');
    const broken = await api.post(payload());
    expect([broken.status, broken.headers['x-service-error-layer']]).toEqual([500, 'store']);
    const others = [payload(), '{broken', { nonsense: 1 }, noConversation];
    for (const body of others) {
      expect((await api.post(body)).headers).not.toHaveProperty('x-service-error-layer');
    }
  });
});

describe('the shapes of errors of specification 7', () => {
  it.each([
    ['a 500', new InternalError('no'), { 'x-service-error-layer': 'api' }],
    ['a 500 of the store', new InternalError('no', 'store'), { 'x-service-error-layer': 'store' }],
    [
      'a 504',
      new TimeoutError('no', 2),
      { 'retry-after': '2', 'x-service-error-layer': 'timeout' },
    ],
    [
      'a 429, which has the throttle source instead',
      new RateLimitedError('sendMessage', 3),
      { 'retry-after': '3', 'x-service-throttle-source': 'service_admission' },
    ],
  ])('7.8 carry the right layer: %s', (_case, error, headers) => {
    expect(errorHeaders(error)).toEqual(headers);
  });

  it.each([
    ['FlagDisabledError', ['flag', 'message']],
    ['BillingProviderError', ['provider', 'message']],
    ['ExternalServiceError', ['provider', 'message']],
    ['WebhookEnqueueError', ['message']],
  ])('7.9 have the fields of %s', (tag, fields) => {
    expect(errorSchemas[tag]).toMatchObject({ required: ['_tag', ...fields] });
  });

  it('7.10 name exactly these layers', () => {
    expect(responseHeaders['X-Service-Error-Layer']).toMatchObject({
      schema: { enum: ['api', 'store', 'provider', 'webhooks', 'timeout'] },
    });
  });
});
