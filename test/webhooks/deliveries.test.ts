// Deliveries over the API: tests, lists with their filters, attempts, and replays of logged events.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createKey } from '../../src/access/keys/keys.ts';
import { createOrganization } from '../../src/access/organizations/organizations.ts';
import type { Page } from '../../src/core/api/pagination.ts';
import { insertDeliveries } from '../../src/webhooks/deliveries/delivery-queries.ts';
import { replayWebhook } from '../../src/webhooks/deliveries/replay.ts';
import { updateWebhook } from '../../src/webhooks/endpoints/webhooks.ts';
import type {
  WebhookDelivery,
  WebhookDeliveryWithAttempts,
  WebhookReplay,
  WebhookTest,
} from '../../src/webhooks/schema.ts';
import { cliWorkspace } from '../support/cli.ts';
import { stores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';
import { counterSums, deliveryRows, endpoint, publishEvent } from './fixtures.ts';

const hourMs = 3_600_000;
const iso = (ms: number) => new Date(ms).toISOString();

describe.each(stores)('deliveries of a webhook on %s', (store) => {
  const { test, api } = eachApi({ store });
  const run = (text: ReturnType<typeof sql>) => test.app.store.write((trx) => text.execute(trx));
  const list = async (id: string, query = '') =>
    (await api.get<Page<WebhookDelivery>>(`/v1/webhooks/${id}/deliveries${query}`)).body;
  const replay = (id: string, body: object) =>
    api.post<WebhookReplay>(`/v1/webhooks/${id}/replay`, body);

  it('of a test are queued for its endpoint alone, under any subscriptions', async () => {
    const { id } = await endpoint(test, { events: ['domain.failed'] });
    await endpoint(test);
    const data = { order: 7, of: 'Żółw' };
    const { status, body } = await api.post<WebhookTest>(`/v1/webhooks/${id}/test`, { data });
    expect([status, body.accepted]).toEqual([201, true]);
    expect(await deliveryRows(test.app)).toMatchObject([
      { id: body.deliveryId, event_id: body.eventId, endpoint_id: id, event_type: 'webhook.test' },
    ]);
    const events = await sql<{ data: string }>`
      select event_type, subject, data from resource_events where id = ${body.eventId}`.execute(
      test.app.store.db,
    );
    expect(events.rows).toEqual([
      { event_type: 'webhook.test', subject: id, data: JSON.stringify(data) },
    ]);
    expect(await counterSums(test.app)).toEqual({ [id]: [1, 0, 0, 0] });
  });

  it.each([
    ['nothing', undefined, 201],
    ['an empty object', {}, 201],
    ['null', { data: null }, 201],
    ['a text', { data: 'x' }, 422],
    ['65 KB', { data: { x: 'x'.repeat(65 * 1024) } }, 422],
  ])('of a test with %s: %#', async (_what, body, expected) => {
    const { id } = await endpoint(test);
    const url = `/v1/webhooks/${id}/test`;
    const options = body === undefined ? {} : { body };
    expect((await api.request('POST', url, options)).status).toBe(expected);
  });

  it('are listed by status, kind and time, newest first', async () => {
    const { id } = await endpoint(test);
    await publishEvent(test, 'sent');
    await publishEvent(test, 'delivered');
    const since = test.clock.now() + hourMs;
    await test.clock.advance(hourMs);
    await publishEvent(test, 'delivered');
    const [first, second, third] = (await deliveryRows(test.app)).map((row) => row.id);
    await run(sql`update webhook_deliveries set status = 'delivered', due_at = null
      where id = ${second}`);
    const ids = async (query: string) => (await list(id, query)).items.map((item) => item.id);
    expect(await ids('')).toEqual([third, second, first]);
    expect(await ids('?status=delivered')).toEqual([second]);
    expect(await ids('?status=pending')).toEqual([third, first]);
    expect(await ids('?eventType=message.delivered')).toEqual([third, second]);
    expect(await ids('?eventType=domain.*,mailbox.created')).toEqual([]);
    expect(await ids('?eventType=message.*')).toEqual([third, second, first]);
    expect(await ids('?eventType=message.delivered&status=pending')).toEqual([third]);
    expect(await ids(`?since=${iso(since)}`)).toEqual([third]);
    const page = await list(id, '?limit=2&page=2');
    expect(page.items.map((item) => item.id)).toEqual([first]);
    expect(page.pagination).toEqual({ page: 2, limit: 2, total: 3, totalPages: 2 });
    expect(page.items[0]).toMatchObject({
      endpointId: id,
      eventType: 'message.sent',
      status: 'pending',
      attemptCount: 0,
      nextAttemptAt: iso(since - hourMs),
      lastAttemptAt: null,
      createdAt: iso(since - hourMs),
    });
  });

  it('have no next time while they are attempted', async () => {
    const { id } = await endpoint(test);
    await publishEvent(test);
    const shown = async () => (await list(id)).items.map((item) => item.nextAttemptAt);
    expect(await shown()).toEqual([iso(test.clock.now())]);
    const leaseEnds = test.clock.now() + 90_000;
    await run(sql`update webhook_deliveries set claimed_by = 'wrk_1', due_at = ${leaseEnds}`);
    expect(await shown()).toEqual([null]);
  });

  it('have counters equal to their rows', async () => {
    const { id } = await endpoint(test);
    await publishEvent(test, 'sent');
    await publishEvent(test, 'delivered');
    await updateWebhook(test.app, test.operator, id, { status: 'disabled' });
    await updateWebhook(test.app, test.operator, id, { status: 'active' });
    await publishEvent(test, 'sent');
    const total = async (query: string) => (await list(id, query)).pagination.total;
    expect(await total('')).toBe(3);
    expect(await total('?status=cancelled')).toBe(2);
    expect(await total('?status=pending')).toBe(1);
    expect(await total('?eventType=message.sent')).toBe(2);
    expect(await total('?eventType=message.sent&status=cancelled')).toBe(1);
    expect(await total(`?since=${iso(test.clock.now())}`)).toBe(3);
    expect(await total(`?since=${iso(test.clock.now() + 1)}`)).toBe(0);
  });

  it.each(['status=sent', 'eventType=nonsense', 'since=yesterday', 'limit=0'])(
    'cannot be listed by %s',
    async (query) => {
      const { id } = await endpoint(test);
      const { status, body } = await api.get<{ fields: object }>(
        `/v1/webhooks/${id}/deliveries?${query}`,
      );
      expect([status, Object.keys(body.fields)]).toEqual([422, [query.split('=')[0]]]);
    },
  );

  it('show the posted payload, and only ids in it to a key that may not read the resource', async () => {
    const { id } = await endpoint(test);
    await api.post('/v1/contacts', { email: 'ada@example.com', name: 'Ada' });
    const [row] = await deliveryRows(test.app);
    const url = `/v1/webhooks/${id}/deliveries/${row?.id}`;
    const { body } = await api.get<WebhookDeliveryWithAttempts>(url);
    const whole = JSON.parse(body.payload);
    expect(whole).toMatchObject({ type: 'contact.created', data: { name: 'Ada' } });
    const permissions = { webhooks: ['read' as const] };
    const { key } = await createKey(test.app, test.operator, { name: 'w', permissions });
    const cut = await api.request<WebhookDeliveryWithAttempts>('GET', url, { apiKey: key });
    expect(JSON.parse(cut.body.payload)).toEqual({ ...whole, data: { id: whole.data.id } });
  });

  it('show their attempts, and answer 404 under another endpoint', async () => {
    const { id } = await endpoint(test);
    const other = await endpoint(test, { events: ['domain.failed'] });
    await publishEvent(test);
    const [row] = await deliveryRows(test.app);
    const at = test.clock.now();
    await run(sql`insert into webhook_attempts
        (id, delivery_id, "trigger", at, duration_ms, outcome, status_code, error_class, response)
      values ('wha_1', ${row?.id}, 'automatic', ${at}, 12, 'failed', 500, 'status', 'no'),
        ('wha_2', ${row?.id}, 'manual', ${at}, 9, 'failed', null, 'timeout', null)`);
    const url = (endpointId: string) => `/v1/webhooks/${endpointId}/deliveries/${row?.id}`;
    const { body } = await api.get<WebhookDeliveryWithAttempts>(url(id));
    const attempt = { at: iso(at), outcome: 'failed' };
    expect(body.attempts).toEqual([
      {
        ...attempt,
        ...{ id: 'wha_1', trigger: 'automatic', durationMs: 12 },
        ...{ statusCode: 500, errorClass: 'status', response: 'no' },
      },
      {
        ...attempt,
        ...{ id: 'wha_2', trigger: 'manual', durationMs: 9 },
        ...{ statusCode: null, errorClass: 'timeout', response: null },
      },
    ]);
    for (const method of ['GET', 'POST'] as const) {
      const path = method === 'GET' ? url(other.id) : `${url(other.id)}/redeliver`;
      const answer = await api.request<object>(method, path, {});
      expect([answer.status, answer.body]).toEqual([
        404,
        { _tag: 'ResourceNotFoundError', resource: 'webhook-delivery', id: row?.id },
      ]);
    }
  });

  it('of a replay queue logged events again under their ids, behind live ones', async () => {
    await publishEvent(test, 'sent');
    await test.clock.advance(hourMs);
    const since = test.clock.now();
    await publishEvent(test, 'sent');
    await publishEvent(test, 'delivered');
    await publishEvent(test, 'queued');
    const { id } = await endpoint(test, { events: ['message.sent'] });
    const logged = await sql<{ id: string; event_type: string; message_id: string }>`
      select id, event_type, message_id from events order by id`.execute(test.app.store.db);
    const [, second, third] = logged.rows;
    const { status, body } = await replay(id, { since: iso(since) });
    expect([status, body]).toEqual([200, { accepted: true, deliveries: 1, isComplete: true }]);
    const wanted = { endpoint_id: id, status: 'pending', is_replay: 1 };
    expect(await deliveryRows(test.app)).toMatchObject([
      { ...wanted, event_id: second?.id, message_id: second?.message_id },
    ]);
    expect((await replay(id, { events: ['message.*'] })).body.deliveries).toBe(3);
    expect((await replay(id, { until: iso(since) })).body.deliveries).toBe(1);
    expect((await replay(id, { events: ['message.delivered'] })).body.deliveries).toBe(1);
    const last = (await deliveryRows(test.app)).at(-1);
    expect(last).toMatchObject({ ...wanted, event_id: third?.id });
    expect(await counterSums(test.app)).toEqual({ [id]: [6, 0, 0, 0] });
  });

  it('of a replay of exhausted ones include each event once, also at the command line', async () => {
    const { id } = await endpoint(test);
    await publishEvent(test, 'sent');
    await publishEvent(test, 'delivered');
    await run(sql`update webhook_deliveries set status = 'exhausted', due_at = null
      where event_type = 'message.sent'`);
    const [given] = await deliveryRows(test.app);
    const again = async () => (await deliveryRows(test.app)).filter((row) => row.is_replay === 1);
    expect((await replay(id, { status: 'exhausted' })).body.deliveries).toBe(1);
    expect(await again()).toMatchObject([
      { event_id: given?.event_id, message_id: given?.message_id, status: 'pending' },
    ]);
    await run(sql`update webhook_deliveries set status = 'exhausted', due_at = null
      where event_type = 'message.sent'`);
    const { dataDir, database } = test.app.config;
    const cli = cliWorkspace({ SVC_DATA_DIR: dataDir, SVC_DATABASE_URL: database.url });
    try {
      const args = ['webhooks', 'redeliver', id, '--failed', '--since', '2026-01-01T00:00:00Z'];
      const until = ['--until', '2030-01-01T00:00:00Z'];
      const answer = await cli.json<WebhookReplay>([...args, ...until]);
      expect(answer).toEqual({ accepted: true, deliveries: 1, isComplete: true });
      expect(await again()).toHaveLength(2);
      expect((await cli.run(['webhooks', 'redeliver', id])).code).toBe(2);
    } finally {
      cli.close();
    }
  });

  it('of a replay are the oldest 10,000, with a mark that more exist', async () => {
    const { id } = await endpoint(test);
    const { organizationId } = test.operator;
    const numbers = Array.from({ length: 10_001 }, (_, i) => String(i).padStart(20, '0'));
    await test.app.store.write((trx) =>
      insertDeliveries(
        trx,
        numbers.map((n) => ({
          ...{ id: `whdel_0${n}`, organization_id: organizationId, endpoint_id: id },
          ...{ event_id: `evt_${n}`, event_type: 'message.sent', status: 'exhausted' },
          ...{ attempt_count: 1, is_replay: 0, created_at: 1, updated_at: 1 },
          ...{ message_id: null, due_at: null, claimed_by: null, last_attempt_at: null },
        })),
      ),
    );
    const { body } = await replay(id, { status: 'exhausted' });
    expect(body).toEqual({ accepted: true, deliveries: 10_000, isComplete: false });
    const rows = (await deliveryRows(test.app)).filter((row) => row.is_replay === 1);
    expect(rows.map(({ event_id }) => event_id)).toEqual(
      numbers.slice(0, 10_000).map((n) => `evt_${n}`),
    );
    const again = await replay(id, { status: 'exhausted' });
    expect([again.status, again.body]).toMatchObject([409, { message: /replays of .* pending/ }]);
    await run(sql`delete from webhook_deliveries where event_id < ${`evt_${numbers[7]}`}
      and is_replay = 1`);
    expect((await replay(id, { status: 'exhausted' })).body.deliveries).toBe(7);
  });

  it('of a replay are refused beside another replay of the endpoint', async () => {
    const { id } = await endpoint(test);
    const end = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    const holding = test.app.store.write(async (trx) => {
      await sql`update webhook_endpoints set status = status where id = ${id}`.execute(trx);
      isHeld.resolve();
      await end.promise;
    });
    await isHeld.promise;
    const both = [replay(id, {}), replay(id, {})];
    expect((await Promise.race(both)).status).toBe(409);
    end.resolve();
    expect((await Promise.all(both)).map((one) => one.status).sort()).toEqual([200, 409]);
    await holding;
    expect((await replay(id, {})).status).toBe(200);
  });

  it('of a replay have a place while another organization replays as much as it may', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => endpoint(test)));
    const { id: organizationId } = await createOrganization(test.app, {
      name: 'Other',
      plan: 'free',
    });
    const caller = { ...test.operator, organizationId };
    const theirs = await endpoint({ app: test.app, operator: caller });
    const replays = all.map(({ id }) => replayWebhook(test.app, test.operator, id, {}));
    const settled = Promise.allSettled(replays);
    expect(await replayWebhook(test.app, caller, theirs.id, {})).toMatchObject({ accepted: true });
    const refused = (await settled).filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ reason: { _tag: 'CapacityError' } });
  });

  it.each([
    ['status', { status: 'sent' }],
    ['events', { events: [] }],
    ['events.0', { events: ['nonsense'] }],
    ['since', { since: 'yesterday' }],
  ])('of a replay are refused for a bad %s', async (field, body) => {
    const { id } = await endpoint(test);
    const answer = await api.post<{ fields: object }>(`/v1/webhooks/${id}/replay`, body);
    expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, [field]]);
  });
});
