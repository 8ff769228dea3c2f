// `svc storage compact`: the store gets as small as its rows, which stay as they are.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOrganization } from '../../../src/access/organizations/organizations.ts';
import { ConflictError } from '../../../src/platform/errors.ts';
import type { Db } from '../../../src/platform/store/db.ts';
import { lockDaemon } from '../../../src/platform/store/open.ts';
import { compactPostgres, compactSqlite } from '../../../src/platform/upkeep/compact.ts';
import { digestsOfFile } from '../../../src/platform/upkeep/copying/tables.ts';
import { type CliWorkspace, initializedWorkspace } from '../../support/cli.ts';
import { emptyTestApp } from '../../support/test-app.ts';

/** Adds blobs, of which all but the first tenth are deleted again. */
const rows = 400;
const blobBytes = 20_000;

describe('a SQLite store', () => {
  let cli: CliWorkspace;
  let file: string;
  beforeEach(async () => {
    cli = await initializedWorkspace();
    file = join(cli.directory, 'data/svc.db');
    const database = new Database(file);
    const insert = database.prepare(
      'insert into blobs (id, organization_id, size, data, created_at) values (?, ?, ?, ?, 0)',
    );
    const [{ id: organizationId }] = database.prepare('select id from organizations').all() as [
      { id: string },
    ];
    for (let number = 0; number < rows; number++) {
      const body = Buffer.alloc(blobBytes, number);
      insert.run(`blb_${number}`, organizationId, blobBytes, body);
    }
    database.prepare('delete from blobs where cast(substr(id, 5) as integer) >= 40').run();
    database.close();
  });
  afterEach(() => cli.close());

  it('is as small as its rows, which are the same', () => {
    const before = digestsOfFile(file);
    const sizes = compactSqlite(file);
    expect(sizes.before).toBeGreaterThan(rows * blobBytes);
    expect(sizes.after).toBe(statSync(file).size);
    expect(sizes.before - sizes.after).toBeGreaterThan(0.8 * rows * blobBytes);
    expect(digestsOfFile(file)).toEqual(before);
    const database = new Database(file, { readonly: true });
    expect(database.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    database.close();
  });

  it('is refused beside a daemon, a writer and a reader', () => {
    const before = digestsOfFile(file);
    const lock = lockDaemon({ kind: 'sqlite', file });
    expect(() => compactSqlite(file)).toThrow('already runs on');
    lock.release();
    for (const statement of ['begin immediate', 'begin; select * from organizations']) {
      const other = new Database(file);
      other.exec(statement);
      expect(() => compactSqlite(file)).toThrow(ConflictError);
      other.close();
      expect(digestsOfFile(file)).toEqual(before);
    }
    expect(compactSqlite(file).after).toBeLessThan(rows * blobBytes);
  });

  it('loses nothing to kills', async () => {
    const before = digestsOfFile(file);
    for (const waitMs of [0, 5, 10, 20, 40]) {
      const script = `
        const { compactSqlite } = await import('./src/platform/upkeep/compact.ts');
        process.stdout.write('ready');
        compactSqlite(process.argv[1]);`;
      const child = spawn(process.execPath, ['--input-type=module', '-e', script, file], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      // It may have ended before the kill.
      const exited = once(child, 'exit');
      await once(child.stdout, 'data');
      await pause(waitMs);
      child.kill('SIGKILL');
      await exited;
      expect(digestsOfFile(file)).toEqual(before);
    }
    expect(compactSqlite(file).after).toBeLessThan(rows * blobBytes);
    expect(digestsOfFile(file)).toEqual(before);
  });

  it('is compacted by a command, which says both sizes', async () => {
    const { stdout, code } = await cli.run(['storage', 'compact']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Compacted .*svc\.db: [\d.]+ MB before, [\d.]+ MB now\.\n$/);
  });
});

/**
 * Resolves once all earlier transactions of the database have ended. PostgreSQL keeps deleted rows
 * that such a transaction of a parallel test may still read.
 */
async function endOfEarlier(db: Db): Promise<void> {
  const { rows } = await sql<{ id: string }>`select txid_current()::text as id`.execute(db);
  const id = rows[0]?.id ?? '';
  const earlier = async () => {
    const found = await sql<{ pid: number }>`select pid from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()
        and (backend_xmin::text::bigint <= ${id}::bigint or backend_xid::text::bigint <= ${id}::bigint)`.execute(
      db,
    );
    return found.rows;
  };
  await expect.poll(earlier, { timeout: 60_000 }).toEqual([]);
}

describe('a store on PostgreSQL', () => {
  it('is as small as its rows, which are the same', async () => {
    const test = await emptyTestApp({ store: 'postgres' });
    const { store, config } = test.app;
    const content = async () =>
      (await sql<object>`select id, md5(data) as md5 from blobs order by id`.execute(store.db))
        .rows;
    try {
      const { id } = await createOrganization(test.app, { name: 'acme', plan: 'free' });
      await store.write((trx) =>
        sql`insert into blobs (id, organization_id, size, data, created_at)
          select 'blb_' || number, ${id}::text, ${blobBytes}::bigint,
            (select string_agg(sha256((number || ':' || part)::bytea), ''::bytea)
             from generate_series(1, ${blobBytes / 32}::integer) part), 0
          from generate_series(1, ${rows}::integer) number`.execute(trx),
      );
      await store.write((trx) =>
        sql`delete from blobs where substr(id, 5)::integer <= ${rows - 40}::integer`.execute(trx),
      );
      const before = await content();
      expect(before).toHaveLength(40);
      await endOfEarlier(store.db);
      const told: number[] = [];
      const sizes = await compactPostgres(config.database, (done, total) =>
        told.push(done / total),
      );
      expect(sizes.before - sizes.after).toBeGreaterThan(0.8 * rows * blobBytes);
      expect(await content()).toEqual(before);
      expect(told.at(-1)).toBe(1);
    } finally {
      await test.close();
    }
  });
});
