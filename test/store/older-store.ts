// A store as an older version left it, opened by this one: for the tests of migrations.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import pg from 'pg';
import { inject } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import type { Store } from '../../src/store/db.ts';
import { migrations } from '../../src/store/migrate.ts';
import { openStore } from '../../src/store/open.ts';
import { postgresSchema } from '../support/postgres.ts';
import type { TestStore } from '../support/test-app.ts';

/**
 * Makes a store by the migrations before `migration`, fills it, and opens it, which migrates it;
 * closed and removed when `work` is done.
 */
export async function withOlderStore(
  kind: TestStore,
  migration: string,
  filling: readonly string[],
  work: (store: Store) => Promise<void>,
): Promise<void> {
  const names = migrations.map(({ name }) => name);
  const texts = migrations
    .slice(0, names.indexOf(migration))
    .flatMap(({ name, statements }) => [
      ...statements(kind),
      `insert into migrations (name, applied_at) values ('${name}', 1)`,
    ]);
  texts.push(...filling);
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-older-'));
  const schema = kind === 'postgres' ? await postgresSchema(inject('postgresUrl')) : null;
  if (schema) {
    const client = new pg.Client({ connectionString: schema.url });
    await client.connect();
    for (const text of texts) await client.query(text);
    await client.end();
  } else {
    // Some rewrite definitions in place.
    const database = new Database(join(dataDir, 'svc.db')).unsafeMode();
    for (const text of texts) database.exec(text);
    database.close();
  }
  const store = await openStore(schema?.url ?? 'sqlite:svc.db', dataDir, systemClock);
  try {
    await work(store);
  } finally {
    await store.close();
    await schema?.drop();
    rmSync(dataDir, { recursive: true });
  }
}
