// From an event to its deliveries: in one transaction, for each active endpoint that subscribes to
// it, from a cache of the endpoints.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { byOperator, eventToRecord, record } from '../../src/history/events/record.ts';
import { WebhookEnqueueError } from '../../src/platform/errors.ts';
import type { Db } from '../../src/platform/store/db.ts';
import { endpointChanges, endpoints } from '../../src/webhooks/endpoints/queries.ts';
import {
  createWebhook,
  deleteWebhook,
  updateWebhook,
} from '../../src/webhooks/endpoints/webhooks.ts';
import { webhookDisabled } from '../../src/webhooks/events.ts';
import {
  noRows,
  otherOrganization,
  payload,
  rowCounts,
  send,
} from '../outbound/messages/fixtures.ts';
import { bothStores } from '../support/command.ts';
import { eachApi } from '../support/each-app.ts';
import { watchQueries } from '../support/watched-queries.ts';
import { counterSums, deliveryRows, endpoint, hookUrl, publishEvent } from './fixtures.ts';

describe.each(bothStores)('enqueuing a delivery on %s', (store) => {
  const { test, api } = eachApi({ store });
  const kinds = async () => (await deliveryRows(test.app)).map(({ event_type }) => event_type);

  it('happens for each active endpoint that subscribes to the event, and for no other', async () => {
    const all = await endpoint(test);
    const some = await endpoint(test, { events: ['message.sent', 'domain.*'] });
    const none = await endpoint(test, { events: ['mailbox.*', 'message.delivered'] });
    const off = await endpoint(test);
    await updateWebhook(test.app, test.operator, off.id, { status: 'disabled' });
    const { caller: foreign } = await otherOrganization(test.app);
    await createWebhook(test.app, foreign, { url: hookUrl, events: ['*'] });
    await publishEvent(test, 'sent');
    await publishEvent(test, 'queued');
    const rows = await deliveryRows(test.app);
    expect(new Set(rows.map(({ endpoint_id }) => endpoint_id))).toEqual(new Set([all.id, some.id]));
    expect(rows).toHaveLength(2);
    const now = test.clock.now();
    const events = await sql<{ id: string; message_id: string }>`
      select id, message_id from events where event_type = 'sent'`.execute(test.app.store.db);
    const [event] = events.rows;
    for (const row of rows) {
      expect(row).toMatchObject({
        organization_id: test.operator.organizationId,
        event_id: event?.id,
        event_type: 'message.sent',
        message_id: event?.message_id,
        status: 'pending',
        attempt_count: 0,
        due_at: now,
        is_replay: 0,
      });
    }
    expect(await counterSums(test.app)).toEqual({
      [all.id]: [1, 0, 0, 0],
      [some.id]: [1, 0, 0, 0],
    });
    expect(await counterSums(test.app)).not.toHaveProperty(none.id);
  });

  it('happens in the transaction of a send', async () => {
    await endpoint(test, { events: ['message.accepted'] });
    const { id } = await send(api);
    expect(await deliveryRows(test.app)).toMatchObject([
      { message_id: id, event_type: 'message.accepted' },
    ]);
  });

  it('fails the send with WebhookEnqueueError and stores nothing of it', async () => {
    await endpoint(test);
    const rename = (from: string, to: string) =>
      test.app.store.write((trx) =>
        sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`.execute(trx),
      );
    await rename('webhook_deliveries', 'away');
    const { status, body, headers } = await api.post('/v1/messages', payload());
    expect([status, body]).toEqual([
      500,
      { _tag: 'WebhookEnqueueError', message: expect.stringContaining('message.accepted') },
    ]);
    expect(headers['x-service-error-layer']).toBe('webhooks');
    expect(await rowCounts(test.app)).toEqual(noRows);
    await expect(publishEvent(test)).rejects.toThrow(WebhookEnqueueError);
    expect(await rowCounts(test.app)).toEqual(noRows);
    await rename('away', 'webhook_deliveries');
    await send(api);
    expect(await kinds()).toEqual(['message.accepted']);
  });

  it('costs no query for an organization without endpoints', async () => {
    await publishEvent(test);
    const watched = watchQueries();
    try {
      await publishEvent(test);
      const asked = () => watched.take().filter(({ text }) => text.includes('webhook'));
      expect(asked()).toEqual([]);
      await test.clock.advance(500);
      await publishEvent(test);
      expect(asked().map(({ text, times }) => [/from "(\w+)"/.exec(text)?.[1], times])).toEqual([
        ['webhook_changes', 1],
      ]);
    } finally {
      watched.stop();
    }
  });

  it('follows a change by this process at once, by another within a second', async () => {
    await publishEvent(test);
    const { id } = await endpoint(test, { events: ['message.sent'] });
    await publishEvent(test);
    expect(await kinds()).toEqual(['message.sent']);
    const other = { app: await test.another(), operator: test.operator };
    await updateWebhook(other.app, test.operator, id, { events: ['message.delivered'] });
    await test.clock.advance(500);
    await publishEvent(test, 'sent');
    await publishEvent(test, 'delivered');
    expect(await kinds()).toEqual(['message.sent', 'message.delivered']);
  });

  it('skips an endpoint that another process has deleted or disabled meanwhile', async () => {
    const gone = await endpoint(test);
    const off = await endpoint(test);
    const stays = await endpoint(test);
    await publishEvent(test);
    const other = await test.another();
    await deleteWebhook(other, test.operator, gone.id);
    await updateWebhook(other, test.operator, off.id, { status: 'disabled' });
    await publishEvent(test);
    const rows = await deliveryRows(test.app);
    const of = ({ id }: { id: string }) =>
      rows.filter((row) => row.endpoint_id === id).map(({ status }) => status);
    expect([of(gone), of(off), of(stays)]).toEqual([[], ['cancelled'], ['pending', 'pending']]);
  });

  it('caches nothing that a failed transaction read of its own change', async () => {
    const { id } = await endpoint(test);
    await test.clock.advance(500);
    const { app, operator } = test;
    const disable = async (trx: Db) => {
      endpointChanges.note(trx);
      await endpoints.update(trx, operator.organizationId, id, { status: 'disabled' });
      const event = eventToRecord(webhookDisabled, webhookDisabled.sample);
      await record(app, trx, byOperator(operator.organizationId), { subject: id, event });
      throw new RangeError('no');
    };
    await expect(app.store.write(disable)).rejects.toThrow(RangeError);
    await publishEvent(test);
    expect(await kinds()).toEqual(['message.sent']);
  });

  it('notifies the other endpoints of a disabled one', async () => {
    const { id } = await endpoint(test);
    const listener = await endpoint(test, { events: ['webhook.disabled'] });
    const { app, operator } = test;
    await app.store.write(async (trx) => {
      endpointChanges.note(trx);
      await endpoints.update(trx, operator.organizationId, id, { status: 'disabled' });
      const event = eventToRecord(webhookDisabled, webhookDisabled.sample);
      await record(app, trx, byOperator(operator.organizationId), { subject: id, event });
    });
    const rows = await deliveryRows(app);
    expect(rows).toMatchObject([{ endpoint_id: listener.id, event_type: 'webhook.disabled' }]);
  });
});
