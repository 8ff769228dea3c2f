// Counters: sums by key that transactions gather and add at their end.
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Db } from '../../../src/platform/store/db.ts';
import { ownTables } from '../../../src/platform/store/own-tables.ts';
import { filesUnder } from '../../docs/plain-tests.ts';
import { bothStores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { watchQueries } from '../../support/watched-queries.ts';

interface ProbeTables {
  probe_counts: {
    name: string;
    day: number;
    good: number;
    bad: number;
    word: string | null;
  };
}

const seen: string[] = [];
const probe = ownTables<ProbeTables>().counter('probe_counts', ['name', 'day'], ['good', 'bad'], {
  latest: ['word'],
  after: async (_trx, { name }) => void seen.push(name),
});

describe.each(bothStores)('a counter on %s', (store) => {
  // A schema with a further table is not used again: its tests share it.
  let test: TestApp;
  beforeAll(async () => {
    test = await testApp({ store });
    await test.app.store.write(async (trx) => {
      await sql`create table probe_counts (
        name text not null, day bigint not null, good bigint not null, bad bigint not null, word text,
        primary key (name, day))`.execute(trx);
    });
  });
  beforeEach(async () => {
    seen.length = 0;
    await test.app.store.write((trx) => sql`delete from probe_counts`.execute(trx));
  });
  afterAll(() => test.close());

  const write = <Result>(work: (trx: Db) => Promise<Result>) => test.app.store.write(work);
  const rows = async (db: Db = test.app.store.db) =>
    (await sql<object>`select * from probe_counts order by name, day`.execute(db)).rows;

  it('adds all changes of a transaction in one row for each key', async () => {
    await write(async (trx) => {
      probe.add(trx, { name: 'a', day: 1 }, { good: 1 });
      probe.add(trx, { name: 'a', day: 2 }, { good: 1 });
      probe.add(trx, { name: 'a', day: 1 }, { good: 2, bad: 1 });
    });
    await write(async (trx) => probe.add(trx, { name: 'a', day: 1 }, { good: -1 }));
    expect(await rows()).toEqual([
      { name: 'a', day: 1, good: 2, bad: 1, word: null },
      { name: 'a', day: 2, good: 1, bad: 0, word: null },
    ]);
  });

  it('writes nothing before the end of the transaction', async () => {
    await write(async (trx) => {
      probe.add(trx, { name: 'a', day: 1 }, { good: 1 });
      expect(await rows(trx)).toEqual([]);
    });
    expect(await rows()).toHaveLength(1);
  });

  it('writes counts of its own where the transaction reads the sums', async () => {
    await write(async (trx) => {
      const counts = probe.gather();
      counts.add({ name: 'a', day: 1 }, { good: 1 });
      await counts.write(trx);
      expect(await rows(trx)).toHaveLength(1);
    });
    expect(await rows()).toMatchObject([{ good: 1 }]);
  });

  it('writes no row without a change', async () => {
    await write(async (trx) => {
      probe.add(trx, { name: 'a', day: 1 }, { good: 1 });
      probe.add(trx, { name: 'a', day: 1 }, { good: -1 });
      probe.add(trx, { name: 'b', day: 1 }, {});
    });
    expect(await rows()).toEqual([]);
  });

  it('drops the changes of a failed transaction', async () => {
    const failed = write(async (trx) => {
      probe.add(trx, { name: 'a', day: 1 }, { good: 1 });
      throw new Error('refused');
    });
    await expect(failed).rejects.toThrow('refused');
    await write(async (trx) => probe.add(trx, { name: 'a', day: 1 }, { good: 2 }));
    expect(await rows()).toMatchObject([{ good: 2 }]);
  });

  it('keeps the newest text, and the stored one beside a null', async () => {
    const say = (word: string | null) =>
      write(async (trx) => {
        probe.add(trx, { name: 'a', day: 1 }, { good: 1, word });
        probe.add(trx, { name: 'a', day: 1 }, { good: 1, word: null });
      });
    const words = [];
    for (const word of [null, 'slow', null, 'busy']) {
      await say(word);
      words.push((await rows())[0]);
    }
    expect(words).toMatchObject([null, 'slow', 'slow', 'busy'].map((word) => ({ word })));
  });

  it('separates keys whose parts read alike together', async () => {
    await write(async (trx) => {
      for (const name of ['a', 'a 1', 'a,1', '']) {
        for (const day of [1, 11]) probe.add(trx, { name, day }, { good: 1 });
      }
    });
    expect(await rows()).toHaveLength(8);
  });

  it('gives each written row to its last step, in the order of the keys', async () => {
    await write(async (trx) => {
      for (const name of ['c', 'a', 'b']) probe.add(trx, { name, day: 1 }, { good: 1 });
    });
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('adds many rows with few statements', async () => {
    const names = Array.from({ length: 96 }, (_, index) => `n${index}`);
    const watched = watchQueries();
    await write(async (trx) => {
      for (const name of names) probe.add(trx, { name, day: 1 }, { good: 1 });
    });
    const asked = watched.take().filter(({ text }) => text.includes('probe_counts'));
    watched.stop();
    expect(asked.map(({ times }) => times)).toEqual([1, 1]);
    expect(await rows()).toHaveLength(96);
  });

  it('lets transactions that count the same rows in any order all commit', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const count = (order: readonly string[]) =>
      write(async (trx) => {
        for (const name of order) probe.add(trx, { name, day: 1 }, { good: 1 });
      });
    const orders = Array.from({ length: 40 }, (_, at) => (at % 2 ? names : names.toReversed()));
    await Promise.all(orders.map(count));
    expect(await rows()).toMatchObject(names.map((name) => ({ name, good: 40 })));
  });

  it('locks rows only where several writers are at work', async () => {
    await write((trx) => probe.lock(trx, [{ name: 'a', day: 1 }]));
    expect(await rows()).toHaveLength(store === 'postgres' ? 1 : 0);
  });
});

describe('the source', () => {
  const files = ['src', 'daemon', 'commands'].flatMap((part) => filesUnder(part, /\.ts$/));
  const matching = (pattern: RegExp) =>
    files.filter((file) => pattern.test(readFileSync(file, 'utf8')));

  it('gathers the last changes of a transaction in two files of the store', () => {
    expect(matching(/\blastly\(|implements LastWrite/)).toEqual([
      'src/platform/store/counter.ts',
      'src/platform/store/changes/change-counter.ts',
    ]);
  });

  it('adds a given number to a stored one in one file', () => {
    expect(matching(/'\+', \w+\.ref\('excluded\.|\+ \$?\{?.*(?:excluded|given\()/)).toEqual([
      'src/platform/store/counter.ts',
    ]);
  });
});
