// Retention deletes ended messages older than `retention.messagesDays`, with all their rows; usage stays. It
// pauses between batches and ends with the daemon.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { listMessages } from '../../../src/outbound/messages/messages.ts';
import { createRetention } from '../../../src/outbound/messages/retention.ts';
import { receiveMail, shortMail } from '../../inbox/receiving/received-mail.ts';
import { send, startPipeline } from '../../support/delivery.ts';
import { stores, type TestApp, testApp } from '../../support/test-app.ts';
import { noRows, rowCounts } from './fixtures.ts';

const dayMs = 86_400_000;
const quiet = { isPressing: () => false, isWorking: () => false };

let test: TestApp | undefined;
afterEach(() => test?.close());

async function withOld(store: (typeof stores)[number], messagesDays: number | null) {
  test = await testApp({ store, config: { retention: { messagesDays } } });
  const { app, caller } = test;
  const attachments = [{ filename: 'a.txt', content: 'eA==' }];
  for (let number = 0; number < 55; number++) {
    await send(app, caller, 'delivered@simulator.test', {
      email: { text: `${number}`, attachments },
    });
  }
  await receiveMail(app, shortMail('in'));
  const pipeline = await startPipeline(app);
  await pipeline.idle();
  await pipeline.close();
  return later(test, 2);
}

/** Starts the service again, days later. */
async function later({ clock, another, caller, operator }: TestApp, days: number) {
  clock.set(clock.now() + days * dayMs);
  return { app: await another(), clock, caller, operator };
}

type Service = Awaited<ReturnType<typeof later>>;

/** Runs the retention, while time passes. */
async function run({ app, clock }: Service, surroundings = quiet): Promise<number> {
  const done = createRetention(app, surroundings).run();
  let isDone = false;
  void done.finally(() => {
    isDone = true;
  });
  while (!isDone) await clock.advance(100);
  return done;
}

const usage = async ({ app }: Pick<Service, 'app'>) =>
  (await sql<object>`select * from counters order by 1, 2, 3`.execute(app.store.db)).rows;

describe.each(stores)('retention on %s', (store) => {
  it('deletes older messages with their rows, and keeps newer ones and the usage', async () => {
    const old = await withOld(store, 1);
    const counted = await usage(old);
    const { id } = await send(old.app, old.caller, 'ada@example.com');
    const before = await usage(old);
    expect(await run(old)).toBe(56);
    const query = { page: 1, limit: 100 } as const;
    const { items, pagination } = await listMessages(old.app, old.caller, query);
    expect(items.map((one) => one.id)).toEqual([id]);
    expect(pagination.total).toBe(1);
    const rows = await rowCounts(old.app);
    expect(rows).toEqual({
      ...noRows,
      messages: 1,
      contents: 1,
      recipients: 1,
      deliveries: 1,
      events: 1,
    });
    expect(await usage(old)).toEqual(before);
    expect(counted.length).toBeGreaterThan(0);
    expect(await run(old)).toBe(0);
  });

  it('keeps all messages without messagesDays, and unfinished ones with it', async () => {
    const old = await withOld(store, null);
    expect(await run(old)).toBe(0);
    await test?.close();
    test = await testApp({ store, config: { retention: { messagesDays: 1 } } });
    await send(test.app, test.caller, 'ada@example.com');
    expect(await run(await later(test, 3))).toBe(0);
  });

  it('does not age messages by a clock that is set forward', async () => {
    const old = await withOld(store, 30);
    old.clock.set(old.clock.now() + 365 * dayMs);
    expect(await run(old)).toBe(0);
  });

  it('pauses between batches, longer beside other work, and ends with a stop', async () => {
    const { app, clock } = await withOld(store, 1);
    const retention = createRetention(app, { ...quiet, isWorking: () => true });
    const done = retention.run();
    const left = async () => (await rowCounts(app)).messages;
    while ((await left()) > 6) await clock.advance(0);
    await clock.advance(40);
    expect(await left()).toBe(6);
    retention.stop();
    expect(await done).toBe(50);
  });
});
