// Several processes open an empty store at once: each migration runs once, all can write then, and
// one of them does the first start.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { createLogger } from '../../../src/platform/runtime/log.ts';
import { migrationStatus, migrations } from '../../../src/platform/store/migrate.ts';
import { firstStart } from '../../../src/service/first-start.ts';
import { openService } from '../../../src/service/service.ts';
import { bothStores } from '../../support/command.ts';
import { type PostgresSchema, postgresSchema } from '../../support/postgres.ts';

describe.each(bothStores)('an empty store on %s', (store) => {
  let dataDir: string;
  let schema: PostgresSchema | undefined;
  let apps: App[];
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'svc-first-open-'));
    schema = store === 'postgres' ? await postgresSchema(inject('postgresUrl')) : undefined;
    apps = [];
  });
  afterEach(async () => {
    for (const app of apps) await app.close();
    await schema?.drop();
    rmSync(dataDir, { recursive: true });
  });

  async function open(): Promise<App> {
    const url = schema?.url ?? 'sqlite:svc.db';
    const overrides = { dataDir, database: { url }, dns: { servers: ['127.0.0.1:1'] } };
    const { config } = loadConfig({ env: {}, cwd: dataDir, overrides });
    return openService(config, await createLogger({ level: 'silent', pretty: false }));
  }

  it('opened by three processes at once runs each migration and one first start', async () => {
    const opened = await Promise.allSettled([open(), open(), open()]);
    apps = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(opened.map((one) => (one.status === 'rejected' ? one.reason : null))).toEqual([
      null,
      null,
      null,
    ]);
    const [app] = apps;
    if (!app) throw new Error('none opened');
    const { rows } = await sql<{ name: string }>`select name from migrations`.execute(app.store.db);
    expect(rows.map(({ name }) => name).sort()).toEqual(migrations.map(({ name }) => name).sort());
    for (const one of await migrationStatus(app.store.db)) expect(one.appliedAt).not.toBeNull();
    const started = await Promise.all(apps.map(firstStart));
    expect(started.filter((one) => one !== null)).toHaveLength(1);
    for (const { store: its } of apps) {
      await its.write((trx) => sql`update probe set counter = counter + 1`.execute(trx));
    }
    const counted = sql<{ n: number }>`select counter as n from probe`;
    expect(Number((await counted.execute(app.store.db)).rows[0]?.n)).toBeGreaterThanOrEqual(3);
  });
});
