// The engine for more than one machine: a pool of connections, one transaction per write (the
// server does its own group commit), notified of changes by postgres-changes.ts. Errors are classified by
// their SQLSTATE, or by coming from the driver instead of the server; never by their text, which may quote
// data.
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import pg from 'pg';
import { CapacityError, UnreachableError } from '../errors.ts';
import { type Clock, sleep, systemClock } from '../runtime/clock.ts';
import { type Random, systemRandom } from '../runtime/random.ts';
import { type AsidePlace, AsideReads, asideMs, OverdueError } from './aside.ts';
import type { Db, Durability, Store } from './db.ts';
import { kyselyOn, kyselyOver, noStreaming } from './dialect.ts';
import { ChangeChannel } from './postgres-changes.ts';

/** Connection, rollback by the server, resources, operator's intervention, its system. */
const troubleClasses = ['08', '40', '53', '57', '58'];
const troubleStates = [
  // Read-only: a standby, or a server that was one until now.
  '25006',
  // A transaction or a wait for a lock took too long.
  '25P03',
  '25P04',
  '55P03',
  // Damaged rows, a damaged index.
  'XX001',
  'XX002',
];
/** Ended for the sake of another transaction: serialization failure, deadlock. */
const rerunStates = ['40001', '40P01'];

function isTrouble(state: string): boolean {
  return troubleClasses.includes(state.slice(0, 2)) || troubleStates.includes(state);
}

/**
 * Converts an error of a statement: to CapacityError if the server or the network fails; errors of the
 * statement itself stay unchanged.
 */
function statementError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) {
    return isTrouble(error.code ?? '') ? inTrouble(error) : error;
  }
  // A value that no statement can carry is a fault of ours, found before anything is sent.
  if (error instanceof TypeError || error instanceof RangeError) return error;
  return inTrouble(error);
}

/** Converts the error of a failed connection. */
function connectionError(error: unknown): CapacityError {
  return inTrouble(error);
}

function inTrouble(error: unknown): CapacityError {
  return new CapacityError(`The store cannot be used now (${reasonOf(error)})`, 1, {
    cause: error,
  });
}

/** An error that tells of several addresses has no words of its own. */
function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}

/** Whether the same transaction may well succeed if it is run again. */
function isRerunnable(error: unknown): boolean {
  const cause = error instanceof CapacityError ? error.cause : undefined;
  return cause instanceof pg.DatabaseError && rerunStates.includes(cause.code ?? '');
}

const poolSize = 12;
const connectionSettings = {
  connectionTimeoutMillis: 5_000,
  // libuv asks each second after that: a server that is gone is noticed within 20 s.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
};
/** The locks of a process that is gone without a word are free after this. */
const abandonedMs = 60_000;
/** Runs of a transaction that the server ends in favour of another one. */
const mostRuns = 5;
/** First pause between runs: at most twice this, then doubled each time. */
const firstPauseMs = 10;
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

/**
 * PostgreSQL keeps no NUL in a text. Requests with one are refused (src/core/api/validate.ts); a text of a
 * remote side that has one must not make settling or receiving fail for ever.
 */
function withoutNul(values: readonly unknown[]): unknown[] {
  const holdsNul = (value: unknown) => typeof value === 'string' && value.includes('\0');
  if (!values.some(holdsNul)) return values as unknown[];
  return values.map((value) =>
    typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value,
  );
}

function connectionOver(
  client: pg.PoolClient,
  nameOf: (sql: string) => string | undefined,
): DatabaseConnection {
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const name = nameOf(query.sql);
      const values = withoutNul(query.parameters);
      const result = await ask(client, { text: query.sql, values, ...(name && { name }) });
      return { rows: result.rows as R[], numAffectedRows: BigInt(result.rowCount ?? 0) };
    },
    streamQuery: noStreaming,
  };
}

/** A connection of the pool, and the Kysely that runs on it alone. */
interface Seat {
  client: pg.PoolClient;
  connection: DatabaseConnection;
  trx: Db;
}

/** Hands out the connections of a pool, each with its Kysely. @throws CapacityError */
function seatsOf(pool: pg.Pool): () => Promise<Seat> {
  const nameOf = statementNames();
  const seats = new WeakMap<pg.PoolClient, Seat>();
  return async () => {
    const client = await pool.connect().catch((error: unknown) => {
      throw connectionError(error);
    });
    let seat = seats.get(client);
    if (!seat) {
      const connection = connectionOver(client, nameOf);
      seat = { client, connection, trx: kyselyOn('postgres', connection) };
      seats.set(client, seat);
    }
    return seat;
  };
}

/** Runs a query on one connection. @throws the result of `statementError` */
async function ask(client: pg.PoolClient, query: pg.QueryConfig | string): Promise<pg.QueryResult> {
  try {
    return await client.query(query);
  } catch (error) {
    throw statementError(error);
  }
}

/** One transaction on a connection of its own. */
async function transact<T>(
  { client, trx }: Seat,
  work: (trx: Db) => Promise<T>,
  durability: Durability,
): Promise<T> {
  let broken: Error | undefined;
  try {
    const lasting = durability === 'now' ? '' : '; set local synchronous_commit = off';
    await ask(client, `begin${lasting}`);
    const value = await work(trx);
    // PostgreSQL rolls back, and says so in the answer alone, where a statement had failed.
    const { command } = await ask(client, 'commit');
    if (command !== 'COMMIT') throw new Error('A transaction went on after a statement had failed');
    return value;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** SQLSTATE of a statement that took too long. */
const cancelled = '57014';

/** A connection for one read that the server itself ends by the deadline. */
async function openAside(seat: Seat, mostMs: number): Promise<AsidePlace> {
  const { client, connection } = seat;
  const end = async () => {
    let broken: Error | undefined;
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    client.release(broken);
  };
  try {
    await ask(client, `begin read only; set local statement_timeout = ${mostMs}`);
  } catch (error) {
    await end();
    throw error;
  }
  let isOver = false;
  const executeQuery: DatabaseConnection['executeQuery'] = async (query) => {
    // The connection is another caller's by now.
    if (isOver) throw new OverdueError();
    try {
      return await connection.executeQuery(query);
    } catch (error) {
      const { cause } = error as Error;
      const isOverdue = cause instanceof pg.DatabaseError && cause.code === cancelled;
      throw isOverdue ? new OverdueError() : error;
    }
  };
  return {
    db: kyselyOn('postgres', { ...connection, executeQuery }),
    async finish() {
      isOver = true;
      await end();
      return false;
    },
    end,
  };
}

export interface PostgresOptions {
  /** Clock of the store's own waits: other processes do not share a test's clock. */
  clock?: Clock;
  /** Spreads the pauses between the runs of a transaction. */
  random?: Random;
  /** Deadline of reads aside (aside.ts). */
  mostReadMs?: number | undefined;
}

/**
 * Opens the PostgreSQL store at `url` (`?options=-c search_path=…` chooses the schema).
 * @throws UnreachableError when the server does not answer or refuses the login.
 */
export async function openPostgres(
  url: string,
  { clock = systemClock, random = systemRandom(), mostReadMs = asideMs }: PostgresOptions = {},
): Promise<Store> {
  const settings: pg.ClientConfig = { ...connectionSettings, connectionString: url, types };
  const pool = new pg.Pool({
    ...settings,
    max: poolSize,
    idle_in_transaction_session_timeout: abandonedMs,
  });
  // A connection that breaks is replaced by the pool. Without listeners that would be fatal: to the
  // pool while it is idle, to itself while it is lent and nothing is asked over it.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    (await pool.connect()).release();
  } catch (error) {
    await pool.end();
    throw new UnreachableError(`PostgreSQL cannot be reached: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  const seat = seatsOf(pool);
  const clients = new WeakMap<DatabaseConnection, pg.PoolClient>();
  const changes = new ChangeChannel(settings, clock);
  const aside = new AsideReads(async () => openAside(await seat(), mostReadMs), mostReadMs);
  return {
    kind: 'postgres',
    db: kyselyOver('postgres', {
      async acquire() {
        const { client, connection } = await seat();
        clients.set(connection, client);
        return connection;
      },
      release: async (connection) => clients.get(connection)?.release(),
    }),
    async write(work, durability = 'now') {
      for (let run = 1; ; run++) {
        try {
          const value = await transact(await seat(), work, durability);
          if (durability !== 'quiet') changes.committed();
          return value;
        } catch (error) {
          if (run === mostRuns || !isRerunnable(error)) throw error;
        }
        await sleep(clock, random.float() * firstPauseMs * 2 ** run);
      }
    },
    aside: (organizationId, read) => aside.run(organizationId, read),
    onChange: (listener) => changes.add(listener),
    isWritable: () =>
      pool.query('update probe set counter = counter + 1').then(
        () => true,
        () => false,
      ),
    async close() {
      await changes.close();
      await aside.close();
      await pool.end();
    },
  };
}
