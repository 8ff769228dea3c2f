import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { CapacityError } from '../../../src/platform/errors.ts';
import { systemClock } from '../../../src/platform/runtime/clock.ts';
import { nameTurn, sliceTurns, turnMs } from '../../../src/platform/runtime/fairness/loop-turns.ts';
import { type Db, isOneOf, type Store, tables } from '../../../src/platform/store/db.ts';
import { groupWrites } from '../../../src/platform/store/group.ts';
import { migrationStatus } from '../../../src/platform/store/migrate.ts';
import { openStore } from '../../../src/platform/store/open.ts';
import { ownTables } from '../../../src/platform/store/own-tables.ts';
import { bulkInsert } from '../../../src/platform/store/rows/bulk-insert.ts';
import { postgresSchema } from '../../support/postgres.ts';

class ThingRow {
  id!: string;
  note!: string | null;
}

interface ProbeTables {
  things: ThingRow;
}

const own = ownTables<ProbeTables>();
const insertThings = own.bulkInsert('things', ThingRow);

async function thingIds(db: Db): Promise<string[]> {
  const rows = await tables<ProbeTables>(db)
    .selectFrom('things')
    .select('id')
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
}

describe.each(['sqlite', 'postgres'] as const)('the store on %s', (kind) => {
  let store: Store;
  let dropStore: () => Promise<void>;
  let url: string;
  let dataDir: string;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-store-'));
    const schema = kind === 'postgres' ? await postgresSchema(inject('postgresUrl')) : null;
    url = schema?.url ?? 'sqlite:svc.db';
    dropStore = async () => {
      await schema?.drop();
      rmSync(dataDir, { recursive: true });
    };
  });
  afterAll(() => dropStore());

  beforeEach(async () => {
    store = await openStore({ url }, dataDir, systemClock);
    await store.write(async (trx) => {
      await sql`create table if not exists things (id text primary key, note text)`.execute(trx);
      await sql`delete from things`.execute(trx);
    });
  });
  afterEach(() => store.close());

  it('shows committed writes to readers', async () => {
    await store.write((trx) => insertThings(trx, [{ id: 'a', note: 'x' }]));
    expect(await thingIds(store.db)).toEqual(['a']);
  });

  it('undoes a failing write alone within its group', async () => {
    const outcomes = await Promise.allSettled([
      store.write((trx) => insertThings(trx, [{ id: 'a', note: null }])),
      store.write(async (trx) => {
        await insertThings(trx, [{ id: 'b', note: null }]);
        throw new Error('refused');
      }),
      store.write((trx) => insertThings(trx, [{ id: 'c', note: null }])),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await thingIds(store.db)).toEqual(['a', 'c']);
  });

  it('rejects only the write that breaks a constraint', async () => {
    const outcomes = await Promise.allSettled(
      ['a', 'a', 'b'].map((id) => store.write((trx) => insertThings(trx, [{ id, note: null }]))),
    );
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(await thingIds(store.db)).toEqual(['a', 'b']);
  });

  it.each([1, 2, 63, 64, 65, 130])('inserts %i rows in bulk', async (count) => {
    const rows = Array.from({ length: count }, (_, i) => ({ id: `t${i}`, note: `n${i}` }));
    await store.write((trx) => insertThings(trx, rows));
    expect(await thingIds(store.db)).toHaveLength(count);
  });

  it('keeps the nulls of each row in a batch', async () => {
    await store.write((trx) =>
      insertThings(trx, [
        { id: 'a', note: null },
        { id: 'b', note: 'x' },
        { id: 'c', note: '' },
      ]),
    );
    await store.write((trx) => insertThings(trx, [{ id: 'd', note: null }]));
    const rows = await tables<ProbeTables>(store.db)
      .selectFrom('things')
      .select('note')
      .orderBy('id')
      .execute();
    expect(rows.map(({ note }) => note)).toEqual([null, 'x', '', null]);
  });

  it('inserts rows of more shapes than it has prepared statements', async () => {
    const columns = ['one', 'two', 'four', 'eight', 'sixteen'];
    await store.write(async (trx) => {
      await sql`create table shapes (id integer primary key, one integer, two integer,
        four integer, eight integer, sixteen integer)`.execute(trx);
    });
    const insertShapes = bulkInsert<Record<string, unknown>>('shapes', ['id', ...columns]);
    const shapeOf = (id: number) => ({
      id,
      ...Object.fromEntries(columns.map((name, bit) => [name, id & (1 << bit) ? 1 << bit : null])),
    });
    for (let id = 0; id < 32; id++) await store.write((trx) => insertShapes(trx, [shapeOf(id)]));
    const { rows } = await sql<object>`select * from shapes order by id`.execute(store.db);
    expect(rows).toEqual(Array.from({ length: 32 }, (_, id) => shapeOf(id)));
  });

  it('builds a statement once and binds new values to each call', async () => {
    let builds = 0;
    const find = own.all((db, ids: readonly string[], { note }: Pick<ThingRow, 'note'>) => {
      builds++;
      return db
        .selectFrom('things')
        .selectAll()
        .where('id', ...isOneOf(db, ids))
        .where('note', '=', note);
    });
    const [a, b] = [
      { id: 'a', note: '1' },
      { id: 'b', note: '2' },
    ];
    await store.write((trx) => insertThings(trx, [a, b]));
    expect(await find(store.db, ['a'], a)).toEqual([a]);
    expect(await find(store.db, ['a', 'b', 'c'], b)).toEqual([b]);
    expect(await find(store.db, [], b)).toEqual([]);
    expect(builds).toBe(1);
  });

  it('refuses a statement that computes with its arguments', async () => {
    const find = own.all((db, id: string) =>
      db.selectFrom('things').selectAll().where('id', '=', `${id}`),
    );
    await expect(find(store.db, 'a')).rejects.toThrow('cannot compute with its arguments');
  });

  it('reports its own commits and those of another process', async () => {
    const other = await openStore({ url }, dataDir, systemClock);
    try {
      for (const writer of [store, other]) {
        const told = new Promise<void>((resolve) => {
          const stop = store.onChange(() => {
            stop();
            resolve();
          });
        });
        await writer.write((trx) =>
          insertThings(trx, [{ id: writer === store ? 'a' : 'b', note: null }]),
        );
        await told;
      }
      expect(await thingIds(store.db)).toEqual(['a', 'b']);
    } finally {
      await other.close();
    }
  });

  it('opens again without a second migration', async () => {
    const before = await migrationStatus(store.db);
    expect(before.every(({ appliedAt }) => appliedAt !== null)).toBe(true);
    const again = await openStore({ url }, dataDir, systemClock);
    expect(await migrationStatus(again.db)).toEqual(before);
    await again.close();
  });

  it('refuses a store migrated by a newer version', async () => {
    await store.write(async (trx) => {
      await sql`insert into migrations (name, applied_at) values ('9999-future', 1)`.execute(trx);
    });
    await expect(openStore({ url }, dataDir, systemClock)).rejects.toThrow(
      /newer version.*9999-future/,
    );
    await store.write(async (trx) => {
      await sql`delete from migrations where name = '9999-future'`.execute(trx);
    });
  });

  it('reports that it is writable', async () => {
    expect(await store.isWritable()).toBe(true);
  });

  it('gives each item of a group its result, and a bad item fails alone', async () => {
    const insert = groupWrites(store, 10, async (trx, ids: string[]) => {
      await insertThings(
        trx,
        ids.map((id) => ({ id, note: null })),
      );
      return ids.map((id) => `did ${id}`);
    });
    expect(await Promise.all(['a', 'b'].map(insert))).toEqual(['did a', 'did b']);
    const outcomes = await Promise.allSettled(['c', 'b', 'd'].map(insert));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await thingIds(store.db)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('adds items to a group until its transaction begins, up to its bound', async () => {
    const batches: number[][] = [];
    const count = groupWrites(store, 10, async (_trx, items: number[]) => {
      batches.push(items);
      return items;
    });
    const first = count(0);
    await Promise.resolve();
    const numbers = Array.from({ length: 24 }, (_, index) => index + 1);
    expect(await Promise.all([first, ...numbers.map(count)])).toEqual([0, ...numbers]);
    expect(batches.map(({ length }) => length)).toEqual([10, 10, 5]);
    expect(batches[0]?.[0]).toBe(0);
    expect(await count(25)).toBe(25);
  });

  it('does not repeat a group item by item without capacity', async () => {
    let runs = 0;
    const count = groupWrites(store, 10, async (_trx, _items: number[]) => {
      runs++;
      throw new CapacityError('The store cannot write now', 1);
    });
    const outcomes = await Promise.allSettled([1, 2, 3].map(count));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(runs).toBe(1);
  });

  it('reports a transaction that never began to all its items, and continues with the next one', async () => {
    let isFull = true;
    const refusing: Store['write'] = async (work, durability) => {
      if (isFull) throw new CapacityError('The store cannot write now', 1);
      return store.write(work, durability);
    };
    const count = groupWrites(
      { ...store, write: refusing },
      2,
      async (_trx, items: number[]) => items,
    );
    const outcomes = await Promise.allSettled([1, 2, 3].map(count));
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    isFull = false;
    expect(await count(4)).toBe(4);
  });
});

it('continues with a write on sqlite ahead of steps of other organizations', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-store-'));
  const store = await openStore({ url: 'sqlite:svc.db' }, dataDir, systemClock);
  const order: string[] = [];
  const others: Promise<void>[] = [];
  nameTurn('write', 'late');
  await store.write(async (trx) => {
    const endAt = performance.now() + turnMs + 1;
    while (performance.now() < endAt);
    for (const holder of ['a', 'b', 'c', 'd']) {
      const step = async () => {
        await sliceTurns('step', holder);
        order.push(holder);
      };
      others.push(step());
    }
    await sql`select 1`.execute(trx);
    order.push('write');
  });
  await Promise.all(others);
  expect(order.indexOf('write')).toBeLessThanOrEqual(1);
  await store.close();
  rmSync(dataDir, { recursive: true });
});
