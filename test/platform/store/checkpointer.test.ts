import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Checkpointer } from '../../../src/platform/store/sqlite/checkpointer.ts';

const pageBytes = 8_192;

describe('Checkpointer', () => {
  let dir: string;
  let file: string;
  let database: Database.Database;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'svc-checkpoint-'));
    file = join(dir, 'svc.db');
    database = new Database(file);
    database.pragma(`page_size = ${pageBytes}`);
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = OFF');
    database.pragma('wal_autocheckpoint = 0');
    database.exec('create table pages (id integer primary key, text text)');
  });
  afterEach(() => {
    database.close();
    rmSync(dir, { recursive: true });
  });

  const logPages = () =>
    (database.prepare('pragma wal_checkpoint(NOOP)').get() as { log: number }).log;

  it('restarts the log while writes continue, and loses none of them', async () => {
    const checkpoints = new Checkpointer(file, database);
    const insert = database.prepare('insert into pages (text) values (?)');
    const addOne = database.transaction(() => {
      for (let page = 0; page < 20; page++) insert.run('x'.repeat(pageBytes));
    });
    let rows = 0;
    let longest = 0;
    while (logPages() >= longest) {
      longest = logPages();
      addOne();
      rows += 20;
      checkpoints.committed();
      await nextTurn();
      expect(rows).toBeLessThan(100_000);
    }
    expect(logPages()).toBeLessThan(longest);
    await checkpoints.close();
    expect(statSync(file).size).toBeGreaterThan(rows * pageBytes * 0.9);
    expect(database.prepare('select count(*) as rows from pages').get()).toEqual({ rows });
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
  });

  it('leaves the store working when its thread cannot open it', async () => {
    const checkpoints = new Checkpointer(join(dir, 'absent.db'), database);
    const insert = database.prepare('insert into pages (text) values (?)');
    for (let commit = 0; commit < 200; commit++) {
      for (let page = 0; page < 10; page++) insert.run('x'.repeat(pageBytes));
      checkpoints.committed();
      await nextTurn();
    }
    expect(database.prepare('select count(*) as rows from pages').get()).toEqual({ rows: 2_000 });
    await checkpoints.close();
  });

  it('lets the program end without a thread that was never needed', async () => {
    const checkpoints = new Checkpointer(file, database);
    checkpoints.committed();
    await checkpoints.close();
  });
});
