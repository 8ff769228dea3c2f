// Promises of each durability on SQLite, with the sync of the log controlled by the test: when a
// write is answered, and that a failed sync stops all writes until a checkpoint has proven the
// file.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CapacityError } from '../../../src/platform/errors.ts';
import type { Durability, Store } from '../../../src/platform/store/db.ts';
import { openSqlite } from '../../../src/platform/store/sqlite/sqlite.ts';

/** Ends of the next syncs; without an entry a sync succeeds at once. */
type SyncEnd = 'held' | 'failed';

let dir: string;
let file: string;
let store: Store;
let ends: SyncEnd[];
let held: (() => void)[];
let syncs: number;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'svc-durability-'));
  file = join(dir, 'svc.db');
  ends = [];
  held = [];
  syncs = 0;
  const sync = async () => {
    syncs += 1;
    const end = ends.shift();
    if (end === 'failed') throw Object.assign(new Error('i/o error'), { code: 'EIO' });
    if (end === 'held') await new Promise<void>((resolve) => held.push(resolve));
  };
  store = openSqlite(file, { sync });
  await store.write(async (trx) => {
    await sql`create table things (id integer primary key)`.execute(trx);
    await sql`create table probe (counter integer)`.execute(trx);
  });
});
afterEach(async () => {
  for (const release of held) release();
  await store.close();
  rmSync(dir, { recursive: true });
});

const insert = (id: number, durability?: Durability) =>
  store.write(async (trx) => {
    await sql`insert into things values (${id})`.execute(trx);
  }, durability);

async function ids(): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select id from things order by id`.execute(store.db);
  return rows.map(({ id }) => id);
}

/**
 * Returns true if a promise resolves within enough turns of the event loop for a write without a
 * sync.
 */
async function isAnswered(promise: Promise<unknown>): Promise<boolean> {
  let answered = false;
  promise.then(
    () => {
      answered = true;
    },
    () => {},
  );
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return answered;
}

describe('a write while the sync of the log is held', () => {
  it.each([undefined, 'now'] as const)('has no answer with durability %s', async (durability) => {
    ends = ['held'];
    const written = insert(1, durability);
    await expect.poll(() => held.length).toBe(1);
    expect(await ids()).toEqual([1]);
    expect(await isAnswered(written)).toBe(false);
    held.shift()?.();
    await written;
  });

  it.each(['soon', 'quiet'] as const)('has its answer with durability %s', async (durability) => {
    ends = ['held', 'held'];
    await insert(1, durability);
    expect(await ids()).toEqual([1]);
  });

  it('shares its group between `soon` and `now`, and answers `soon` at once', async () => {
    ends = ['held'];
    const now = insert(1, 'now');
    const soon = insert(2, 'soon');
    await soon;
    await expect.poll(() => held.length).toBe(1);
    expect(await isAnswered(now)).toBe(false);
    held.shift()?.();
    await now;
  });
});

describe('a write after a failed sync', () => {
  it('makes a checkpoint prove the file, after the failure was reported', async () => {
    ends = ['failed'];
    await expect(insert(1)).rejects.toThrow(CapacityError);
    const before = syncs;
    await insert(2);
    expect(syncs).toBe(before + 1);
    expect(await ids()).toEqual([1, 2]);
  });

  it('fails until a checkpoint proves the file, also while a reader blocks that', async () => {
    await insert(1);
    const reader = new Database(file, { readonly: true });
    reader.exec('begin');
    reader.prepare('select * from things').all();
    ends = ['failed'];
    await expect(insert(2)).rejects.toThrow('EIO');
    for (const durability of ['now', 'soon', 'quiet'] as const) {
      await expect(insert(3, durability)).rejects.toThrow(/not synced/);
    }
    expect(await store.isWritable()).toBe(false);
    expect(await ids()).toEqual([1, 2]);
    reader.exec('commit');
    reader.close();
    await insert(4);
    expect(await ids()).toEqual([1, 2, 4]);
    expect(await store.isWritable()).toBe(true);
  });
});
