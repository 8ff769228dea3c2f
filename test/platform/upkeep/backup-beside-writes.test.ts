// A backup of a SQLite store that is written to all the time: it has the state of its beginning,
// and ends.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { backupSqlite } from '../../../src/platform/store/open.ts';

const rows = 8_000;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-backup-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('copies the state of its beginning, each page once', async () => {
  const [file, copy] = [join(directory, 'svc.db'), join(directory, 'copy.db')];
  const writer = new Database(file);
  writer.pragma('page_size = 8192');
  writer.pragma('journal_mode = WAL');
  writer.exec('create table mail (id integer primary key, body blob)');
  const insert = writer.prepare('insert into mail (body) values (?)');
  writer.transaction(() => {
    for (let number = 0; number < rows; number++) insert.run(Buffer.alloc(7_000, number));
  })();
  const steps: number[] = [];
  await backupSqlite(file, copy, (done) => {
    if (done < (steps.at(-1) ?? 0)) throw new Error('the copy began anew');
    steps.push(done);
    // The commit of a daemon, between two steps of the copy.
    insert.run(Buffer.alloc(10));
  });
  expect(steps.length).toBeGreaterThan(3);
  const count = (path: string) =>
    new Database(path).prepare('select count(*) from mail').pluck().get();
  expect(count(copy)).toBe(rows);
  expect(count(file)).toBe(rows + steps.length);
  writer.close();
});
