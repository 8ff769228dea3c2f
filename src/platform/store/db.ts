// Interface of the store for the areas: a Kysely without tables (each area's queries.ts names only its
// own), reads on `db`, writes through `write`. Only src/platform/store knows the engine.
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Kysely,
  PostgresAdapter,
  type QueryResult,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely';

/** A connection for queries; functions take it as their first parameter. */
export type Db = Kysely<unknown>;

export type StoreKind = 'sqlite' | 'postgres';

/**
 * `now`: survives a power failure once `write` resolved; for every write that a response confirms.
 * `soon`: survives the end of the process at once, a power failure after a quarter of a second. For work
 * that is repeated if it is lost: claims, and outcomes that a retry would find again.
 * `quiet`: like `soon`, but notifies no process. For writes without waiting readers, such as heartbeats.
 */
export type Durability = 'now' | 'soon' | 'quiet';

export interface Store {
  readonly kind: StoreKind;
  /** Connection for reads outside a write: sees committed data only. */
  readonly db: Db;
  /**
   * Runs `work` in a write transaction (`begin immediate`) and resolves after the durable commit.
   * On SQLite, writes that arrive together share one transaction and one fsync, each in its own
   * savepoint, so that one that throws never spoils its neighbours. `work` must not await the
   * network. It may run several times before one commit: PostgreSQL ends one transaction of a deadlock,
   * and the store runs it again. So `work` must not change memory in a way that a second run would repeat;
   * effects that depend on the commit come after `write`. Rethrows errors of `work`, or throws
   * CapacityError if the store cannot write.
   */
  write<T>(work: (trx: Db) => Promise<T>, durability?: Durability): Promise<T>;
  /**
   * Runs a read whose cost grows with the store, for an organization: without blocking the event loop, on a
   * connection that sees committed data only.
   * @throws OverdueError (aside.ts) after 500 ms; CapacityError if the read gets no place (aside.ts).
   */
  aside<T>(organizationId: string, read: (db: Db) => Promise<T>): Promise<T>;
  /** SQLite only: empties the log, which keeps earlier versions of rows until it begins anew. */
  emptyLog?(): void;
  /**
   * Calls `listener` after commits, by this process and by others (and now and then without, on
   * PostgreSQL); returns the unsubscription.
   */
  onChange(listener: () => void): () => void;
  /** Whether a write can be made now; for /readyz. */
  isWritable(): Promise<boolean>;
  close(): Promise<void>;
}

/** The same connection, typed with an area's own tables. */
export function tables<T>(db: Db): Kysely<T> {
  return db as unknown as Kysely<T>;
}

/** Returns the engine of a connection; only for statements per engine and for migrations. */
export function engineOf(db: Pick<Kysely<unknown>, 'getExecutor'>): StoreKind {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}

/** Connections of the Kyselys that have only one. */
const directConnections = new WeakMap<Db, DatabaseConnection>();

/** Lets hot statements of `db` run on `connection`, bypassing Kysely's layers (8 µs each). */
export function setDirectConnection(db: Db, connection: DatabaseConnection): void {
  directConnections.set(db, connection);
}

function run<R>(db: Db, query: CompiledQuery<R>): Promise<QueryResult<R>> {
  const direct = directConnections.get(db);
  return direct ? direct.executeQuery<R>(query) : db.executeQuery<R>(query);
}

/**
 * Condition that `column` is one of the ids packed by `idList`. Lists of every length share one SQL text and
 * one prepared statement, on both engines.
 */
export function isOneOf(
  db: Pick<Kysely<unknown>, 'getExecutor'>,
  column: string,
  packed: unknown,
): RawBuilder<SqlBool> {
  return engineOf(db) === 'postgres'
    ? sql<SqlBool>`${sql.ref(column)} = any(${packed})`
    : sql<SqlBool>`${sql.ref(column)} in (select value from json_each(${packed}))`;
}

/** Packs ids for `isOneOf` as the engine expects. */
export function idList(db: Db, ids: readonly string[]): unknown {
  return engineOf(db) === 'postgres' ? ids : JSON.stringify(ids);
}

/** Packs a list that is JSON already, which SQLite takes without parsing; see `idList`. */
export function idListOfJson(db: Db, ids: string): unknown {
  return engineOf(db) === 'postgres' ? JSON.parse(ids) : ids;
}

/** Placeholder of a value in a statement that is compiled once; see `statement`. */
class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

interface Compilable<R> {
  compile(): CompiledQuery<R>;
}

/** Returns the placeholder for a value of a `statement`. */
export type ParameterOf<P> = <K extends keyof P & string>(name: K) => P[K];

/**
 * Returns a hot statement: built and compiled once per engine, then only bound and run. Compiling each
 * query costs 40 % of the accept rate (ARCHITECTURE.md, "Decisions that shape the house").
 */
export function statement<T, P extends object, R>(
  build: (db: Kysely<T>, parameter: ParameterOf<P>) => Compilable<R>,
): (db: Db, values: P) => Promise<R[]> {
  const bind = compiledOnce(build);
  return async (db, values) => (await run(db, bind(db, values))).rows;
}

/** Returns a hot statement that resolves with the number of changed rows (`returning` costs more). */
export function change<T, P extends object>(
  build: (db: Kysely<T>, parameter: ParameterOf<P>) => Compilable<unknown>,
): (db: Db, values: P) => Promise<number> {
  const bind = compiledOnce(build);
  return async (db, values) => Number((await run(db, bind(db, values))).numAffectedRows ?? 0);
}

function compiledOnce<T, P extends object, R>(
  build: (db: Kysely<T>, parameter: ParameterOf<P>) => Compilable<R>,
): (db: Db, values: P) => CompiledQuery<R> {
  const compiled = new Map<string, CompiledQuery<R>>();
  return (db, values) => {
    const engine = engineOf(db);
    let query = compiled.get(engine);
    if (!query) {
      const parameter = ((name: string) => new Parameter(name)) as unknown as ParameterOf<P>;
      query = build(tables<T>(db), parameter).compile();
      if (engine === 'sqlite') query = { ...query, sql: withSteadyLimit(query.sql) };
      compiled.set(engine, query);
    }
    const bound = query.parameters.map((value) =>
      value instanceof Parameter ? (values as Record<string, unknown>)[value.name] : value,
    );
    return { ...query, parameters: bound };
  };
}

/**
 * Hides `limit ?` in an expression. SQLite replans a statement at each run if a bare `limit ?` may change
 * the plan: 20 to 90 µs for a read of 1 µs.
 */
function withSteadyLimit(text: string): string {
  return text.replaceAll(' limit ?', ' limit +?');
}

const largestChunk = 64;
/** Parameters of a statement: PostgreSQL takes at most 65,535, SQLite 32,766. */
const mostParameters = 32_000;

/** Sets of columns of a table with own statements; rows of further sets name every column. */
const mostColumnSets = 16;

/**
 * Inserts many rows with few distinct statements: chunks of powers of two, each compiled once per
 * engine and set of columns, so that their prepared statements stay warm. Columns that are null in
 * all rows are left out, as binding a null costs as much as a number (half of the columns of a new
 * message: 2 µs less a row); so no column may have a default. All rows have the same columns.
 */
export function bulkInsert<T>(table: keyof T & string, columns: readonly string[]) {
  const compiled = new Map<string, CompiledQuery>();
  const columnSets = new Map<string, readonly string[]>();
  return async (db: Db, rows: readonly object[]): Promise<void> => {
    if (rows.length === 0) return;
    const filled = columns.filter((column) => rows.some((row) => hasValue(row, column)));
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
        query = compileInsert(db, table, used, size);
        compiled.set(key, query);
      }
      // Allocated at full length: growing step by step made more garbage than the rows themselves.
      const parameters = new Array<unknown>(size * used.length);
      let at = 0;
      for (let i = done; i < done + size; i++) {
        const row = rows[i] as Record<string, unknown>;
        for (const column of used) parameters[at++] = row[column] ?? null;
      }
      await run(db, { ...query, parameters });
      done += size;
    }
  };
}

function hasValue(row: object, column: string): boolean {
  const value = (row as Record<string, unknown>)[column];
  return value !== null && value !== undefined;
}

function chunkSize(left: number, columns: number): number {
  let size = largestChunk;
  while (size > left || size * columns > mostParameters) size /= 2;
  return size;
}

function compileInsert(db: Db, table: string, columns: readonly string[], size: number) {
  const row = Object.fromEntries(columns.map((column) => [column, new Parameter(column)]));
  const untyped = db as unknown as Kysely<Record<string, Record<string, unknown>>>;
  return untyped
    .insertInto(table)
    .columns([...columns])
    .values(Array.from({ length: size }, () => row))
    .compile() as CompiledQuery;
}

/** Encodes a value as JSON text for the store; null for null and undefined. */
export function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/** Decodes a value stored by `toJson`. The caller knows the shape: only our own code writes these columns. */
export function fromJson<T>(text: string): T;
export function fromJson<T>(text: string | null): T | null;
export function fromJson<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}

/** Whether a statement failed because a unique value is taken. */
export function isDuplicate(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE';
}

/** Whether SQLite reports trouble of the store, temporary or permanent, not a fault in the query. */
export function isStoreTrouble(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return (
    typeof code === 'string' &&
    /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|PROTOCOL)/.test(code)
  );
}
