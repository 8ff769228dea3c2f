// The data of a message's event is of one instant: read at any later time, it has no time behind
// the event, and the statuses of message, recipients and deliveries agree.
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/outbound/messages/schema.ts';
import { stores } from '../../support/command.ts';
import { send, startPipeline } from '../../support/delivery.ts';
import { eachApi } from '../../support/each-app.ts';

const minuteMs = 60_000;

interface Logged {
  type: string;
  timestamp: string;
  data: Message & { event: { recipient: string | null } };
}

/** Times that lie ahead by their nature. */
const plans = ['scheduledFor', 'dueAt', 'expiresAt', 'nextRetryAt'];
const isTime = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** Returns the names of all times within a value that come after `at`. */
function timesAfter(at: number, value: unknown, name = ''): string[] {
  if (typeof value === 'string') {
    const isLater = isTime.test(value) && !plans.includes(name) && Date.parse(value) > at;
    return isLater ? [`${name} ${value}`] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([inner, one]) => timesAfter(at, one, inner));
}

describe.each(stores)('the data of a message event on %s', (store) => {
  const { test, api } = eachApi({ store });

  /** Sends, waits for the end of all deliveries, and returns the log, oldest first. */
  async function logOf(to: readonly string[]): Promise<Logged[]> {
    const { app, caller, clock } = test;
    const { id } = await send(app, caller, to);
    await clock.advance(minuteMs);
    const pipeline = await startPipeline(app);
    await pipeline.idle();
    await clock.advance(10 * minuteMs);
    await pipeline.idle();
    await pipeline.close();
    const { body } = await api.get<{ items: Logged[] }>(`/v1/events?subject=${id}&order=asc`);
    return body.items;
  }

  it('shows each step of a mail that a server defers, as it was then', async () => {
    const items = await logOf(['deferred@simulator.test']);
    const told = items.map(({ type, data: { status, recipients, deliveries } }) => {
      const [delivery] = deliveries;
      const { attemptCount = 0, attempts = [], sentAt = null, deliveredAt = null } = delivery ?? {};
      expect([recipients[0]?.status, delivery?.status]).toEqual([status, status]);
      expect(attempts).toHaveLength(attemptCount);
      return [type, status, attemptCount, sentAt !== null, deliveredAt !== null];
    });
    expect(told).toEqual([
      ['message.accepted', 'pending', 0, false, false],
      ['message.deferred', 'processing', 1, false, false],
      ['message.sent', 'sent', 2, true, false],
      ['message.delivered', 'delivered', 2, true, true],
    ]);
    for (const { timestamp, type, data } of items) {
      expect([type, timesAfter(Date.parse(timestamp), data)]).toEqual([type, []]);
    }
  });

  it('shows of several recipients what had become of each', async () => {
    const to = ['bounced@simulator.test', 'deferred@simulator.test', 'delivered@simulator.test'];
    const items = await logOf(to);
    const statusesAt = (type: string, index: number) => {
      const found = items.find(
        (one) => one.type === type && one.data.event.recipient === to[index],
      );
      return found?.data.recipients.map(({ status }) => status);
    };
    expect(items[0]?.data.recipients.map(({ status }) => status)).toEqual([
      ...['pending', 'pending', 'pending'],
    ]);
    expect(statusesAt('message.bounced', 0)?.[0]).toBe('bounced');
    expect(statusesAt('message.deferred', 1)?.[1]).toBe('processing');
    expect(statusesAt('message.sent', 2)?.[2]).toBe('sent');
    expect(statusesAt('message.delivered', 1)).toEqual(['bounced', 'delivered', 'delivered']);
    for (const { timestamp, type, data } of items) {
      expect([type, timesAfter(Date.parse(timestamp), data)]).toEqual([type, []]);
    }
  });
});
