// Connections of SQLite: opens the writing and the reading connection with their settings, runs
// statements for Kysely, and converts trouble of the store to CapacityError.
import Database from 'better-sqlite3';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { CapacityError, UnreachableError } from '../../errors.ts';
import { sliceTurns } from '../../runtime/fairness/loop-turns.ts';
import { isStoreTrouble } from '../db.ts';
import { noStreaming } from '../dialect.ts';
import { insideCommitPages } from './checkpointer.ts';

const preparedStatements = 500;
const writerCacheKb = 8_000;
const readerCacheKb = 4_000;
/**
 * Longest wait for another process with the write lock, in ms; transactions of commands take
 * milliseconds.
 */
export const busyTimeoutMs = 2_000;

/** A Kysely connection over better-sqlite3 that keeps prepared statements. */
export function connectionOver(
  database: Database.Database,
  slice: () => Promise<void> | undefined = sliceTurns,
): DatabaseConnection {
  // A plain map instead of an LRU cache, whose order took 2 % of the event loop at full load.
  const statements = new Map<string, Database.Statement>();
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      // No `await` without a wait: a turn of the microtasks costs 4 % of a send.
      const later = slice();
      if (later !== undefined) await later;
      let statement = statements.get(query.sql);
      if (!statement) {
        statement = database.prepare(query.sql);
        if (statements.size >= preparedStatements) statements.clear();
        statements.set(query.sql, statement);
      }
      if (statement.reader) return { rows: statement.all(query.parameters) as R[] };
      const { changes } = statement.run(query.parameters);
      return { rows: [], numAffectedRows: BigInt(changes) };
    },
    streamQuery: noStreaming,
  };
}

/** Wraps `connectionOver` for single reads, and converts trouble of the store to CapacityError. */
export function readingConnectionOver(database: Database.Database): DatabaseConnection {
  const connection = connectionOver(database);
  return {
    ...connection,
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      try {
        return await connection.executeQuery<R>(query);
      } catch (error) {
        throw storeError(error, 'be read');
      }
    },
  };
}

function open(file: string, readonly: boolean): Database.Database {
  const database = new Database(file, { readonly, timeout: busyTimeoutMs });
  if (!readonly) {
    // `page_size` must be set before the first table is made.
    database.pragma('page_size = 8192');
    database.pragma('journal_mode = WAL');
    // SQLite syncs checkpoints and new logs, and log-sync.ts syncs commits. Together this is as
    // durable as FULL.
    database.pragma('synchronous = NORMAL');
    database.pragma('foreign_keys = ON');
    // Overwrites deleted rows on pages that are written anyway (docs/operations.md, "Deletion").
    database.pragma('secure_delete = FAST');
    database.pragma(`wal_autocheckpoint = ${insideCommitPages}`);
  }
  database.pragma(`cache_size = -${readonly ? readerCacheKb : writerCacheKb}`);
  database.pragma('temp_store = MEMORY');
  return database;
}

/** Converts trouble of the store to CapacityError; returns any other error unchanged. */
export function storeError(error: unknown, wish: 'write' | 'be read' = 'write'): unknown {
  if (!isStoreTrouble(error)) return error;
  const { code, message } = error as { code: string; message: string };
  const text = `The store cannot ${wish} now (${code}: ${message})`;
  return new CapacityError(text, 1, { cause: error });
}

/**
 * Opens the writing and the reading connection.
 * @throws UnreachableError
 */
export function openBoth(file: string): { writer: Database.Database; reader: Database.Database } {
  try {
    const writer = open(file, false);
    const reader = open(file, true);
    writer.pragma('busy_timeout = 0');
    return { writer, reader };
  } catch (error) {
    const reason = (error as Error).message;
    throw new UnreachableError(`The store ${file} cannot be opened: ${reason}`, { cause: error });
  }
}
