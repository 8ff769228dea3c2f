// Statements for hot paths: built and compiled once per engine, later only bound and run. Compiling
// each query would cost 40 % of the accept rate (docs/making/decisions.md, "Store").
import type { CompiledQuery, Kysely, QueryResult } from 'kysely';
import { type Db, engineOf, runCompiled, type StoreKind, tables } from '../db.ts';
import { placeholder, type Reader, readerOf } from './placeholder.ts';

interface Compilable<Row> {
  compile(): CompiledQuery<Row>;
}

/**
 * Builds a statement. It runs once, with placeholders as arguments. Pass a placeholder or a field
 * of it as a value of the query, and never compute with it. A parameter must not have a default,
 * which would apply to all calls.
 */
export type Build<Tables, Args extends readonly unknown[], Row> = (
  db: Kysely<Tables>,
  ...args: Args
) => Compilable<Row>;

interface Compiled<Row> {
  query: CompiledQuery<Row>;
  readers: readonly Reader[];
}

/** Returns the function that runs a statement; own-tables.ts wraps it. */
export function compiledOnce<Tables, Args extends readonly unknown[], Row>(
  build: Build<Tables, Args, Row>,
): (db: Db, args: Args) => Promise<QueryResult<Row>> {
  const compiled = new Map<StoreKind, Compiled<Row>>();
  return (db, args) => {
    const engine = engineOf(db);
    let statement = compiled.get(engine);
    if (!statement) {
      statement = compile(db, engine, build);
      compiled.set(engine, statement);
    }
    const parameters = statement.readers.map((read) => read(args));
    return runCompiled(db, { ...statement.query, parameters });
  };
}

function compile<Tables, Args extends readonly unknown[], Row>(
  db: Db,
  engine: StoreKind,
  build: Build<Tables, Args, Row>,
): Compiled<Row> {
  const count = build.length - 1;
  const args = Array.from({ length: count }, (_, index) => placeholder((given) => given[index]));
  const query = build(tables<Tables>(db), ...(args as unknown as Args)).compile();
  const readers = query.parameters.map((value) => readerOf(value) ?? (() => value));
  const sql = engine === 'sqlite' ? withSteadyLimit(query.sql) : query.sql;
  return { query: { ...query, sql }, readers };
}

/**
 * Wraps `limit ?` in an expression. SQLite plans a statement again at each run if a plain `limit ?`
 * may change the plan: 20 to 90 µs for a read of 1 µs.
 */
function withSteadyLimit(text: string): string {
  return text.replaceAll(' limit ?', ' limit +?');
}
