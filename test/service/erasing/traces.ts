// Finds every place in a store and its files that holds a mark: all columns of all tables by the
// catalogue, encoded values too, and the bytes of all files. A new table is searched without being
// named here.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { sql } from 'kysely';
import type { App } from '../../../src/core/app.ts';

/** A word of its own, in any letter case. */
export const mark = 'zqxvmark';

const words = [mark, 'Zqxvmark'];

/**
 * The mark in base64 at each of the three offsets, without characters that depend on its
 * neighbours.
 */
const encoded = words.flatMap((word) =>
  [0, 1, 2].map((offset) => {
    const text = Buffer.from(' '.repeat(offset) + word).toString('base64');
    return text.slice(offset === 0 ? 0 : offset + 1, -4);
  }),
);

function holdsBytes(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  return text.toLowerCase().includes(mark) || encoded.some((form) => text.includes(form));
}

const unpackers = [
  zlib.gunzipSync,
  zlib.inflateSync,
  zlib.inflateRawSync,
  zlib.zstdDecompressSync,
  zlib.brotliDecompressSync,
];

function unpacked(bytes: Buffer): Buffer[] {
  return unpackers.flatMap((unpack) => {
    try {
      return [unpack(bytes)];
    } catch {
      return [];
    }
  });
}

function holds(value: unknown): boolean {
  if (typeof value === 'string') return holdsBytes(Buffer.from(value));
  if (!Buffer.isBuffer(value)) return false;
  return [value, ...unpacked(value)].some(holdsBytes);
}

async function tablesOf({ store }: App): Promise<string[]> {
  const query =
    store.kind === 'sqlite'
      ? sql<{ name: string }>`select name from sqlite_schema where type = 'table'
          and sql not like 'create virtual table%' and name not like 'sqlite_%'`
      : sql<{ name: string }>`select tablename as name from pg_tables
          where schemaname = current_schema`;
  return (await query.execute(store.db)).rows.map(({ name }) => name);
}

/** Lists each `table.column` that holds the mark. */
export async function tracesInTables(app: App): Promise<string[]> {
  const found = new Set<string>();
  for (const table of await tablesOf(app)) {
    const { rows } = await sql<object>`select * from ${sql.table(table)}`.execute(app.store.db);
    for (const row of rows) {
      for (const [column, value] of Object.entries(row)) {
        if (holds(value)) found.add(`${table}.${column}`);
      }
    }
  }
  return [...found].sort();
}

/** Lists the files below the data directory that hold the mark. */
export function tracesInFiles({ config }: App): string[] {
  const names = readdirSync(config.dataDir, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isFile())
    .filter((entry) => holdsBytes(readFileSync(join(entry.parentPath, entry.name))))
    .map(({ name }) => name);
}
