// Readers of the log while the clock is 120 days ahead for a while, or behind. Each event arrives
// once, whatever its id. The uses of times of ids are found in the sources: each states the effect
// of a clock that ran ahead.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startHeartbeat } from '../../../src/core/clock/heartbeat.ts';
import { findClockState } from '../../../src/core/clock/queries.ts';
import { followLog, followPlaces } from '../../../src/history/events/follow.ts';
import type { LogPlace } from '../../../src/history/events/log-queries.ts';
import { recordTimeline } from '../../../src/history/events/record.ts';
import { clockJumpsOf } from '../../../src/platform/runtime/clock-jumps.ts';
import { filesUnder } from '../../docs/plain-tests.ts';
import { bothStores } from '../../support/command.ts';
import { eachApp } from '../../support/each-app.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

describe.each(bothStores)('a reader of the log on %s', (store) => {
  const test = eachApp({ store });
  let count = 0;

  const write = async () => {
    const { app, caller } = test;
    const messageId = `msg_${count++}`;
    await app.store.write((trx) =>
      recordTimeline(app, trx, [
        {
          ...{ organizationId: caller.organizationId, messageId, recipientId: null },
          ...{ eventType: 'sent', status: 'sent', timestamp: app.clock.now(), metadata: null },
        },
      ]),
    );
    return messageId;
  };
  /**
   * Lets time pass until `answer`. Each step waits for the server: after a read that takes long by
   * the virtual clock, a reader rests ten times as long.
   */
  async function passing<T>(answer: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    answer.then(settle, settle);
    while (!isSettled) {
      await test.clock.advance(100);
      await test.app.store.isWritable();
    }
    return answer;
  }
  const set = (ms: number) => test.clock.set(test.clock.now() + ms);

  type Way = (signal: AbortSignal) => Promise<() => Promise<string[]>>;
  const ways: Readonly<Record<string, Way>> = {
    async 'followLog from now on'(signal) {
      const log = await followLog(test.app, test.caller.organizationId, {}, signal);
      return async () => [(await log.next()).value?.subject ?? ''];
    },
    async 'followLog from a time on'(signal) {
      const since = test.clock.now();
      const log = await followLog(test.app, test.caller.organizationId, { since }, signal);
      return async () => [(await log.next()).value?.subject ?? ''];
    },
    async 'followLog after an event'(signal) {
      const log = await followLog(test.app, test.caller.organizationId, {}, signal);
      await write();
      const { value } = await passing(log.next());
      const after = { after: value?.id };
      const next = await followLog(test.app, test.caller.organizationId, after, signal);
      return async () => [(await next.next()).value?.subject ?? ''];
    },
    async followPlaces(signal) {
      const log = await followPlaces(test.app, test.caller.organizationId, {}, signal);
      return async () => {
        const { value } = await log.next();
        return ((value ?? []) as LogPlace[]).map(({ subject }) => subject);
      };
    },
  };

  const ahead = [120 * day, -120 * day, 20 * minute, -20 * minute];
  const behind = [-120 * day, 120 * day];
  it.each([
    ['followLog from now on', [...ahead, ...behind]],
    // Events of a clock that is behind are before the time.
    ['followLog from a time on', ahead],
    ['followLog after an event', [...ahead, ...behind]],
    ['followPlaces', [...ahead, ...behind]],
  ])('%s receives each event once over jumps', async (name, jumps) => {
    await test.clock.advance(10_000);
    const ending = new AbortController();
    const next = await ways[name]?.(ending.signal);
    if (!next) throw new Error('no way');
    const received: string[] = [];
    const written: string[] = [];
    /** Writes an event, and waits until the reader has all. */
    const arrive = async (events = 1) => {
      for (let at = 0; at < events; at++) written.push(await write());
      while (received.length < written.length) {
        received.push(...(await passing(next())));
      }
    };
    await arrive();
    // The first event after a jump, the next read, and one that comes after 30 s without an event.
    for (const jumpMs of jumps) {
      set(jumpMs);
      await arrive();
      await arrive(3);
      await test.clock.advance(90_000);
      await arrive();
    }
    // A right clock comes to the ids of the wrong one: none arrives again.
    for (let passed = 0; passed < 6; passed++) {
      await test.clock.advance(5 * minute);
      await arrive();
    }
    ending.abort();
    expect(received).toEqual(written);
  });

  it('receives events that were under way as the clock was set back', async () => {
    const ending = new AbortController();
    const { organizationId } = test.caller;
    set(120 * day);
    await test.clock.advance(minute);
    const log = await followLog(test.app, organizationId, {}, ending.signal);
    const wanted = [await write(), await write()];
    set(-120 * day);
    wanted.push(await write());
    const received: (string | undefined)[] = [];
    while (received.length < 3) {
      received.push((await passing(log.next())).value?.subject);
    }
    ending.abort();
    expect(received).toEqual(wanted);
  });

  it('continues after an event of a clock that ran ahead, and misses none since', async () => {
    const { app, clock, caller } = test;
    const endHeartbeat = await startHeartbeat(app);
    await clock.advance(10 * minute);
    const ending = new AbortController();
    set(120 * day);
    clockJumpsOf(app).look();
    const log = await followLog(app, caller.organizationId, {}, ending.signal);
    await write();
    const last = (await passing(log.next())).value;
    ending.abort();
    const wanted = [await write()];
    await clock.advance(minute);
    set(-120 * day);
    wanted.push(await write());
    await clock.advance(2 * minute);
    await expect
      .poll(() => findClockState(app.store.db))
      .toMatchObject({ jump_ms: expect.closeTo(-120 * day, -5) });
    wanted.push(await write());
    const again = new AbortController();
    const next = await followLog(app, caller.organizationId, { after: last?.id }, again.signal);
    const received: (string | undefined)[] = [];
    while (received.length < wanted.length) {
      received.push((await passing(next.next())).value?.subject);
    }
    again.abort();
    await endHeartbeat();
    expect(new Set(received)).toEqual(new Set(wanted));
  });

  it('starts beside events of a clock that ran ahead', async () => {
    const { app, clock, caller } = test;
    await clock.advance(minute);
    const since = clock.now();
    set(120 * day);
    const early = await write();
    set(-120 * day);
    await clock.advance(minute);
    const ending = new AbortController();
    const [fromNow, fromThen] = await Promise.all(
      [{}, { since }].map((one) => followLog(app, caller.organizationId, one, ending.signal)),
    );
    const late = await write();
    const next = async (log = fromNow) => log && (await passing(log.next())).value?.subject;
    expect(await next()).toBe(late);
    expect([await next(fromThen), await next(fromThen)].toSorted()).toEqual([early, late]);
    ending.abort();
  });
});

/** Sources that compare times of ids, and the effect of a clock that ran ahead on each. */
const uses: Readonly<Record<string, string>> = {
  'daemon/console/live.ts': 'first events since a page: the reader of the log has all later ones',
  'src/core/api/cursor.ts': 'pages of a list: its end stays',
  'src/history/events/log-reader.ts': 'readers of the log: this test',
  'src/history/events/log.ts': 'pages of a list: its end stays',
  'src/history/events/retention.ts': 'a time of `timeOfAge`',
  'src/inbox/approvals/activity.ts': 'counts of an hour that is over',
  'src/inbox/approvals/hour-queries.ts': 'the hour of an action: a count',
  'src/outbound/messages/forget/retention-queries.ts': 'a time of `timeOfAge`',
  'src/outbound/messages/lists/search.ts': 'returns to the present (test/outbound/messages)',
  'src/outbound/queue/attempting/return-path.ts': 'the key of a token: any time',
  'src/outbound/tracking/tokens.ts': 'the key of a token: any time',
  'src/outbound/unsubscribe-links/tokens.ts': 'the key of a token: any time',
  'src/people/blocks/lift.ts': 'bounds of a selection: any time',
  'src/people/blocks/queries.ts': 'beside the time of the row: no id is older than its row',
  'src/service/erasing/actions.ts': 'events near an action: made by the same clock',
  'src/service/erasing/member.ts':
    'rows since a day before the member: the clock ran ahead by less',
  'src/webhooks/deliveries/list-queries.ts': 'pages of a list, and a replay since a time',
};

it('each use of times of ids is in the list', () => {
  const found = ['src', 'daemon', 'commands'].flatMap((folder) =>
    filesUnder(folder, /\.ts$/).filter(
      (file) =>
        !file.endsWith('platform/runtime/ids.ts') &&
        /\b(?:firstIdAt|timeOfId)\(/.test(readFileSync(file, 'utf8')),
    ),
  );
  expect(found.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(Object.keys(uses));
});
