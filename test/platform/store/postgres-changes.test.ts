// Notifications of commits between processes on one PostgreSQL, over real connections. The clock is
// the test's, so that only a notification or a poll can report a commit.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/platform/runtime/clock.ts';
import type { Store } from '../../../src/platform/store/db.ts';
import { openPostgres } from '../../../src/platform/store/postgres/postgres.ts';
import { until } from '../../support/daemon-process.ts';
import { type PostgresSchema, postgresDatabase } from '../../support/postgres.ts';
import { type TcpProxy, tcpProxy, throughProxy } from '../../support/tcp-proxy.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

/** A separate database, because other tests notify in the shared one. */
let database: PostgresSchema;
let proxy: TcpProxy;
const opened: Store[] = [];

beforeEach(async () => {
  database = await postgresDatabase(inject('postgresUrl'));
  proxy = await tcpProxy(Number(new URL(database.url).port));
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('create table things (id integer)');
  await client.end();
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await proxy.close();
  await database.drop();
});

async function open(clock: Clock = systemClock, url = database.url): Promise<Store> {
  const store = await openPostgres({ url }, { clock });
  opened.push(store);
  return store;
}

/** Count of unanswered queries of this process. */
let unanswered = 0;
const { query } = pg.Client.prototype;
beforeAll(() => {
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const answer: Promise<unknown> = Reflect.apply(query, this, given);
    unanswered += 1;
    const end = () => {
      unanswered -= 1;
    };
    answer.then(end, end);
    return answer;
  } as typeof query;
});
afterAll(() => {
  pg.Client.prototype.query = query;
});

/** Advances the clock; concurrent queries take no time of it. */
async function pass(clock: VirtualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1_000) {
    await clock.advance(Math.min(left, 1_000));
    await until(() => unanswered === 0, 'the answers of the server');
  }
}

const change = (store: Store) =>
  store.write((trx) => sql`insert into things values (1)`.execute(trx));

/**
 * Longer than the hold-back of notifications after the first, shorter than the time until the next
 * poll.
 */
const quietMs = 100;

/** Counts the change reports of the store, from the time that it listens. */
async function listen(store: Store, clock?: VirtualClock): Promise<() => number> {
  let told = 0;
  store.onChange(() => {
    told += 1;
  });
  // The first report follows as soon as the connection listens.
  await until(() => told > 0, 'a store that listens');
  await clock?.advance(quietMs);
  const before = told;
  return () => told - before;
}

/** Listens on the channel with a bare connection, and collects its notifications. */
async function listenBare(): Promise<{ notifications: string[]; close(): Promise<void> }> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const notifications: string[] = [];
  client.on('notification', ({ channel }) => notifications.push(channel));
  await client.query('listen svc_changes');
  return { notifications, close: () => client.end() };
}

it('a commit is reported in its own process at once, without a notification', async () => {
  const clock = virtualClock();
  const store = await open(clock, throughProxy(database.url, proxy));
  const told = await listen(store, clock);
  proxy.cut();
  proxy.mend();
  // The pool connects again; the listening connection waits for a clock that stands still.
  const ask = () => sql`select 1`.execute(store.db).catch(() => null);
  await until(ask, 'a connection');
  await change(store);
  expect(told()).toBe(1);
});

it('a commit is reported in other processes by a notification, without a poll', async () => {
  const clock = virtualClock();
  const told = await listen(await open(clock), clock);
  await change(await open());
  await until(() => told() > 0, 'the notification');
});

it('many commits cause one notification at once and the next after 50 ms', async () => {
  const clock = virtualClock();
  const store = await open(clock);
  await listen(store, clock);
  const other = await listenBare();
  for (let i = 0; i < 20; i++) await change(store);
  await until(() => other.notifications.length === 1, 'the first notification');
  await clock.advance(49);
  await change(store);
  expect(other.notifications).toHaveLength(1);
  await clock.advance(1);
  await until(() => other.notifications.length === 2, 'the second notification');
  await other.close();
});

it('a quiet write is not reported', async () => {
  const clock = virtualClock();
  const store = await open(clock);
  const told = await listen(store, clock);
  const other = await listenBare();
  await store.write((trx) => sql`insert into things values (1)`.execute(trx), 'quiet');
  await change(store);
  await until(() => other.notifications.length > 0, 'the notification of the second write');
  expect(told()).toBe(1);
  expect(other.notifications).toHaveLength(1);
  await other.close();
});

it('a store closed right after its commit has sent its notification', async () => {
  const other = await listenBare();
  const store = await openPostgres(database);
  await change(store);
  await store.close();
  await until(() => other.notifications.length === 1, 'the notification');
  await other.close();
});

it('a listener polls every 5 s, and every 250 ms for 5 s after a change', async () => {
  const clock = virtualClock();
  const store = await open(clock);
  const told = await listen(store, clock);
  await pass(clock, 10_000);
  const idle = told();
  await pass(clock, 20_000);
  expect(told() - idle).toBe(4);
  await change(store);
  const busy = told();
  await pass(clock, 5_000);
  expect(told() - busy).toBe(20);
  await pass(clock, 10_000);
  const over = told();
  await pass(clock, 20_000);
  expect(told() - over).toBe(4);
});

it('a commit of a killed process is seen after 5 s at most', async () => {
  const clock = virtualClock();
  const store = await open(clock);
  const told = await listen(store, clock);
  // Waits until polls are rare again.
  await pass(clock, 20_000);
  const child = fork(new URL('./killed-before-notify-process.ts', import.meta.url), [database.url]);
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
  const { rows } = await sql`select id from things`.execute(store.db);
  expect(rows).toEqual([{ id: 7 }]);
  const before = told();
  await pass(clock, 5_000);
  expect(told()).toBe(before + 1);
});

it('a dead listening connection is replaced within 10 s', async () => {
  const clock = virtualClock();
  const store = await open(clock, throughProxy(database.url, proxy));
  const told = await listen(store, clock);
  const before = proxy.connections;
  proxy.freeze();
  await clock.advance(5_000);
  expect(proxy.connections).toBe(before);
  await clock.advance(5_000);
  await until(async () => {
    await clock.advance(1_000);
    return proxy.connections > before;
  }, 'another connection');
  await new Promise<void>((resolve) => {
    store.onChange(resolve);
  });
  await clock.advance(quietMs);
  const heard = told();
  await change(await open());
  await until(() => told() > heard, 'the notification');
});
