// Frees the disk space of deleted rows, for `svc storage compact`. While the service runs, new rows
// use this space instead: SQLite could free it automatically, but that costs 5 % of every send.
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { UnreachableError } from '../errors.ts';
import type { DatabaseSettings } from '../store/postgres/settings.ts';
import { connectForCopy } from './copying/server.ts';
import { lockStore, storeInUse } from './lock-store.ts';

const busyTimeoutMs = 2_000;

/** Sizes of the store in bytes. */
export interface Compacted {
  before: number;
  after: number;
}

/**
 * Rewrites the SQLite file without free pages. An interruption changes nothing.
 * @throws ConflictError while a daemon or a second command uses the store; UnreachableError if the
 * disk lacks twice the space of the rows
 */
export function compactSqlite(file: string): Compacted {
  const lock = lockStore(file);
  let database: Database.Database | undefined;
  // The temporary copy is beside the store, because /tmp may be in memory.
  const folder = process.env.SQLITE_TMPDIR;
  process.env.SQLITE_TMPDIR = dirname(file);
  try {
    database = new Database(file, { fileMustExist: true, timeout: busyTimeoutMs });
    database.pragma('temp_store = FILE');
    foldLog(database, file);
    const before = statSync(file).size;
    requireRoom(database, file);
    database.exec('vacuum');
    foldLog(database, file);
    return { before, after: statSync(file).size };
  } catch (error) {
    throw inWords(error, file);
  } finally {
    database?.close();
    if (folder === undefined) delete process.env.SQLITE_TMPDIR;
    else process.env.SQLITE_TMPDIR = folder;
    lock.release();
  }
}

/** Moves the log into the file. @throws ConflictError if a reader needs the log */
function foldLog(database: Database.Database, file: string): void {
  const [{ busy } = { busy: 0 }] = database.pragma('wal_checkpoint(TRUNCATE)') as {
    busy: number;
  }[];
  if (busy !== 0) throw storeInUse(file);
}

function requireRoom(database: Database.Database, file: string): void {
  const [pages, free, size] = ['page_count', 'freelist_count', 'page_size'].map((name) =>
    Number(database.pragma(name, { simple: true })),
  ) as [number, number, number];
  const needed = 2 * (pages - free) * size;
  const { bavail, bsize } = statfsSync(dirname(file));
  if (bavail * bsize >= needed) return;
  throw noRoom(file, `${Math.ceil(needed / 1_000_000)} MB`);
}

function noRoom(file: string, needed: string): UnreachableError {
  return new UnreachableError(
    `The disk of ${file} lacks the room to rewrite it: free ${needed}, or move the store to a larger disk`,
  );
}

function inWords(error: unknown, file: string): unknown {
  const code = String((error as { code?: unknown }).code);
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) {
    return storeInUse(file);
  }
  return code === 'SQLITE_FULL' ? noRoom(file, 'some') : error;
}

/**
 * Rewrites each table of PostgreSQL without dead rows, with all indexes. A table is locked while it
 * is rewritten.
 * @throws UnreachableError if the server cannot be reached
 */
export async function compactPostgres(
  database: DatabaseSettings,
  onProgress: (done: number, total: number) => void,
): Promise<Compacted> {
  const client = await connectForCopy(database);
  const size = async () => {
    const { rows } = await client.query<{ bytes: number }>(
      `select coalesce(sum(pg_total_relation_size(oid)), 0)::float8 as bytes from pg_class
       where relnamespace = current_schema()::regnamespace and relkind = 'r'`,
    );
    return rows[0]?.bytes ?? 0;
  };
  try {
    const { rows: found } = await client.query<{ name: string }>(
      `select quote_ident(relname) as name from pg_class
       where relnamespace = current_schema()::regnamespace and relkind = 'r' order by 1`,
    );
    const before = await size();
    for (const [index, { name }] of found.entries()) {
      await client.query(`vacuum (full, analyze) ${name}`);
      onProgress(index + 1, found.length);
    }
    return { before, after: await size() };
  } finally {
    await client.end();
  }
}
