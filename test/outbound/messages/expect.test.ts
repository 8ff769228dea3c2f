// `GET /v1/messages/expect` and `GET /v1/messages/{id}/extracts`: matches, time, places, and keys.
import { describe, expect, it } from 'vitest';
import { createKey, revokeKey } from '../../../src/access/keys/keys.ts';
import type { Extracts } from '../../../src/mail/mime/extracts/extracts.ts';
import type { ExpectedMessage } from '../../../src/outbound/messages/expecting/schema.ts';
import { arrive } from '../../inbox/threads/mails.ts';
import { stores } from '../../support/command.ts';
import { eachApi } from '../../support/each-app.ts';
import { passingTime } from '../../support/virtual-clock.ts';
import { otherOrganization, payload, send } from './fixtures.ts';

const path = '/v1/messages/expect';
const html = '<p>Your code is <b>482 913</b>.</p><a href="https://acme.example/ok">Confirm</a>';

function queryOf(fields: Record<string, string | number>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) query.set(name, String(value));
  return `${path}?${query}`;
}

const toAda = (fields: Record<string, string | number> = {}) =>
  queryOf({ to: 'Ada@Example.com', within: 0, ...fields });

describe.each(stores)('the wait for a mail, on %s', (store) => {
  const { test, api } = eachApi({ store });

  it('answers with the newest mail, its text, codes and links', async () => {
    await send(api, payload({ subject: 'Older' }));
    await test.clock.advance(1_000);
    const { id } = await send(api, payload({ subject: 'Confirm', html, text: undefined }));
    const { status, body } = await api.get<ExpectedMessage>(toAda());
    expect([status, body]).toEqual([
      200,
      {
        message: expect.objectContaining({ id, subject: 'Confirm' }),
        text: expect.stringContaining('Your code is 482 913.'),
        codes: [expect.objectContaining({ value: '482913' })],
        links: [{ url: 'https://acme.example/ok', text: 'Confirm' }],
      },
    ]);
  });

  it('finds received mail', async () => {
    const id = await arrive(test.app, { subject: 'Hello', text: 'Your PIN: 7731' });
    const url = queryOf({ to: 'inbox@sandbox.test', within: 0 });
    const { body } = await api.get<ExpectedMessage>(url);
    expect([body.message.id, body.codes[0]?.value]).toEqual([id, '7731']);
  });

  it('matches the pattern anywhere in the subject, in any case', async () => {
    const { id } = await send(api, payload({ subject: 'Please CONFIRM your Ärger' }));
    for (const subject of ['confirm', '^please .* ärger$', 'c[o]n\\w+rm']) {
      const { body } = await api.get<ExpectedMessage>(toAda({ subject }));
      expect(body.message?.id, subject).toBe(id);
    }
    const missed = await api.get(toAda({ subject: '^confirm' }));
    expect([missed.status, missed.body]).toEqual([
      404,
      { _tag: 'ResourceNotFoundError', resource: 'message', id: 'Ada@example.com' },
    ]);
  });

  it.each([
    ['subject', '('],
    ['subject', '(?=confirm)'],
    ['subject', '(a)\\1'],
    ['subject', 'x'.repeat(256)],
    ['within', 'soon'],
    ['within', '1.5'],
    ['to', 'nobody'],
    ['since', 'yesterday'],
  ])('refuses %s=%s with 422', async (field, value) => {
    const { status, body } = await api.get<{ fields: object }>(toAda({ [field]: value }));
    expect([status, Object.keys(body.fields)]).toEqual([422, [field]]);
  });

  it('takes a pattern of 255 characters', async () => {
    expect((await api.get(toAda({ subject: 'x'.repeat(255) }))).status).toBe(404);
  });

  it('looks a minute back, or from since on', async () => {
    const { createdAt } = await send(api);
    await test.clock.advance(61_000);
    expect((await api.get(toAda())).status).toBe(404);
    expect((await api.get(toAda({ since: createdAt }))).status).toBe(200);
  });

  it('leaves mail to others and of other organizations out', async () => {
    await send(api, payload({}, { to: [{ email: 'bob@example.com' }] }));
    expect((await api.get(toAda())).status).toBe(404);
    await send(api);
    const other = await otherOrganization(test.app);
    expect((await api.as(other.apiKey).get(toAda())).status).toBe(404);
  });

  it('answers once a mail arrives', async () => {
    const waiting = api.get<ExpectedMessage>(toAda({ within: '20s' }));
    await test.clock.advance(2_000);
    const { id } = await send(api);
    await test.clock.advance(1_500);
    expect((await waiting).body.message.id).toBe(id);
  });

  it.each([
    [{}, 20_000],
    [{ within: '3s' }, 3_000],
    [{ within: '3' }, 3_000],
    [{ within: '9999s' }, 25_000],
  ])('waits with %o for %i ms', async (fields, ms) => {
    const startedAt = test.clock.now();
    const waiting = api.get(queryOf({ to: 'ada@example.com', ...fields }));
    expect((await passingTime(test.clock, waiting, 500)).status).toBe(404);
    const took = test.clock.now() - startedAt;
    expect(took).toBeGreaterThanOrEqual(ms);
    expect(took).toBeLessThan(ms + 1_500);
  });

  it('refuses a key that was revoked during the wait', async () => {
    const { key, id } = await createKey(test.app, test.operator, {
      name: 'waiter',
      permissions: { messages: ['read'] },
    });
    const waiting = api.as(key ?? '').get(toAda({ within: '5s' }));
    await test.clock.advance(1_000);
    await revokeKey(test.app, test.operator, id);
    expect((await passingTime(test.clock, waiting, 500)).status).toBe(401);
  });
});

describe('the time limit of requests', () => {
  const { test, api } = eachApi({ config: { http: { requestTimeoutSeconds: 10 } } });

  it('cuts a wait 3 s below it', async () => {
    const startedAt = test.clock.now();
    const waiting = api.get(toAda({ within: '20s' }));
    expect((await passingTime(test.clock, waiting, 500)).status).toBe(404);
    const took = test.clock.now() - startedAt;
    expect(took).toBeGreaterThanOrEqual(7_000);
    expect(took).toBeLessThan(8_500);
  });
});

describe('the places of waits', () => {
  const { test, api } = eachApi({ config: { http: { maxInFlight: 4 } } });

  const many = (count: number, client = api) =>
    Array.from({ length: count }, async () => {
      const { status } = await client.get(toAda({ within: '20s' }));
      return status;
    });

  it('are none of those in work, and 71 for an organization alone', async () => {
    const waiting: Promise<number>[] = [];
    for (let place = 0; place < 71; place++) {
      waiting.push(...many(1));
      await test.clock.advance(1);
    }
    const refused = await api.get<{ message: string }>(toAda({ within: '20s' }));
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    expect((await api.get('/v1/messages')).status).toBe(200);
    const statuses = await passingTime(test.clock, Promise.all(waiting), 1_000);
    expect(new Set(statuses)).toEqual(new Set([404]));
    expect((await api.get(toAda())).status).toBe(404);
  });

  it('end with 503 when the daemon stops', async () => {
    const [waiting] = many(1);
    await test.clock.advance(1_000);
    await api.close();
    expect(await waiting).toBe(503);
  });
});

describe.each(stores)('the extracts of a message, on %s', (store) => {
  const { test, api } = eachApi({ store });

  it('are the codes and links of sent, captured and received mail', async () => {
    const sent = await send(api, payload({ html, text: 'Your code is 482 913.' }));
    const received = await arrive(test.app, { text: 'Your code is 482 913.' });
    for (const id of [sent.id, received]) {
      const { status, body } = await api.get<Extracts>(`/v1/messages/${id}/extracts`);
      expect([status, body.codes[0]?.value]).toEqual([200, '482913']);
    }
    const { body } = await api.get<Extracts>(`/v1/messages/${sent.id}/extracts`);
    expect(body.links).toEqual([{ url: 'https://acme.example/ok', text: 'Confirm' }]);
  });
});
