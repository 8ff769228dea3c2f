// The posted body of an event (src/webhooks/posting/body.ts): made once, kept, bounded, and blank
// once its message is deleted.

import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { App } from '../../src/core/app.ts';
import type { MessagePresenter } from '../../src/history/events/hooks.ts';
import { recordTimeline } from '../../src/history/events/record.ts';
import { sweepEvents } from '../../src/history/events/retention.ts';
import { presentMessageEvents } from '../../src/outbound/messages/events.ts';
import { deleteMessage } from '../../src/outbound/messages/messages.ts';
import { sweepWebhooks } from '../../src/webhooks/deliveries/retention.ts';
import { bodiesOf, bodyOf, eventBody, mostBodyBytes } from '../../src/webhooks/posting/body.ts';
import { createWebhookLoop } from '../../src/webhooks/posting/loop.ts';
import { stores } from '../support/command.ts';
import { send } from '../support/delivery.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import {
  attemptRows,
  countsOf,
  deliveryRow,
  loopbackConfig,
  makeDeliveries,
  makeEndpoint,
  receiver,
  until,
} from './engine.ts';

const dayMs = 24 * 3600_000;

describe.each(stores)('the body of an event on %s', (store) => {
  let test: TestApp;
  let app: App;
  let presented: number;
  let present: MessagePresenter;
  beforeEach(async () => {
    const hooks = { presentMessageEvents: ((...asked) => present(...asked)) as MessagePresenter };
    test = await testApp({ store, config: loopbackConfig, hooks });
    app = test.app;
    presented = 0;
    present = async (_app, _organization, [event, ...others]) => {
      if (!event || others.length > 0) throw new Error('one event is asked for');
      const { subject: id, timestamp: at } = event;
      const { rows } = await sql`select 1 from messages where id = ${id}`.execute(app.store.db);
      presented += 1;
      const told = { id, subject: 'private', event: { at } };
      return new Map(rows.map(() => [event.id, told]));
    };
  });
  afterEach(() => test.close());

  /** Makes a message with an event and the delivery of that. */
  async function ofMessage() {
    const { id } = await send(app, test.caller, 'a@sandbox.test');
    const { organizationId } = test.caller;
    const timestamp = test.clock.now();
    const event = { organizationId, messageId: id, recipientId: null, metadata: null, timestamp };
    await app.store.write((trx) =>
      recordTimeline(app, trx, [{ ...event, eventType: 'sent', status: 'sent' }]),
    );
    const { rows } = await sql<{ id: string }>`select id from events
      where message_id = ${id} and event_type = 'sent'`.execute(app.store.db);
    const endpoint = await makeEndpoint(test, 'http://127.0.0.1:1/');
    const [delivery = ''] = await makeDeliveries(test, endpoint, 1, {
      event_id: rows[0]?.id ?? '',
      event_type: 'message.sent',
      message_id: id,
    });
    return { message: id, delivery: await deliveryRow(app, delivery) };
  }

  it('is the Message object with the status and the recipient of the event', async () => {
    present = presentMessageEvents;
    const { message, delivery } = await ofMessage();
    const { data } = JSON.parse(await bodyOf(app, delivery));
    expect(shown(data)).toEqual({ id: message, status: 'sent', subject: 'Hello' });
    expect(data.event).toEqual({ recipient: null, errorCode: null, reply: null, url: null });
  });

  const shown = ({ id, status, subject }: Record<string, unknown>) => ({ id, status, subject });

  it('is made once and stored', async () => {
    const { message, delivery } = await ofMessage();
    const bodies = [await bodyOf(app, delivery), await bodyOf(app, delivery)];
    expect(new Set(bodies).size).toBe(1);
    expect(presented).toBe(1);
    expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
      type: 'message.sent',
      organizationId: test.caller.organizationId,
      data: { id: message, subject: 'private' },
    });
  });

  it.each(['before', 'after'])('has only the id when its message is deleted %s', async (when) => {
    const { message, delivery } = await ofMessage();
    const first = when === 'after' ? await bodyOf(app, delivery) : null;
    await deleteMessage(app, test.caller, message);
    const body = await bodyOf(app, delivery);
    expect(JSON.parse(body)).toEqual({
      type: 'message.sent',
      timestamp: new Date(delivery.created_at).toISOString(),
      data: { id: message, deleted: true },
      organizationId: test.caller.organizationId,
    });
    expect(body).not.toBe(first);
    expect(await bodyOf(app, delivery)).toBe(body);
    const { rows } = await sql<{ n: number }>`select cast(count(*) as integer) as n
      from webhook_bodies where body like '%private%'`.execute(app.store.db);
    expect(rows[0]?.n).toBe(0);
  });

  it('is read and made for as many deliveries as fit into a budget', async () => {
    const endpoint = await makeEndpoint(test, 'http://127.0.0.1:1/');
    const data = { text: 'x'.repeat(200 * 1024) };
    const ids = await makeDeliveries(test, endpoint, 8, { data });
    const deliveries = await Promise.all(ids.map((id) => deliveryRow(app, id)));
    const budget = 1024 * 1024;
    expect((await bodiesOf(app, deliveries, budget)).size).toBe(4);
    expect((await bodiesOf(app, deliveries, 8 * budget)).size).toBe(8);
    expect((await bodiesOf(app, deliveries, budget)).size).toBe(5);
  });

  it('is posted even when it did not fit into the budget of its claim', async () => {
    const to = await receiver();
    const data = { text: 'x'.repeat(250 * 1024) };
    for (let i = 0; i < 20; i++) {
      await makeDeliveries(test, await makeEndpoint(test, `${to.url}${i}`), 5, { data });
    }
    const loop = createWebhookLoop(app);
    await loop.start();
    await until(async () => {
      await test.clock.advance(1);
      return to.received.length === 100;
    });
    expect(to.received.every(({ body }) => body.length > 250 * 1024)).toBe(true);
    await loop.idle();
    await loop.stop(0);
    await to.close();
  });

  it('has only the id when its message is deleted during its making', async () => {
    const { message, delivery } = await ofMessage();
    const presentUndisturbed = present;
    present = async (...asked) => {
      const shown = await presentUndisturbed(...asked);
      await deleteMessage(app, test.caller, message);
      return shown;
    };
    expect(JSON.parse(await bodyOf(app, delivery)).data).toEqual({ id: message, deleted: true });
  });

  it('is deleted with its ended delivery and attempts after 90 days', async () => {
    const endpoint = await makeEndpoint(test, 'http://127.0.0.1:1/');
    const ended = { status: 'delivered', due_at: null } as const;
    const old = await makeDeliveries(test, endpoint, 1_200, ended);
    const [pending = ''] = await makeDeliveries(test, endpoint, 1);
    await bodyOf(app, await deliveryRow(app, old[0] ?? ''));
    await app.store.write((trx) =>
      sql`insert into webhook_attempts (id, delivery_id, "trigger", at, duration_ms, outcome)
        values ('wha_1', ${old[0]}, 'automatic', ${test.clock.now()}, 1, 'succeeded')`.execute(trx),
    );
    await test.clock.advance(90 * dayMs);
    expect(await sweepWebhooks(app)).toBe(0);
    const [young = ''] = await makeDeliveries(test, endpoint, 1, ended);
    await test.clock.advance(1);
    expect(await sweepWebhooks(app)).toBeGreaterThanOrEqual(1_201);
    const { rows } = await sql<{ id: string }>`select id from webhook_deliveries
      order by id`.execute(app.store.db);
    expect(rows.map(({ id }) => id)).toEqual([pending, young].sort());
    expect(await attemptRows(app, old[0] ?? '')).toEqual([]);
    const { rows: bodies } = await sql`select 1 from webhook_bodies`.execute(app.store.db);
    expect(bodies).toEqual([]);
    // Deleted deliveries leave the counters; existing ones stay counted.
    const { counted, byRows } = await countsOf(app, endpoint);
    expect(counted).toEqual(byRows);
    const { rows: quarters } = await sql<{ n: number }>`select delivered + pending as n
      from webhook_counters order by quarter`.execute(app.store.db);
    expect(quarters.map(({ n }) => n)).toEqual([1, 1]);
  });

  it('is deleted with the count of its quarter hour, once that is empty', async () => {
    const endpoint = await makeEndpoint(test, 'http://127.0.0.1:1/');
    const ended = { status: 'exhausted', due_at: null } as const;
    await makeDeliveries(test, endpoint, 3, ended);
    await test.clock.advance(91 * dayMs);
    await makeDeliveries(test, endpoint, 1, ended);
    await sweepWebhooks(app);
    // The next sweep deletes those that this one emptied, after checking each again.
    await sweepWebhooks(app);
    const { rows } = await sql`select exhausted from webhook_counters`.execute(app.store.db);
    expect(rows).toEqual([{ exhausted: 1 }]);
  });

  it('is deleted with its event after 90 days, and the steps of a message stay', async () => {
    const { message } = await ofMessage();
    const endpoint = await makeEndpoint(test, 'http://127.0.0.1:1/');
    await makeDeliveries(test, endpoint, 1_200);
    const events = async () => {
      const { rows } = await sql<{ n: number }>`
        select cast(count(*) as integer) as n from resource_events`.execute(app.store.db);
      return Number(rows[0]?.n);
    };
    const before = await events();
    await test.clock.advance(90 * dayMs);
    expect(await sweepEvents(app)).toBe(0);
    await makeDeliveries(test, endpoint, 1);
    await test.clock.advance(1);
    expect(await sweepEvents(app)).toBe(before);
    expect(await events()).toBe(1);
    const { rows: steps } = await sql`select 1 from events where message_id = ${message}`.execute(
      app.store.db,
    );
    expect(steps.length).toBeGreaterThan(0);
  });
});

describe('the size of a body', () => {
  const event = { type: 'webhook.test', timestamp: 0, organizationId: 'org_1' };

  it.each([
    ['many recipients', { id: 'msg_1', to: Array(20_000).fill({ email: 'a@example.com' }) }],
    ['long facts', { id: 'msg_1', event: { reply: '👋'.repeat(200_000) } }],
    ['many fields', Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, i]))],
    ['deep', JSON.parse(`${'{"a":'.repeat(2_000)}"${'x'.repeat(300_000)}"${'}'.repeat(2_000)}`)],
    ['escapes', { id: 'msg_1', a: Array(100).fill('\u0000'.repeat(60_000)) }],
  ])('is at most 256 KB with %s', (_name, data) => {
    const body = eventBody({ ...event, data });
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(mostBodyBytes);
    expect(JSON.parse(body).data.truncated).toBe(true);
    expect(body).not.toMatch(/\\ud83d"/);
  });

  it('may be exactly 256 KB', () => {
    const around = Buffer.byteLength(eventBody({ ...event, data: { a: '' } }));
    const data = { a: 'x'.repeat(mostBodyBytes - around) };
    expect(JSON.parse(eventBody({ ...event, data })).data).toEqual(data);
    const longer = eventBody({ ...event, data: { a: `${data.a}x` } });
    expect(JSON.parse(longer).data.truncated).toBe(true);
  });
});
