// Followers of the log: each event once in any order of commits, and again from a position after a
// cut.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { followLog } from '../../../src/history/events/follow.ts';
import type { LogEntry } from '../../../src/history/events/log.ts';
import { recordTimeline } from '../../../src/history/events/record.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { heldWrite } from '../../outbound/messages/fixtures.ts';
import { bothStores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';
import { passingTime } from '../../support/virtual-clock.ts';
import { watchQueries } from '../../support/watched-queries.ts';
import { longestStallMs } from '../../support/work-time.ts';

describe.each(bothStores)('a follower on %s', (store) => {
  const test = eachApp({ store });

  const step = (app: App, messageId: string) => ({
    organizationId: test.caller.organizationId,
    messageId,
    recipientId: null,
    eventType: 'sent' as const,
    status: 'sent',
    timestamp: app.clock.now(),
    metadata: null,
  });
  const write = (app: App, ...ids: string[]) =>
    app.store.write((trx) =>
      recordTimeline(
        app,
        trx,
        ids.map((id) => step(app, id)),
      ),
    );
  /** Follows until `isEnough`, then cuts the follower. */
  async function follow(
    following: Parameters<typeof followLog>[2],
    isEnough: (received: readonly LogEntry[]) => boolean,
    meanwhile: () => Promise<unknown> = async () => {},
  ): Promise<LogEntry[]> {
    const ending = new AbortController();
    const { organizationId } = test.caller;
    const log = await followLog(test.app, organizationId, following, ending.signal);
    const received: LogEntry[] = [];
    const reading = (async () => {
      for await (const entry of log) {
        received.push(entry);
        if (isEnough(received)) return ending.abort();
      }
    })();
    await meanwhile();
    await passingTime(test.clock, reading, 100);
    return received;
  }
  const subjects = (received: readonly LogEntry[]) => received.map(({ subject }) => subject);

  it('stops listening for commits when it ends', async () => {
    const { store: own } = test.app;
    const { onChange } = own;
    let listeners = 0;
    own.onChange = (listener) => {
      const stop = onChange(listener);
      listeners += 1;
      return () => {
        listeners -= 1;
        stop();
      };
    };
    try {
      const during: number[] = [];
      await follow(
        {},
        (received) => received.length === 1,
        async () => {
          await expect.poll(() => listeners).toBe(1);
          during.push(listeners);
          await write(test.app, 'msg_a');
        },
      );
      expect([...during, listeners]).toEqual([1, 0]);
    } finally {
      own.onChange = onChange;
    }
  });

  it('receives events from its start on', async () => {
    await write(test.app, 'msg_before');
    const received = await follow(
      {},
      (received) => received.length === 3,
      async () => {
        await write(test.app, 'msg_1', 'msg_2');
        await write(test.app, 'msg_3');
      },
    );
    expect(subjects(received)).toEqual(['msg_1', 'msg_2', 'msg_3']);
  });

  it('receives past events, filtered by time, kind and message', async () => {
    await write(test.app, 'msg_1');
    await test.clock.advance(60_000);
    const since = test.clock.now();
    await write(test.app, 'msg_2', 'msg_3');
    await write(test.app, 'msg_2');
    const filter = { since, types: ['message.sent'], subject: 'msg_2' };
    expect(subjects(await follow(filter, (received) => received.length === 2))).toEqual([
      'msg_2',
      'msg_2',
    ]);
  });

  it('receives a long past in order', async () => {
    // After the events of the first start.
    await test.clock.advance(1_000);
    const since = test.clock.now();
    const ids = Array.from({ length: 5_000 }, (_, index) => `msg_${index}`);
    for (let at = 0; at < ids.length; at += 100) {
      await write(test.app, ...ids.slice(at, at + 100));
      await test.clock.advance(400);
    }
    const received = await follow({ since }, (received) => received.length === ids.length);
    expect(subjects(received)).toEqual(ids);
  });

  it('leaves the event loop free beside many others that start together', async () => {
    const ids = Array.from({ length: 6_000 }, (_, n) => `msg_${n}`);
    await write(test.app, ...ids);
    const ending = new AbortController();
    const { organizationId } = test.caller;
    const following = { types: ['warming.completed'], since: 1 };
    const logs = await Promise.all(
      Array.from({ length: 60 }, () =>
        followLog(test.app, organizationId, following, ending.signal),
      ),
    );
    const reading = Promise.all(logs.map((log) => log.next()));
    const turns = async () => {
      for (let turn = 0; turn < 500; turn++) await nextTurn();
    };
    const stalled = await longestStallMs(turns());
    ending.abort();
    await reading;
    expect(stalled).toBeLessThan(200);
  });

  it('pauses ever longer while nothing in a long past matches, and ends with its signal', async () => {
    await test.clock.advance(10_000);
    const since = test.clock.now();
    const ids = Array.from({ length: 1_000 }, (_, index) => `msg_${index}`);
    for (let count = 0; count < 40; count += 1) {
      await write(test.app, ...ids);
      await test.clock.advance(2_000);
    }
    const watch = watchQueries();
    const pagesRead = () =>
      watch
        .take()
        .filter(({ text }) => text.includes('"events"') && text.includes('limit'))
        .reduce((sum, { times }) => sum + times, 0);
    const ending = new AbortController();
    const following = { since, types: ['message.bounced'] };
    const log = await followLog(test.app, test.caller.organizationId, following, ending.signal);
    const next = log.next();
    try {
      const pages = [];
      for (const ms of [0, 100, 200, 400, 400, 400]) {
        await test.clock.advance(ms);
        for (let round = 0; round < 30; round++) await test.app.store.isWritable();
        pages.push(pagesRead());
      }
      expect(Math.max(...pages)).toBeLessThanOrEqual(5);
      expect(pages.slice(3)).toContain(0);
      ending.abort();
      expect(await next).toEqual({ done: true, value: undefined });
      pagesRead();
      await test.clock.advance(60_000);
      expect(pagesRead()).toBe(0);
    } finally {
      ending.abort();
      watch.stop();
    }
  });

  it('misses and repeats nothing across cuts, with four writers in two processes', async () => {
    const seed = Date.now() % 1_000_000;
    const random = seededRandom(seed);
    const whole = (below: number) => Math.floor(random.float() * below);
    const other = await test.another();
    const each = 60;
    const expected = Array.from({ length: 4 * each }, (_, index) => `msg_${index}`);
    const writer = async (number: number) => {
      for (let count = 0; count < each; count++) {
        const app = store === 'postgres' && number % 2 === 1 ? other : test.app;
        await app.store.write(async (trx) => {
          const event = step(app, expected[number * each + count] ?? '');
          await recordTimeline(app, trx, [event]);
          // The ids exist now, while others commit before.
          for (let turn = whole(4); turn > 0; turn--) await sql`select 1`.execute(trx);
        });
      }
    };
    // After the events of the first start.
    await test.clock.advance(1_000);
    const since = test.clock.now();
    const writing = Promise.all([0, 1, 2, 3].map(writer));
    const received: LogEntry[] = [];
    let after: string | undefined;
    while (received.length < expected.length) {
      const many = Math.min(1 + whole(20), expected.length - received.length);
      const from = after === undefined ? { since } : { after };
      received.push(...(await follow(from, (received) => received.length === many)));
      after = received.at(-1)?.id;
    }
    await writing;
    const inOrder = (ids: readonly string[]) => ids.toSorted((a, b) => (a < b ? -1 : 1));
    expect([seed, inOrder(subjects(received))]).toEqual([seed, inOrder(expected)]);
  });
});

describe('a follower on postgres', () => {
  const test = eachApp({ store: 'postgres' });

  it('receives a late commit with an earlier id, live and after a cut', async () => {
    const { app, clock } = test;
    const { organizationId } = test.caller;
    const event = (messageId: string) => ({
      organizationId,
      messageId,
      recipientId: null,
      eventType: 'sent' as const,
      status: 'sent',
      timestamp: clock.now(),
      metadata: null,
    });
    const record = (id: string) => app.store.write((trx) => recordTimeline(app, trx, [event(id)]));
    const ending = new AbortController();
    const log = await followLog(app, organizationId, {}, ending.signal);
    const next = async (from = log) => (await passingTime(clock, from.next(), 100)).value;
    await record('msg_first');
    const first = await next();
    const late = await heldWrite(app, (trx) => recordTimeline(app, trx, [event('msg_late')]));
    await record('msg_early');
    const waiting = log.next();
    // Time passes without an event to deliver: each round asks the server.
    for (let round = 0; round < 20; round++) {
      await clock.advance(100);
      await app.store.isWritable();
    }
    await late.commit();
    const second = (await passingTime(clock, waiting, 100)).value;
    const third = await next();
    expect([second?.subject, third?.subject]).toEqual(['msg_late', 'msg_early']);
    ending.abort();
    const again = new AbortController();
    const resumed = await followLog(app, organizationId, { after: first?.id }, again.signal);
    expect((await next(resumed))?.subject).toBe('msg_late');
    expect((await next(resumed))?.subject).toBe('msg_early');
    again.abort();
  });

  it('waits for no transaction longer than the overlap', async () => {
    const { app, clock } = test;
    const { organizationId } = test.caller;
    const event = (messageId: string) => ({
      organizationId,
      messageId,
      recipientId: null,
      eventType: 'sent' as const,
      status: 'sent',
      timestamp: clock.now(),
      metadata: null,
    });
    const ending = new AbortController();
    const log = await followLog(app, organizationId, {}, ending.signal);
    const long = await heldWrite(app, (trx) => recordTimeline(app, trx, [event('msg_long')]));
    await app.store.write((trx) => recordTimeline(app, trx, [event('msg_short')]));
    const before = clock.now();
    const received = await passingTime(clock, log.next(), 100);
    expect(received.value?.subject).toBe('msg_short');
    expect(clock.now() - before).toBeGreaterThanOrEqual(5_000);
    await long.commit();
    ending.abort();
  });
});
