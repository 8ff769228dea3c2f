// Interface of the store: a Kysely without types of tables (each queries.ts declares the tables of
// the folder), reads on `db`, writes through `write`. Only src/platform/store knows the engine.
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Expression,
  type Kysely,
  PostgresAdapter,
  type QueryResult,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import { placeholder, readerOf } from './rows/placeholder.ts';

/** A connection for queries, which functions take as their first parameter. */
export type Db = Kysely<unknown>;

export type StoreKind = 'sqlite' | 'postgres';

/**
 * Guarantee of a write. `now`: survives a power failure once `write` has resolved; for every write
 * that a response confirms. `soon`: survives the end of the process at once, and a power failure
 * after a quarter of a second; for work that is repeated if it is lost, such as claims. `quiet`:
 * like `soon`, but notifies no process; for writes that nobody waits to read, such as heartbeats.
 */
export type Durability = 'now' | 'soon' | 'quiet';

export interface Store {
  readonly kind: StoreKind;
  /** Connection for reads outside of a write; sees only committed data. */
  readonly db: Db;
  /**
   * Runs `work` in a write transaction (`begin immediate`) and resolves after the durable commit.
   * On SQLite, writes that arrive together share a transaction and an fsync, each in a separate
   * savepoint, so that a write that throws never spoils the neighbours. `work` must not await the
   * network. It may run several times before a commit, because the store runs a transaction again
   * after a deadlock on PostgreSQL. So `work` must not change memory in a way that a second run
   * would repeat; effects that need the commit come after `write`. Rethrows errors of `work`, or
   * throws CapacityError if the store cannot write.
   */
  write<T>(work: (trx: Db) => Promise<T>, durability?: Durability): Promise<T>;
  /**
   * Runs a read, such as a search, with a cost that grows with the store. It sees only committed
   * data and does not block the event loop.
   * @throws OverdueError (aside.ts) after 500 ms; CapacityError if too many such reads run.
   */
  aside<T>(organizationId: string, read: (db: Db) => Promise<T>): Promise<T>;
  /** Empties the log of SQLite, which keeps earlier versions of rows until it is overwritten. */
  emptyLog?(): void;
  /**
   * Calls `listener` after commits of any process (on PostgreSQL sometimes without a commit).
   * Returns a function that ends the calls.
   */
  onChange(listener: () => void): () => void;
  /** Tests with a write whether the store can be written; for /readyz. */
  isWritable(): Promise<boolean>;
  close(): Promise<void>;
}

/** Tables for a function with a table's name as parameter: no type knows the columns. */
export type Untyped = Record<string, Record<string, unknown>>;

/** Returns the same connection with the types of these tables. */
export function tables<T>(db: Db): Kysely<T> {
  return db as unknown as Kysely<T>;
}

type Engine = Pick<Kysely<unknown>, 'getExecutor'>;

/** Returns the engine of a connection. Only for statements by engine, and migrations. */
export function engineOf(db: Engine): StoreKind {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}

/** Connection of each Kysely that always runs on the same connection. */
const directConnections = new WeakMap<Db, DatabaseConnection>();

/**
 * Makes hot statements of `db` run directly on `connection`: Kysely's layers cost 8 µs a statement.
 */
export function setDirectConnection(db: Db, connection: DatabaseConnection): void {
  directConnections.set(db, connection);
}

/** Runs a compiled query, directly if the connection allows it. */
export function runCompiled<R>(db: Db, query: CompiledQuery<R>): Promise<QueryResult<R>> {
  const direct = directConnections.get(db);
  return direct ? direct.executeQuery<R>(query) : db.executeQuery<R>(query);
}

/** A list that is already JSON text, which SQLite accepts without parsing. */
export class JsonList {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function packed(engine: StoreKind, list: readonly unknown[] | JsonList): unknown {
  if (list instanceof JsonList) return engine === 'postgres' ? JSON.parse(list.text) : list.text;
  return engine === 'postgres' ? list : JSON.stringify(list);
}

/**
 * Packs a list into a single parameter, so that lists of every length share a prepared statement.
 */
export function packedList(db: Engine, list: readonly unknown[] | JsonList): unknown {
  const engine = engineOf(db);
  const read = readerOf(list);
  if (!read) return packed(engine, list);
  return placeholder((args) => packed(engine, read(args) as readonly unknown[] | JsonList));
}

/**
 * Returns operator and operand of the condition that a column is in `list`: `where('id',
 * ...isOneOf(db, ids))`. For SQL text see `amongOf`.
 */
export function isOneOf<Value>(
  db: Engine,
  list: readonly Value[] | JsonList,
): [Expression<unknown>, Expression<Value>] {
  const values = packedList(db, list);
  return engineOf(db) === 'postgres'
    ? [sql`=`, sql<Value>`any(${values})`]
    : [sql`in`, sql<Value>`(select value from json_each(${values}))`];
}

/** Returns the condition of `isOneOf` for SQL text, where no type checks the column. */
export function amongOf(db: Engine, column: string, list: readonly unknown[]): RawBuilder<SqlBool> {
  const [operator, operand] = isOneOf(db, list);
  return sql<SqlBool>`${sql.ref(column)} ${operator} ${operand}`;
}

/** Encodes a value as JSON text for the store; null for null and undefined. */
export function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/**
 * Decodes a value stored by `toJson`. The caller knows the type, because only our code writes these
 * columns.
 */
export function fromJson<T>(text: string): T;
export function fromJson<T>(text: string | null): T | null;
export function fromJson<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}

/** Tells whether a statement failed because a unique value is taken. */
export function isDuplicate(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === '23505' || code === 'SQLITE_CONSTRAINT_UNIQUE';
}

/**
 * Tells whether an error of SQLite means trouble of the store, temporary or permanent, instead of a
 * faulty statement.
 */
export function isStoreTrouble(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return (
    typeof code === 'string' &&
    /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|PROTOCOL)/.test(code)
  );
}
