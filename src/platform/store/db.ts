// Interface of the store for the areas: a Kysely without tables (each area's queries.ts names only
// tables of the area), reads on `db`, writes through `write`. Only src/platform/store knows the
// engine.
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

/** A connection for queries; functions take it as their first parameter. */
export type Db = Kysely<unknown>;

export type StoreKind = 'sqlite' | 'postgres';

/**
 * Promise of a write.
 * `now` survives a power failure once `write` has resolved: for every write that a response
 * confirms.
 * `soon` survives the end of the process at once, and a power failure after a quarter of a second:
 * for work that is repeated if it is lost, such as claims, and outcomes that a retry would find
 * again.
 * `quiet` is like `soon`, but notifies no process: for writes without waiting readers, such as
 * heartbeats.
 */
export type Durability = 'now' | 'soon' | 'quiet';

export interface Store {
  readonly kind: StoreKind;
  /** Connection for reads outside a write: sees committed data only. */
  readonly db: Db;
  /**
   * Runs `work` in a write transaction (`begin immediate`) and resolves after the durable commit.
   * On SQLite, writes that arrive together share a transaction and an fsync, each in a separate
   * savepoint, so that a write that throws never spoils the neighbours. `work` must not await the
   * network. It may run several times before a commit: PostgreSQL ends a transaction of a deadlock,
   * and the store runs it again. So `work` must not change memory in a way that a second run would
   * repeat; effects that depend on the commit come after `write`. Rethrows errors of `work`, or
   * throws CapacityError if the store cannot write.
   */
  write<T>(work: (trx: Db) => Promise<T>, durability?: Durability): Promise<T>;
  /**
   * Runs a read with a cost that grows with the store, for an organization, on a connection that
   * sees committed data only. Does not block the event loop.
   * @throws OverdueError (aside.ts) after 500 ms; CapacityError if the read gets no place
   * (aside.ts).
   */
  aside<T>(organizationId: string, read: (db: Db) => Promise<T>): Promise<T>;
  /** Empties the log, which keeps earlier versions of rows until it begins anew. SQLite only. */
  emptyLog?(): void;
  /**
   * Calls `listener` after commits of any process (on PostgreSQL sometimes without a commit).
   * Returns the unsubscription.
   */
  onChange(listener: () => void): () => void;
  /** Tells whether a write can be made now; for /readyz. */
  isWritable(): Promise<boolean>;
  close(): Promise<void>;
}

/** Tables of a function that takes their name as a parameter: no type knows their columns. */
export type Untyped = Record<string, Record<string, unknown>>;

/** Returns the same connection, typed with the tables of an area. */
export function tables<T>(db: Db): Kysely<T> {
  return db as unknown as Kysely<T>;
}

type Engine = Pick<Kysely<unknown>, 'getExecutor'>;

/** Returns the engine of a connection; only for statements per engine and for migrations. */
export function engineOf(db: Engine): StoreKind {
  return db.getExecutor().adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
}

/** Connections of all Kyselys that have a single connection. */
const directConnections = new WeakMap<Db, DatabaseConnection>();

/**
 * Makes hot statements of `db` run on `connection` directly: Kysely's layers cost 8 µs a statement.
 */
export function setDirectConnection(db: Db, connection: DatabaseConnection): void {
  directConnections.set(db, connection);
}

/** Runs a compiled query, directly where the connection allows it. */
export function runCompiled<R>(db: Db, query: CompiledQuery<R>): Promise<QueryResult<R>> {
  const direct = directConnections.get(db);
  return direct ? direct.executeQuery<R>(query) : db.executeQuery<R>(query);
}

/** A list that is JSON text already; SQLite takes it without parsing. */
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
 * Packs a list into a single parameter, so that lists of every length share a SQL text and a
 * prepared statement.
 */
export function packedList(db: Engine, list: readonly unknown[] | JsonList): unknown {
  const engine = engineOf(db);
  const read = readerOf(list);
  if (!read) return packed(engine, list);
  return placeholder((args) => packed(engine, read(args) as readonly unknown[] | JsonList));
}

/**
 * Returns operator and operand of the condition that a column is in `list`: `where('id',
 * ...isOneOf(db, ids))`. In SQL text, use `amongOf`.
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

/** Returns the condition of `isOneOf` for SQL text, in which no type checks the column. */
export function amongOf(db: Engine, column: string, list: readonly unknown[]): RawBuilder<SqlBool> {
  const [operator, operand] = isOneOf(db, list);
  return sql<SqlBool>`${sql.ref(column)} ${operator} ${operand}`;
}

/** Encodes a value as JSON text for the store; null for null and undefined. */
export function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

/**
 * Decodes a value stored by `toJson`. The caller knows the shape: only our own code writes these
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
 * Tells whether an error of SQLite means trouble of the store, temporary or permanent, and not a
 * fault of the statement.
 */
export function isStoreTrouble(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return (
    typeof code === 'string' &&
    /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|PROTOCOL)/.test(code)
  );
}
