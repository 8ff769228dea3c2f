// The timeline of a message (specification 2.2, 4.1): order, content, bounds.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type MessageEvent,
  type MessageEventType,
  recordTimeline,
} from '../../../src/history/events/record.ts';
import type { TimelineEvent } from '../../../src/outbound/messages/schema.ts';
import { send, timeline } from '../../outbound/messages/fixtures.ts';
import { stores } from '../../support/command.ts';
import { type HttpApi, httpApi } from '../../support/http-client.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const start = '2026-01-05T12:00:00.000Z';

describe.each(stores)('the timeline on %s', (store) => {
  let test: TestApp;
  let api: HttpApi;
  let id: string;
  beforeEach(async () => {
    test = await testApp({ store });
    api = httpApi(test);
    id = (await send(api)).id;
  });
  afterEach(async () => {
    await api.close();
    await test.close();
  });

  const event = (
    eventType: MessageEventType,
    status: string,
    more: Partial<MessageEvent> = {},
  ): MessageEvent => ({
    organizationId: test.caller.organizationId,
    messageId: id,
    recipientId: null,
    eventType,
    status,
    timestamp: test.clock.now(),
    metadata: null,
    ...more,
  });
  const record = (...events: MessageEvent[]) =>
    test.app.store.write((trx) => recordTimeline(test.app, trx, events));

  it('keeps the order of events within one millisecond', async () => {
    const steps: [MessageEventType, string][] = [
      ['queued', 'queued'],
      ['processing', 'processing'],
      ['sent', 'sent'],
      ['delivered', 'delivered'],
      ['opened', 'read'],
      ['clicked', 'read'],
      ['complained', 'complained'],
    ];
    const [first, second, ...others] = steps.map(([type, status]) => event(type, status));
    if (!first || !second) throw new Error('no steps');
    await record(first);
    await record(second);
    await record(...others);
    expect(await timeline(api, id)).toEqual([
      'accepted pending',
      ...steps.map((step) => step.join(' ')),
    ]);
  });

  it('shows type, status, time and metadata of each event', async () => {
    await test.clock.advance(1_500);
    const metadata = { recipient: 'ada@example.com', code: 451, nested: { reply: 'später' } };
    await record(event('deferred', 'processing', { metadata }));
    const { body } = await api.get<TimelineEvent[]>(`/v1/messages/${id}/events`);
    const ownId = expect.stringMatching(/^evt_[0-9a-hjkmnp-tv-z]{24}$/);
    expect(body).toEqual([
      {
        id: ownId,
        messageId: id,
        eventType: 'accepted',
        status: 'pending',
        timestamp: start,
        metadata: {},
      },
      {
        id: ownId,
        messageId: id,
        eventType: 'deferred',
        status: 'processing',
        timestamp: '2026-01-05T12:00:01.500Z',
        metadata,
      },
    ]);
  });

  it('excludes events of other messages', async () => {
    const other = await send(api);
    await record(event('sent', 'sent', { messageId: other.id }));
    expect(await timeline(api, id)).toEqual(['accepted pending']);
    expect(await timeline(api, other.id)).toEqual(['accepted pending', 'sent sent']);
  });

  it('is rolled back with its change', async () => {
    const failing = test.app.store.write(async (trx) => {
      await recordTimeline(test.app, trx, [event('sent', 'sent')]);
      throw new Error('the change failed');
    });
    await expect(failing).rejects.toThrow('the change failed');
    expect(await timeline(api, id)).toEqual(['accepted pending']);
  });

  it('is bounded at 1,000 events for a message in endless retry', async () => {
    const many = Array.from({ length: 1_200 }, () => event('deferred', 'processing'));
    await record(...many);
    const shown = await timeline(api, id);
    expect([shown.length, shown[0]]).toEqual([1_000, 'deferred processing']);
  });

  it('keeps the newest events beyond its bound', async () => {
    const many = Array.from({ length: 1_200 }, () => event('deferred', 'processing'));
    await record(...many);
    await record(event('sent', 'sent'), event('delivered', 'delivered'));
    const shown = await timeline(api, id);
    expect(shown).toHaveLength(1_000);
    expect(shown.slice(-3)).toEqual(['deferred processing', 'sent sent', 'delivered delivered']);
  });
});
