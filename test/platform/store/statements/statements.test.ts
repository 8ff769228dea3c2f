// The statements of the release before, on the schema of this one: during a rolling upgrade its
// daemons go on beside a store that this version has widened. STATEMENTS_WRITE=1 writes those of
// this version, for a release.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { foreignSchema, migrations } from '../../../../src/platform/store/migrate.ts';
import { bothStores, type TestStore } from '../../../support/command.ts';
import { type EmptyTestApp, emptyTestApp } from '../../../support/test-app.ts';
import { type Build, importStatements, textsOf } from './collect.ts';

const builds = vi.hoisted((): Build[] => []);
vi.mock('../../../../src/platform/store/rows/statement.ts', async (original) => {
  const real = await original<typeof import('../../../../src/platform/store/rows/statement.ts')>();
  const compiledOnce: typeof real.compiledOnce = (build) => {
    builds.push(build as unknown as Build);
    return real.compiledOnce(build);
  };
  return { ...real, compiledOnce };
});

const folder = resolve('test/fixtures/statements');
const fileOf = (store: TestStore) => join(folder, `${store}.sql`);

/** Reads the last migration of the earlier release, and its statements. */
function earlier(store: TestStore): { migration: string; texts: string[] } {
  const [first = '', ...texts] = readFileSync(fileOf(store), 'utf8').trimEnd().split('\n');
  return { migration: first.replace('-- ', ''), texts };
}

/** Lets the engine prepare each statement. Returns the refused ones with their errors. */
async function refused({ app }: EmptyTestApp, texts: readonly string[]) {
  const { store, config } = app;
  const found = new Map<string, string>();
  const file = store.kind === 'sqlite' ? new Database(join(config.dataDir, 'svc.db')) : null;
  const client = file ? null : new pg.Client({ connectionString: config.database.url });
  await client?.connect();
  for (const text of texts) {
    try {
      file?.prepare(text);
      await client?.query(`prepare earlier as ${text}`);
      await client?.query('deallocate earlier');
    } catch (error) {
      found.set(text, (error as Error).message);
    }
  }
  file?.close();
  await client?.end();
  return found;
}

describe.each(bothStores)('the release before, on %s', (store) => {
  it('finds all that its statements need', async () => {
    const test = await emptyTestApp({ store });
    try {
      await importStatements(resolve('src'));
      const { db } = test.app.store;
      const { migration, texts } = earlier(store);
      if (process.env.STATEMENTS_WRITE) {
        mkdirSync(folder, { recursive: true });
        const all = textsOf(builds, db);
        // Some statements are for the other engine.
        const others = await refused(test, all);
        const own = all.filter((text) => !others.has(text));
        const lines = [`-- ${migrations.at(-1)?.name}`, ...own];
        writeFileSync(fileOf(store), `${lines.join('\n')}\n`);
      }
      expect(texts.length).toBeGreaterThan(300);
      const known = migrations.slice(0, 1 + migrations.findIndex(({ name }) => name === migration));
      const compatible = migrations.flatMap(({ name, compatibleFrom }) =>
        compatibleFrom === undefined ? [] : [[name, compatibleFrom] as const],
      );
      const names = migrations.map(({ name }) => name);
      const refusal = foreignSchema(names, known, new Map(compatible));
      // A migration that takes something away says so: then the release before is refused at its
      // start.
      const broken = refusal === null ? await refused(test, texts) : new Map();
      expect([...broken]).toEqual([]);
    } finally {
      await test.close();
    }
  });

  it('would lack a column with another name', async () => {
    const test = await emptyTestApp({ store });
    try {
      await test.app.store.write((trx) =>
        sql.raw('alter table organizations rename column sending_status to gone').execute(trx),
      );
      const { texts } = earlier(store);
      const broken = await refused(test, texts);
      expect(broken.size).toBeGreaterThan(0);
      expect([...broken.values()].every((error) => error.includes('sending_status'))).toBe(true);
    } finally {
      await test.close();
    }
  });
});
