// Inserts many rows with few distinct statements, which stay prepared.
import type { CompiledQuery, InsertQueryBuilder } from 'kysely';
import { type Db, engineOf, runCompiled, tables, type Untyped } from '../db.ts';

/** A class with the columns of a table as fields, in the order of the inserts. */
export type RowClass<Row> = new () => Row;

export function columnsOf<Row extends object>(row: RowClass<Row>): (keyof Row & string)[] {
  return Object.keys(new row()) as (keyof Row & string)[];
}

type Insert = InsertQueryBuilder<Untyped, string, unknown>;

const largestChunk = 64;
/** Most parameters of a statement: PostgreSQL takes 65,535, SQLite 32,766. */
const mostParameters = 32_000;

/**
 * Most sets of filled columns with separate statements. Rows with further sets use statements that
 * name every column.
 */
const mostColumnSets = 16;

/**
 * Returns a function that inserts many rows with few distinct statements: in chunks of powers of
 * two, compiled once per engine and set of columns. Columns that are null in all rows are left out,
 * because binding a null costs as much as a number: this saves 2 µs a row if half of the columns
 * are null. So no column may have a default. `extend` adds clauses to the statements.
 */
export function bulkInsert<Row>(
  table: string,
  columns: readonly (keyof Row & string)[],
  extend: (insert: Insert) => Insert = (insert) => insert,
) {
  const compiled = new Map<string, CompiledQuery>();
  const columnSets = new Map<string, readonly (keyof Row & string)[]>();
  return async (db: Db, rows: readonly Row[]): Promise<void> => {
    if (rows.length === 0) return;
    const filled = columns.filter((column) => rows.some((row) => hasValue(row[column])));
    let columnSet = filled.join();
    if (!columnSets.has(columnSet)) {
      if (columnSets.size < mostColumnSets) columnSets.set(columnSet, filled);
      else columnSet = '';
    }
    const used = columnSets.get(columnSet) ?? columns;
    let done = 0;
    while (done < rows.length) {
      const size = chunkSize(rows.length - done, used.length);
      const key = `${engineOf(db)}:${size}:${columnSet}`;
      let query = compiled.get(key);
      if (!query) {
        query = extend(insertOf(db, table, used, size)).compile() as CompiledQuery;
        compiled.set(key, query);
      }
      // Allocates the full length, because a growing array makes more garbage than the rows.
      const parameters = new Array<unknown>(size * used.length);
      let at = 0;
      for (let i = done; i < done + size; i++) {
        const row = rows[i] as Row;
        for (const column of used) parameters[at++] = row[column] ?? null;
      }
      await runCompiled(db, { ...query, parameters });
      done += size;
    }
  };
}

function hasValue(value: unknown): boolean {
  return value !== null && value !== undefined;
}

function chunkSize(left: number, columns: number): number {
  let size = largestChunk;
  while (size > left || size * columns > mostParameters) size /= 2;
  return size;
}

function insertOf(db: Db, table: string, columns: readonly string[], size: number): Insert {
  const row = Object.fromEntries(columns.map((column) => [column, 0]));
  return tables<Untyped>(db)
    .insertInto(table)
    .columns([...columns])
    .values(Array.from({ length: size }, () => row));
}
