// Behaviour of PostgreSQL that SQLite lacks: it ends transactions for the sake of others, it is
// remote, and it reports errors by codes.
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { CapacityError, ConflictError } from '../../../src/platform/errors.ts';
import { type Clock, systemClock } from '../../../src/platform/runtime/clock.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import type { Db, Store } from '../../../src/platform/store/db.ts';
import { groupWrites } from '../../../src/platform/store/group.ts';
import { ownTables } from '../../../src/platform/store/own-tables.ts';
import { openPostgres } from '../../../src/platform/store/postgres/postgres.ts';
import { type PostgresSchema, postgresSchema } from '../../support/postgres.ts';
import { type TcpProxy, tcpProxy, throughProxy } from '../../support/tcp-proxy.ts';

class ThingRow {
  id!: string;
  note!: string | null;
}

interface Things {
  things: ThingRow;
}

const insertThings = ownTables<Things>().bulkInsert('things', ThingRow);
const mostRuns = 5;
const chance = seededRandom(1);

let schema: PostgresSchema;
let proxy: TcpProxy;
let store: Store;
const opened: Store[] = [];

async function open(url: string): Promise<Store> {
  const one = await openPostgres({ url }, { random: chance });
  opened.push(one);
  return one;
}

beforeEach(async () => {
  schema = await postgresSchema(inject('postgresUrl'));
  proxy = await tcpProxy(Number(new URL(schema.url).port));
  store = await open(schema.url);
  await store.write(async (trx) => {
    await sql`create table things (id text primary key, note text)`.execute(trx);
    await insertThings(trx, [
      { id: 'a', note: null },
      { id: 'b', note: null },
    ]);
  });
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
  await proxy.close();
  await schema.drop();
});

/** Counts the transactions that the server ended in `touch`. */
let ended = 0;
beforeEach(() => {
  ended = 0;
});

async function touch(trx: Db, id: string, note: string): Promise<void> {
  try {
    await sql`update things set note = coalesce(note, '') || ${note} where id = ${id}`.execute(trx);
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    if (cause?.code === '40P01') ended += 1;
    throw error;
  }
}

async function notes(): Promise<(string | null)[]> {
  const { rows } = await sql<{ note: string | null }>`select note from things order by id`.execute(
    store.db,
  );
  return rows.map(({ note }) => note);
}

/** Raises this SQLSTATE in the server. */
const raise = (trx: Db, state: string) =>
  sql`${sql.raw(`do $$ begin raise exception 'no closed terminated timeout' using errcode = '${state}'; end $$`)}`.execute(
    trx,
  );

const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing was refused',
    (error: unknown) => error,
  );

describe('a transaction that the server ends for another one', () => {
  /**
   * Runs two writes that lock the same two rows crosswise, each holding the first before it asks
   * for the second.
   */
  function crosswise(write: (first: string, second: string, note: string) => Promise<unknown>) {
    return Promise.all([write('a', 'b', 'x'), write('b', 'a', 'y')]);
  }

  /** Resolves for both callers once both have called; later ones do not wait. */
  function meeting(): () => Promise<void> {
    const met = Promise.withResolvers<void>();
    let came = 0;
    return () => {
      if (++came === 2) met.resolve();
      return met.promise;
    };
  }

  it('runs again and commits', async () => {
    const meet = meeting();
    let runs = 0;
    await crosswise((first, second, note) =>
      store.write(async (trx) => {
        runs += 1;
        await touch(trx, first, note);
        await meet();
        await touch(trx, second, note);
      }),
    );
    expect(runs).toBe(2 + ended);
    expect(ended).toBeGreaterThan(0);
    expect(['xy', 'yx']).toContain((await notes())[0]);
    expect(['xy', 'yx']).toContain((await notes())[1]);
  });

  it('runs again as the same group', async () => {
    const meet = meeting();
    const batches: string[][] = [];
    const group = (first: string, second: string, note: string) => {
      const write = groupWrites(store, 10, async (trx, items: string[]) => {
        batches.push(items);
        await touch(trx, first, note);
        await meet();
        await touch(trx, second, note);
        return items.map((item) => `${item} done`);
      });
      return Promise.all([write(`${note}1`), write(`${note}2`)]);
    };
    expect(await crosswise(group)).toEqual([
      ['x1 done', 'x2 done'],
      ['y1 done', 'y2 done'],
    ]);
    // The second run may lock its row before the survivor wakes, and ends once more.
    expect(batches).toHaveLength(2 + ended);
    expect(ended).toBeGreaterThan(0);
    expect(new Set(batches.map(({ length }) => length))).toEqual(new Set([2]));
  });

  it.each(['40P01', '40001'])('fails in the end when every run ends with %s', async (state) => {
    let runs = 0;
    const error = await refusalOf(
      store.write(async (trx) => {
        runs += 1;
        await touch(trx, 'a', 'x');
        await raise(trx, state);
      }),
    );
    expect(error).toBeInstanceOf(CapacityError);
    expect(runs).toBe(mostRuns);
    expect(await notes()).toEqual([null, null]);
  });

  it('waits longer before each run, by a random part', async () => {
    const pauses: number[] = [];
    const clock: Clock = {
      ...systemClock,
      after(delayMs, run) {
        pauses.push(delayMs);
        return systemClock.after(0, run);
      },
    };
    const patient = await openPostgres(schema, {
      clock,
      random: { ...chance, float: () => 0.5 },
    });
    opened.push(patient);
    await refusalOf(patient.write((trx) => raise(trx, '40P01')));
    expect(pauses).toEqual([10, 20, 40, 80]);
  });

  it('runs once after any other error', async () => {
    let runs = 0;
    await refusalOf(
      store.write(async (trx) => {
        runs += 1;
        await raise(trx, '53100');
      }),
    );
    expect(runs).toBe(1);
  });
});

describe('a table that a newer version widens', () => {
  const allThings = ownTables<Things>().all((db) =>
    db.selectFrom('things').selectAll().orderBy('id'),
  );
  const widen = async () => {
    const newer = await open(schema.url);
    await sql`alter table things add column extra text`.execute(newer.db);
  };

  it('is read and written on by an older one, on every connection', async () => {
    // Each of several connections prepares the statement.
    const crowd = () => Promise.all(Array.from({ length: 6 }, () => allThings(store.db)));
    expect((await crowd()).every((rows) => rows.length === 2)).toBe(true);
    const readInside = () => store.write((trx) => allThings(trx));
    expect(await readInside()).toHaveLength(2);
    await widen();
    expect(await readInside()).toHaveLength(2);
    expect((await crowd()).every((rows) => rows.length === 2)).toBe(true);
    await sql`alter table things add column more text`.execute(store.db);
    expect(await allThings(store.db)).toHaveLength(2);
  });
});

describe('an error of the server', () => {
  it.each(['08006', '25006', '53100', '53300', '55P03', '57014', '57P01', '58030', 'XX001'])(
    '%s is trouble of the store',
    async (state) => {
      const error = await refusalOf(store.write((trx) => raise(trx, state)));
      expect(error).toMatchObject({ _tag: 'CapacityError', cause: { code: state } });
    },
  );

  it.each(['22021', '22P02', '23505', '42601', '42P01', 'P0001'])(
    '%s is a fault of the statement with any text',
    async (state) => {
      const error = await refusalOf(store.write((trx) => raise(trx, state)));
      expect(error).toBeInstanceOf(pg.DatabaseError);
      expect(error).toMatchObject({ code: state });
    },
  );

  it('that we raise ourselves stays as it is', async () => {
    const ours = new ConflictError('domain', 'closed.example was terminated: connection timeout');
    expect(await refusalOf(store.write(() => Promise.reject(ours)))).toBe(ours);
    const fault = new Error('Connection terminated, timeout exceeded, closed');
    expect(await refusalOf(store.write(() => Promise.reject(fault)))).toBe(fault);
  });

  it('from a value that no statement can carry is a fault of ours', async () => {
    const hostile = {
      toPostgres() {
        throw new TypeError('closed');
      },
    };
    const error = await refusalOf(sql`select ${hostile}`.execute(store.db));
    expect(error).toBeInstanceOf(TypeError);
  });

  it('in a statement undoes a transaction that continues', async () => {
    const error = await refusalOf(
      store.write(async (trx) => {
        await touch(trx, 'a', 'x');
        await raise(trx, 'P0001').catch(() => {});
      }),
    );
    expect(error).toBeInstanceOf(Error);
    expect(await notes()).toEqual([null, null]);
  });

  it('by a broken connection is trouble of the store until it is mended', async () => {
    const far = await open(throughProxy(schema.url, proxy));
    const read = () => sql`select 1`.execute(far.db);
    await read();
    proxy.cut();
    expect(await refusalOf(read())).toBeInstanceOf(CapacityError);
    expect(await refusalOf(far.write((trx) => touch(trx, 'a', 'x')))).toBeInstanceOf(CapacityError);
    expect(await far.isWritable()).toBe(false);
    proxy.mend();
    await read();
    await far.write((trx) => touch(trx, 'a', 'y'));
    expect(await notes()).toEqual(['y', null]);
  });

  it('by a broken connection undoes the transaction', async () => {
    const far = await open(throughProxy(schema.url, proxy));
    const error = await refusalOf(
      far.write(async (trx) => {
        await touch(trx, 'a', 'x');
        proxy.cut();
        await touch(trx, 'b', 'x');
      }),
    );
    expect(error).toBeInstanceOf(CapacityError);
    expect(await notes()).toEqual([null, null]);
  });
});

it('a NUL in a text is stored as U+FFFD', async () => {
  await store.write((trx) => insertThings(trx, [{ id: 'c\0d', note: 'e\0f\0' }]));
  const { rows } = await sql`select id, note from things where id like 'c%'`.execute(store.db);
  expect(rows).toEqual([{ id: 'c\ufffdd', note: 'e\ufffdf\ufffd' }]);
});

describe('the durability of a write', () => {
  it.each([
    [undefined, 'on'],
    ['now', 'on'],
    ['soon', 'off'],
    ['quiet', 'off'],
  ] as const)('%s sets synchronous_commit to %s', async (durability, expected) => {
    // The server of the tests has it off; the URL of a store turns it on.
    const url = new URL(schema.url);
    const options = url.searchParams.get('options') ?? '';
    url.searchParams.set('options', `${options} -c synchronous_commit=on`.trim());
    const careful = await open(url.href);
    const shown = await careful.write(async (trx) => {
      const { rows } = await sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(
        trx,
      );
      return rows[0]?.synchronous_commit;
    }, durability);
    expect(shown).toBe(expected);
  });
});
