// svc doctor on PostgreSQL: its clock, its durability, its dead rows and open transactions.
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { examine } from '../../../src/doctor/examine.ts';
import { systemClock } from '../../../src/platform/runtime/clock.ts';
import { DatabaseClock, databaseTime } from '../../../src/platform/store/changes/database-clock.ts';
import { kyselyOn, noStreaming } from '../../../src/platform/store/dialect.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let test: TestApp | undefined;
afterEach(() => test?.close());

async function look(app: App, name: string) {
  const [finding] = await examine(app, { only: [name] });
  return [finding?.status, finding?.found];
}

/** The app over a server that answers each query with this row. */
function answering(app: App, row: object): App {
  const executeQuery = async () => ({ rows: [row] as never[] });
  const db = kyselyOn('postgres', { executeQuery, streamQuery: noStreaming });
  return { ...app, store: { ...app.store, kind: 'postgres', db } };
}

describe('database-clock', () => {
  it.each([
    ['ok', 4_900, '5 s'],
    ['warn', 6_000, '6 s'],
    ['warn', -20_000, '20 s'],
    ['fail', 31_000, '31 s'],
  ])('is %s with a clock %i ms ahead of the server', async (status, aheadMs, words) => {
    test = await testApp({ store: 'postgres' });
    const { app, clock } = test;
    clock.set(Math.round(await databaseTime(app.store.db)) + aheadMs);
    const found = await look(app, 'database-clock');
    expect(found).toEqual([status, `the clock is ${words} off that of PostgreSQL`]);
  });
});

it('database-clock is about the machine, also in a process that goes by the clock of the server', async () => {
  test = await testApp({ store: 'postgres' });
  const clock = new DatabaseClock({ ...systemClock, now: () => systemClock.now() + 31_000 });
  await clock.look(test.app.store.db);
  expect(await look({ ...test.app, clock }, 'database-clock')).toEqual([
    'fail',
    'the clock is 31 s off that of PostgreSQL',
  ]);
});

describe('database-durability', () => {
  it('names the settings of the server that are off', async () => {
    test = await testApp({ store: 'postgres' });
    const { rows } = await sql<{ name: string }>`
      select name from pg_settings where setting = 'off'
        and name in ('fsync', 'full_page_writes', 'synchronous_commit') order by name`.execute(
      test.app.store.db,
    );
    const names = rows.map(({ name }) => name).join(', ');
    expect(await look(test.app, 'database-durability')).toEqual(
      names === ''
        ? ['ok', 'PostgreSQL keeps each commit over a crash']
        : ['fail', `PostgreSQL has ${names} off`],
    );
  });
});

describe('database-bloat', () => {
  const server = { tables: 3 * 1024 ** 2, indexes: 2 * 1024 ** 2, name: 'deliveries', seconds: 1 };
  it.each([
    ['ok', 'MB', { dead: 1_000_000, live: 0 }],
    ['ok', 'MB', { dead: 2_000_000, live: 2_000_000 }],
    ['warn', 'deliveries has 2000000 dead rows', { dead: 2_000_000, live: 1_999_999 }],
    ['warn', 'open for 11 minutes', { dead: 0, live: 0, seconds: 660 }],
  ])('is %s: %s', async (status, words, rows) => {
    test = await testApp();
    const found = await look(answering(test.app, { ...server, ...rows }), 'database-bloat');
    expect(found).toEqual([status, expect.stringMatching(`^tables have 3 MB, indexes 2 MB`)]);
    expect(found[1]).toContain(words);
  });

  it('reads a real server', async () => {
    test = await testApp({ store: 'postgres' });
    expect(await look(test.app, 'database-bloat')).toEqual([
      'ok',
      expect.stringMatching(/^tables have \d+ MB, indexes [1-9]\d* MB$/),
    ]);
  });
});
