// Webhook endpoints (specification 2.14, 4.9): their stored fields, permissions, refusals, and the
// end of their deliveries when they are disabled or deleted.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createKey } from '../../src/access/keys/keys.ts';
import type { AuditPage } from '../../src/history/audit/schema.ts';
import { endpoints } from '../../src/webhooks/endpoints/queries.ts';
import { openHeaders, openSecrets } from '../../src/webhooks/endpoints/secrets.ts';
import type { EndpointRow } from '../../src/webhooks/rows.ts';
import type { Webhook, WebhookStats } from '../../src/webhooks/schema.ts';
import { stores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';
import { counterSums, deliveryRows, endpoint, hookUrl, publishEvent } from './fixtures.ts';

const path = '/v1/webhooks';
const hourMs = 3_600_000;
const input = { url: hookUrl, events: ['message.*'] };

type Refusal = { _tag: string; fields: Record<string, string[]> };

describe.each(stores)('webhook endpoints on %s', (store) => {
  const { test, api } = eachApi({ store });
  const patch = <Body = unknown>(url: string, body: unknown) =>
    api.request<Body>('PATCH', url, { body });
  /** The secrets that sign at this time. */
  const signing = (row: EndpointRow, at: number) =>
    openSecrets(test.app, row).flatMap(({ secret, until }) => (at < until ? secret : []));
  const rowOf = (id: string) => endpoints.get(test.app.store.db, test.operator.organizationId, id);

  it('are created with a secret that is shown once and stored encrypted', async () => {
    const { status, body: made } = await api.post<Webhook>(path, input);
    expect(status).toBe(201);
    expect(made).toMatchObject({
      ...input,
      name: null,
      channels: ['email'],
      headers: {},
      status: 'active',
      disabledReason: null,
    });
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const row = await rowOf(made.id);
    expect(JSON.stringify(row)).not.toContain(made.secret);
    expect(signing(row, test.clock.now())).toEqual([made.secret]);
  });

  it.each(['list', 'get'])('show the path of a URL to their writers alone (%s)', async (verb) => {
    const url = 'https://hooks.example.com/services/TOKEN?key=very-secret';
    const { body: made } = await api.post<Webhook>(path, { ...input, url });
    expect(made.url).toBe(url);
    const { key } = await createKey(test.app, test.operator, { role: 'viewer' });
    const { body: seen } = await api
      .as(key ?? '')
      .get<Webhook & { items: Webhook[] }>(verb === 'list' ? path : `${path}/${made.id}`);
    const [one = seen] = seen.items ?? [];
    expect(one.url).toBe('https://hooks.example.com/…');
  });

  it('show the values of headers to their writers alone, and store them encrypted', async () => {
    const headers = { 'X-Token': 'very secret', 'X-Team': 'billing' };
    const { body: made } = await api.post<Webhook>(path, { ...input, headers });
    expect(made.headers).toEqual(headers);
    const { key } = await createKey(test.app, test.operator, { role: 'viewer' });
    const { body: seen } = await api.as(key ?? '').get<Webhook>(`${path}/${made.id}`);
    expect(seen.headers).toEqual({ 'X-Token': '***', 'X-Team': '***' });
    const row = await rowOf(made.id);
    expect(JSON.stringify(row)).not.toContain('very secret');
    expect(openHeaders(test.app, row)).toEqual(headers);
    expect(() => openHeaders(test.app, { ...row, id: 'wep_0000000000000000' })).toThrow();
    await patch(`${path}/${made.id}`, { headers: { 'X-Token': 'other secret' } });
    const { body: audit } = await api.get<AuditPage>(`/v1/audit?resource=${made.id}`);
    expect(audit.items[0]?.details).toMatchObject({ headersChanged: true });
    expect(JSON.stringify(audit)).not.toMatch(/secret|svc"/);
  });

  it('have two secrets for 24 hours after a rotation', async () => {
    const made = await endpoint(test);
    const { status, body } = await api.post<Webhook>(`${path}/${made.id}/rotate-secret`, {});
    expect([status, body.id]).toEqual([200, made.id]);
    expect(body.secret).not.toBe(made.secret);
    const at = test.clock.now();
    const row = await rowOf(made.id);
    expect(signing(row, at + 24 * hourMs - 1)).toEqual([body.secret, made.secret]);
    expect(signing(row, at + 24 * hourMs)).toEqual([body.secret]);
    const { body: audit } = await api.get<AuditPage>(`/v1/audit?resource=${made.id}`);
    expect(audit.items.map(({ action }) => action)).toEqual([
      'webhook.secret-rotated',
      'webhook.created',
    ]);
    expect(JSON.stringify(audit)).not.toContain('whsec_');
  });

  it.each([
    ['url', { url: 'ftp://hooks.example/' }],
    ['url', { url: '/svc' }],
    ['url', { url: 'https://me:it@hooks.example/' }],
    ['url', { url: `https://hooks.example/${'x'.repeat(2_048)}` }],
    ['url', { url: 'http://127.0.0.1/' }],
    ['events', { events: [] }],
    ['events.0', { events: ['message.nonsense'] }],
    ['events.1', { events: ['*', 'message.*.x'] }],
    ['events.0', { events: ['mess*'] }],
    ['events.0', { events: ['nonsense.*'] }],
    ['channels.0', { channels: ['sms'] }],
    ['channels', { channels: [] }],
    ['headers.webhook-id', { headers: { 'webhook-id': 'x' } }],
    ['headers.Host', { headers: { Host: 'x' } }],
    ['headers.Content-Type', { headers: { 'Content-Type': 'x' } }],
    ['headers.connection', { headers: { connection: 'x' } }],
    ['headers.a b', { headers: { 'a b': 'x' } }],
    ['headers.X-A', { headers: { 'X-A': 'x\r\nHost: y' } }],
    ['headers.x-a', { headers: { 'X-A': '1', 'x-a': '2' } }],
    ['headers', { headers: Object.fromEntries([...Array(21)].map((_, i) => [`X-${i}`, ''])) }],
    ['name', { name: 'two\nlines' }],
  ])('cannot be created or changed with a bad %s: %j', async (field, bad) => {
    const made = await api.post<Refusal>(path, { ...input, ...bad });
    expect([made.status, Object.keys(made.body.fields)]).toEqual([422, [field]]);
    const { id } = await endpoint(test);
    const changed = await patch<Refusal>(`${path}/${id}`, bad);
    expect([changed.status, Object.keys(changed.body.fields)]).toEqual([422, [field]]);
  });

  it('are limited to 50 in an organization, also when created concurrently', async () => {
    for (let i = 0; i < 48; i++) await endpoint(test);
    const made = await Promise.all([...Array(4)].map(() => api.post<Refusal>(path, input)));
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409]);
  });

  it('lose their queue when disabled by hand, and start clean afterwards', async () => {
    const { id } = await endpoint(test);
    await publishEvent(test);
    const disabled = await patch<Webhook>(`${path}/${id}`, { status: 'disabled' });
    expect(disabled.body.status).toBe('disabled');
    await publishEvent(test);
    expect(await deliveryRows(test.app)).toMatchObject([{ status: 'cancelled', due_at: null }]);
    expect(await counterSums(test.app)).toEqual({ [id]: [0, 0, 0, 1] });
    const failing = sql`update webhook_endpoints set failing_since = 1, disabled_reason = 'x'`;
    await test.app.store.write((trx) => failing.execute(trx));
    expect((await api.post(`${path}/${id}/test`, {})).status).toBe(409);
    const enabled = await patch<Webhook>(`${path}/${id}`, { status: 'active' });
    expect(enabled.body).toMatchObject({ status: 'active', disabledReason: null });
    expect(await rowOf(id)).toMatchObject({ failing_since: null });
    await publishEvent(test);
    expect((await deliveryRows(test.app)).map(({ status }) => status)).toEqual([
      'cancelled',
      'pending',
    ]);
  });

  it('are deleted with deliveries, attempts and statistics, in several steps', async () => {
    const kept = await endpoint(test);
    const { id } = await endpoint(test);
    await publishEvent(test);
    const { app } = test;
    const many = Array.from(
      { length: 2_300 },
      (_, i) => `whdel_many${String(i).padStart(20, '0')}`,
    );
    await app.store.write(async (trx) => {
      for (const each of many) {
        await sql`insert into webhook_deliveries (id, organization_id, endpoint_id, event_id,
            event_type, status, attempt_count, is_replay, created_at, updated_at)
          values (${each}, 'org', ${id}, 'evt', 'message.sent', 'delivered', 1, 0, 0, 0)`.execute(
          trx,
        );
      }
      await sql`insert into webhook_attempts (id, delivery_id, "trigger", at, duration_ms, outcome)
        values ('wha_1', ${many[0]}, 'automatic', 0, 0, 'failed')`.execute(trx);
    });
    expect((await api.delete(`${path}/${id}`)).status).toBe(200);
    const left = await deliveryRows(app);
    expect(left.map(({ endpoint_id }) => endpoint_id)).toEqual([kept.id]);
    expect(await counterSums(app)).toEqual({ [kept.id]: [1, 0, 0, 0] });
    const attempts = await sql`select * from webhook_attempts`.execute(app.store.db);
    expect(attempts.rows).toEqual([]);
    const stats = await api.get<WebhookStats>(`${path}/${kept.id}/stats?period=7`);
    expect(stats.body).toMatchObject({ total: 1, pending: 1 });
  });
});
