// Kysely dialect of both engines, over connections of the store. It refuses Kysely's own
// transactions, because the store itself begins and commits.
import {
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { type Db, type StoreKind, setDirectConnection } from './db.ts';

/** Source of connections for a Kysely. */
export interface ConnectionSource {
  acquire(): Promise<DatabaseConnection>;
  release(connection: DatabaseConnection): Promise<void>;
}

function driverOver(source: ConnectionSource): Driver {
  const refuse = async () => {
    throw new Error('transactions go through Store.write');
  };
  return {
    init: async () => {},
    acquireConnection: () => source.acquire(),
    releaseConnection: (connection) => source.release(connection),
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: async () => {},
  };
}

/** Returns a Kysely in the dialect of this engine that runs queries on connections of `source`. */
export function kyselyOver(kind: StoreKind, source: ConnectionSource): Db {
  const postgres = kind === 'postgres';
  const dialect: Dialect = {
    createDriver: () => driverOver(source),
    createAdapter: () => (postgres ? new PostgresAdapter() : new SqliteAdapter()),
    createQueryCompiler: () => (postgres ? new PostgresQueryCompiler() : new SqliteQueryCompiler()),
    createIntrospector: (db) =>
      postgres ? new PostgresIntrospector(db) : new SqliteIntrospector(db),
  };
  return new Kysely<unknown>({ dialect });
}

/** Returns a Kysely that always runs on this connection; hot statements use it directly. */
export function kyselyOn(kind: StoreKind, connection: DatabaseConnection): Db {
  const db = kyselyOver(kind, { acquire: async () => connection, release: async () => {} });
  setDirectConnection(db, connection);
  return db;
}

/** Refuses streaming. Results are paged instead, so that no cursor outlives a transaction. */
export async function* noStreaming(): AsyncIterableIterator<never> {
  yield* [];
  throw new Error('streaming queries are not supported by this store');
}
