// The machinery of migrations, on both engines, with made-up migrations.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { UnreachableError } from '../../../src/platform/errors.ts';
import type { Store } from '../../../src/platform/store/db.ts';
import { migrate, migrationStatus } from '../../../src/platform/store/migrate.ts';
import { type Migration, statementsOf } from '../../../src/platform/store/migration.ts';
import { openStore } from '../../../src/platform/store/open.ts';
import { bothStores } from '../../support/command.ts';
import { type PostgresSchema, postgresSchema } from '../../support/postgres.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const first: Migration = {
  name: '0001-letters',
  sql: ({ clustered }) => `
create table migrations (name text primary key, applied_at bigint not null);
create table probe (counter bigint not null);
-- Letters.
create table letters (
  id text primary key,
  -- First and last name.
  name text not null
) ${clustered};
`,
};

/** Splits the name, which moves data. */
const second: Migration = {
  name: '0002-first-names',
  sql: ({ engine }) => `
alter table letters add column first_name text;
update letters set first_name = ${
    engine === 'sqlite' ? `substr(name, 1, instr(name, ' ') - 1)` : `split_part(name, ' ', 1)`
  };
`,
};

const third: Migration = {
  name: '0003-by-first-name',
  sql: () => 'create index letters_by_first_name on letters (first_name);',
};

const compatibleVersions: Migration = {
  name: '0002-compatible-versions',
  compatibleFrom: second.name,
  sql: () =>
    'create table compatible_versions (name text primary key, compatible_from text not null);',
};

const failing: Migration = {
  name: '0003-failing',
  sql: () => `
update letters set name = '';
alter table letters add column nick text;
update letters set nick = 'x' where no_such_column = 1;
`,
};

describe.each(bothStores)('migrations on %s', (kind) => {
  let dataDir: string;
  let schema: PostgresSchema | undefined;
  const clock = virtualClock(Date.UTC(2026, 0, 5, 12));
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-migrate-'));
    schema = kind === 'postgres' ? await postgresSchema(inject('postgresUrl')) : undefined;
  });
  afterEach(async () => {
    await schema?.drop();
    rmSync(dataDir, { recursive: true });
  });

  const open = (...known: Migration[]) =>
    openStore({ url: schema?.url ?? 'sqlite:svc.db' }, dataDir, clock, { known });

  /** Opens the store with these migrations, and closes it after `work`. */
  async function withStore<T>(known: Migration[], work: (store: Store) => Promise<T>): Promise<T> {
    const store = await open(...known);
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  }

  const fill = (store: Store) =>
    store.write((trx) =>
      sql`insert into letters (id, name) values ('a', 'Ada Byron'), ('b', 'Bo Berg')`.execute(trx),
    );
  const letters = async ({ db }: Store) =>
    (await sql`select * from letters order by id`.execute(db)).rows;
  const namesOf = async ({ db }: Store) =>
    (await migrationStatus(db)).flatMap(({ name, appliedAt }) => (appliedAt === null ? [] : name));
  const snapshots = () =>
    readdirSync(dataDir).filter((name) => name.includes('.before-migration-'));

  it('move the data of an older store', async () => {
    await withStore([first], fill);
    const rows = await withStore([first, second, third], letters);
    expect(rows).toEqual([
      { id: 'a', name: 'Ada Byron', first_name: 'Ada' },
      { id: 'b', name: 'Bo Berg', first_name: 'Bo' },
    ]);
  });

  it('run once each, in their order, and record their time', async () => {
    await withStore([first], fill);
    const before = clock.now();
    clock.set(before + 1_000);
    await withStore([first, second, third], async ({ db }) => {
      const { rows } = await sql`select * from migrations order by name`.execute(db);
      expect(rows).toEqual([
        { name: '0001-letters', applied_at: before },
        { name: '0002-first-names', applied_at: before + 1_000 },
        { name: '0003-by-first-name', applied_at: before + 1_000 },
      ]);
    });
    await withStore([first, second, third], async (store) => {
      expect(await namesOf(store)).toHaveLength(3);
    });
  });

  it.runIf(kind === 'postgres')('name the process that migrates for too long', async () => {
    await withStore([first], fill);
    const holder = new pg.Client({ connectionString: schema?.url, application_name: 'holder' });
    await holder.connect();
    const waited = withStore([first], async (store) => {
      const wait = (ms: number) => migrate(store, clock, async () => {}, [first, second], ms);
      await holder.query('begin; select pg_advisory_xact_lock(7304025)');
      await expect(wait(50)).rejects.toThrow(
        /^Another process migrates the store \(holder, for 0 s, connection \d+ of the server\)/,
      );
      const waiting = wait(60_000);
      await holder.query('commit');
      expect(await waiting).toEqual([second.name]);
    });
    await waited.finally(() => holder.end());
  });

  it.runIf(kind === 'postgres')('take longer than a statement may', async () => {
    const slow: Migration = { name: '0002-slow', sql: () => 'select pg_sleep(1.5);' };
    await withStore([first], fill);
    const database = { url: schema?.url ?? '', statementTimeoutSeconds: 1 };
    const store = await openStore(database, dataDir, clock, { known: [first, slow] });
    expect(await namesOf(store)).toEqual([first.name, slow.name]);
    await expect(sql`select pg_sleep(1.5)`.execute(store.db)).rejects.toThrow();
    await store.close();
  });

  it('run once where several processes open an older store at once', async () => {
    await withStore([first], fill);
    const opened = await Promise.allSettled([1, 2, 3].map(() => open(first, second)));
    const all = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    for (const store of all) await store.close();
    expect(all).toHaveLength(3);
    expect(await withStore([first, second], letters)).toHaveLength(2);
  });

  describe('of a newer version', () => {
    const widening: Migration = { ...third, compatibleFrom: compatibleVersions.name };
    const breaking: Migration = { name: '0004-breaking', sql: () => 'drop table letters;' };
    const old = [first, second, compatibleVersions];

    it('leave an older one working beside them, if they say so', async () => {
      await withStore([...old, widening], fill);
      const rows = await withStore(old, letters);
      expect(rows).toHaveLength(2);
    });

    it.each([
      ['one that says nothing', [widening, breaking], '0004-breaking'],
      ['one that needs a later version', [{ ...third, compatibleFrom: '0002-other' }], third.name],
    ])('are refused for %s', async (_title, newer, named) => {
      await withStore([...old, ...newer], async () => {});
      await expect(open(...old)).rejects.toThrow(
        `The store is of a newer version of svc (migration ${named}): use that version`,
      );
    });

    it('are noted by the start that applies them alone', async () => {
      await withStore(old, async () => {});
      await withStore([...old, widening], async () => {});
      await withStore([...old, widening], async ({ db }) => {
        const { rows } = await sql`select * from compatible_versions order by name`.execute(db);
        expect(rows).toEqual([
          { name: compatibleVersions.name, compatible_from: compatibleVersions.compatibleFrom },
          { name: third.name, compatible_from: compatibleVersions.name },
        ]);
      });
    });
  });

  it('leave the store as it was where one of them fails', async () => {
    await withStore([first], fill);
    await expect(open(first, second, failing)).rejects.toThrow('no_such_column');
    await withStore([first], async (store) => {
      expect(await namesOf(store)).toEqual(['0001-letters']);
      expect(await letters(store)).toEqual([
        { id: 'a', name: 'Ada Byron' },
        { id: 'b', name: 'Bo Berg' },
      ]);
    });
    const corrected = await withStore([first, second, third], letters);
    expect(corrected).toHaveLength(2);
  });

  it('do not run where the copy before them fails', async () => {
    await withStore([first], async (store) => {
      const noSpace = async () => {
        throw new Error('no space left on device');
      };
      await expect(migrate(store, clock, noSpace, [first, second])).rejects.toThrow('no space');
      expect(await namesOf(store)).toEqual(['0001-letters']);
    });
  });

  it.runIf(kind === 'sqlite')('leave a private copy of the file from before', async () => {
    await withStore([first], fill);
    expect(snapshots()).toEqual([]);
    await withStore([first, second], letters);
    const [copy = '', ...others] = snapshots();
    expect(others).toEqual([]);
    expect(statSync(join(dataDir, copy)).mode & 0o777).toBe(0o600);
    const database = new Database(join(dataDir, copy), { readonly: true });
    expect(database.prepare('select * from letters where id = ?').get('a')).toEqual({
      id: 'a',
      name: 'Ada Byron',
    });
    expect(database.prepare('select name from migrations').pluck().all()).toEqual(['0001-letters']);
    database.close();
  });

  it('refuse a store of a newer version, and change nothing', async () => {
    await withStore([first, second], fill);
    const refused = open(first);
    await expect(refused).rejects.toThrow(UnreachableError);
    await expect(refused).rejects.toThrow(/newer version.*0002-first-names.*use that version/);
    await withStore([first, second], async (store) => {
      expect(await namesOf(store)).toEqual(['0001-letters', '0002-first-names']);
    });
    expect(snapshots()).toEqual([]);
  });

  it('refuse a store from before the first release, and say what to do', async () => {
    const old = { ...first, name: '0001-initial' };
    await withStore([old, second], fill);
    await expect(open(first)).rejects.toThrow(
      /before the first release.*0001-initial.*use that version.*new dataDir or database\.url/,
    );
    expect(await withStore([old, second], letters)).toHaveLength(2);
  });
});

describe('statements of a migration', () => {
  it('carry no comments', () => {
    expect(statementsOf(first, 'sqlite').at(-1)).toBe(
      'create table letters (\n  id text primary key,\n  name text not null\n) without rowid',
    );
  });

  it('end with a semicolon at the end of a line only', () => {
    const trigger = 'create trigger t after delete on a begin\n  delete from b; end';
    const migration = { name: '0001-trigger', sql: () => `${trigger};\ndrop table c;\n` };
    expect(statementsOf(migration, 'sqlite')).toEqual([trigger, 'drop table c']);
  });
});
