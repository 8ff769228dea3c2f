// The engine for more than one machine: a pool of connections, one transaction per write (the
// server does its own group commit), LISTEN/NOTIFY instead of polling.
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import pg from 'pg';
import { sleep, systemClock } from '../clock.ts';
import { CapacityError, UnreachableError } from '../errors.ts';
import type { Db, Store } from './db.ts';
import { kyselyOn, kyselyOver, noStreaming } from './dialect.ts';

const poolSize = 12;
const connectTimeoutMs = 5_000;
const relistenDelayMs = 1_000;
const channel = 'svc_changes';
/** Prepared statements are kept per connection under short names; past this, unnamed ones. */
const namedStatements = 500;
const int8 = 20;

const types: pg.CustomTypesConfig = {
  // Counts and times fit a double; pg would give text for every bigint.
  getTypeParser: ((oid: number, format: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Names for prepared statements, the same on every connection of the pool. */
function statementNames(): (sql: string) => string | undefined {
  const names = new Map<string, string>();
  return (sql) => {
    const known = names.get(sql);
    if (known || names.size >= namedStatements) return known;
    const name = `s${names.size}`;
    names.set(sql, name);
    return name;
  };
}

function connectionOver(
  client: pg.PoolClient,
  nameOf: (sql: string) => string | undefined,
): DatabaseConnection {
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const name = nameOf(query.sql);
      const values = query.parameters as unknown[];
      const result = await client.query({ text: query.sql, values, ...(name && { name }) });
      return { rows: result.rows as R[], numAffectedRows: BigInt(result.rowCount ?? 0) };
    },
    streamQuery: noStreaming,
  };
}

/** Whether the server or the way to it failed, as opposed to the query. */
function isTrouble(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== 'string') return /timeout|terminated|closed/i.test(String(error));
  return /^(08|53|57|58|40)|^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND)/.test(code);
}

function storeError(error: unknown): unknown {
  if (!isTrouble(error)) return error;
  const reason = (error as Error).message;
  return new CapacityError(`The store cannot write now (${reason})`, 1, { cause: error });
}

/**
 * Opens the PostgreSQL store at `url` (`?options=-c search_path=…` chooses the schema).
 * @throws UnreachableError when the server does not answer or refuses the login.
 */
export async function openPostgres(url: string): Promise<Store> {
  const settings = { connectionString: url, types, connectionTimeoutMillis: connectTimeoutMs };
  const pool = new pg.Pool({ ...settings, max: poolSize });
  // An idle connection that breaks is replaced by the pool; without a listener it would be fatal.
  pool.on('error', () => {});
  try {
    (await pool.connect()).release();
  } catch (error) {
    await pool.end();
    const reason = (error as Error).message;
    throw new UnreachableError(`PostgreSQL cannot be reached: ${reason}`, { cause: error });
  }
  const nameOf = statementNames();
  const clients = new WeakMap<DatabaseConnection, pg.PoolClient>();
  const connections = new WeakMap<pg.PoolClient, { connection: DatabaseConnection; trx: Db }>();
  const acquire = async () => {
    const client = await pool.connect();
    let known = connections.get(client);
    if (!known) {
      const connection = connectionOver(client, nameOf);
      known = { connection, trx: kyselyOn('postgres', connection) };
      connections.set(client, known);
      clients.set(connection, client);
    }
    return { client, ...known };
  };
  const changes = changeListener(settings);
  return {
    kind: 'postgres',
    db: kyselyOver('postgres', {
      acquire: async () => (await acquire()).connection,
      release: async (connection) => clients.get(connection)?.release(),
    }),
    async write(work, durability = 'now') {
      const { client, trx } = await acquire().catch((error: unknown) => {
        throw storeError(error);
      });
      let broken: Error | undefined;
      try {
        await client.query('begin');
        if (durability === 'soon') await client.query('set local synchronous_commit = off');
        const value = await work(trx);
        await client.query(`notify ${channel}`);
        await client.query('commit');
        return value;
      } catch (error) {
        await client.query('rollback').catch((failure: Error) => {
          broken = failure;
        });
        throw storeError(error);
      } finally {
        client.release(broken);
      }
    },
    onChange: changes.add,
    isWritable: () =>
      pool.query('update probe set counter = counter + 1').then(
        () => true,
        () => false,
      ),
    async close() {
      await changes.close();
      await pool.end();
    },
  };
}

/** One connection that listens while anybody does, and comes back after it broke. */
function changeListener(settings: pg.ClientConfig) {
  const listeners = new Set<() => void>();
  const closing = new AbortController();
  let client: pg.Client | null = null;
  let started: Promise<void> | null = null;
  const notify = () => {
    for (const listener of listeners) listener();
  };
  const listen = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const next = new pg.Client(settings);
      const ended = new Promise<void>((resolve) => next.once('end', resolve));
      next.on('error', () => {});
      next.on('notification', notify);
      try {
        await next.connect();
        client = next;
        await next.query(`listen ${channel}`);
        // What was committed while nobody listened.
        notify();
        if (!closing.signal.aborted) await ended;
      } catch {
        await next.end().catch(() => {});
      }
      await sleep(systemClock, relistenDelayMs, closing.signal);
    }
  };
  return {
    add(listener: () => void): () => void {
      listeners.add(listener);
      started ??= listen();
      return () => listeners.delete(listener);
    },
    async close() {
      listeners.clear();
      closing.abort();
      await client?.end().catch(() => {});
      await started;
    },
  };
}
