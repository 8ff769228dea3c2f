// The engine for more than one machine: a pool of connections with one transaction per write (the
// server does its own group commit). postgres-changes.ts notifies of changes. Errors are classified
// by their SQLSTATE, or by whether the driver or the server raised them; never by their text, which
// may quote data.
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import pg from 'pg';
import { CapacityError, UnreachableError } from '../errors.ts';
import { type Clock, sleep, systemClock } from '../runtime/clock.ts';
import { type Random, systemRandom } from '../runtime/random.ts';
import { type AsidePlace, AsideReads, asideMs, OverdueError } from './aside.ts';
import type { Db, Durability, Store } from './db.ts';
import { kyselyOn, kyselyOver, noStreaming } from './dialect.ts';
import { ChangeChannel } from './postgres-changes.ts';

/**
 * Classes of SQLSTATE for trouble of the server: connection, rollback, resources, intervention of
 * an operator, system error.
 */
const troubleClasses = ['08', '40', '53', '57', '58'];
const troubleStates = [
  // Read-only: the server is a standby, or has just become one.
  '25006',
  // A transaction or a wait for a lock took too long.
  '25P03',
  '25P04',
  '55P03',
  // Damaged rows, or a damaged index.
  'XX001',
  'XX002',
];
/** The server ended the transaction in favour of another one: serialization failure, deadlock. */
const rerunStates = ['40001', '40P01'];

function isTrouble(state: string): boolean {
  return troubleClasses.includes(state.slice(0, 2)) || troubleStates.includes(state);
}

/**
 * Returns CapacityError if the server or the network fails. Errors of the statement itself stay
 * unchanged.
 */
function statementError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) {
    return isTrouble(error.code ?? '') ? inTrouble(error) : error;
  }
  // A value that cannot be sent is a mistake in our code; the driver finds it before it sends
  // anything.
  if (error instanceof TypeError || error instanceof RangeError) return error;
  return inTrouble(error);
}

/** Returns the CapacityError of a failed connection. */
function connectionError(error: unknown): CapacityError {
  return inTrouble(error);
}

function inTrouble(error: unknown): CapacityError {
  return new CapacityError(`The store cannot be used now (${reasonOf(error)})`, 1, {
    cause: error,
  });
}

/**
 * Returns the reason of an error. An error that joins failures of several addresses has no message
 * of its own.
 */
function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}

/** Tells whether the same transaction may succeed if it runs again. */
function isRerunnable(error: unknown): boolean {
  const cause = error instanceof CapacityError ? error.cause : undefined;
  return cause instanceof pg.DatabaseError && rerunStates.includes(cause.code ?? '');
}

const poolSize = 12;
const connectionSettings = {
  connectionTimeoutMillis: 5_000,
  // After the initial delay libuv probes each second, so a server that vanished is noticed within
  // 20 s.
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
};
/** Time after which the server frees the locks of a process that vanished. */
const abandonedMs = 60_000;
/** Most runs of a transaction that the server ends in favour of others. */
const mostRuns = 5;
/**
 * First pause between two runs. It is lengthened at random to at most twice this, and doubled for
 * each further run.
 */
const firstPauseMs = 10;
/**
 * Number of prepared statements with a name, kept per connection. Further statements are unnamed.
 */
const namedStatements = 500;
const int8 = 20;

export const types: pg.CustomTypesConfig = {
  // Counts and times fit a double; pg would give text for every bigint.
  getTypeParser: ((oid: number, format: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};

/** Returns a function that names prepared statements, the same on every connection of the pool. */
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
 * Removes NUL from texts, as PostgreSQL stores none. Requests with NUL are refused earlier
 * (src/core/api/validate.ts). A remote server's text with NUL must not make settling or receiving
 * fail for ever.
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

/** A connection of the pool, and a Kysely that runs on it alone. */
interface Seat {
  client: pg.PoolClient;
  connection: DatabaseConnection;
  trx: Db;
}

/**
 * Returns a function that takes a connection from the pool, with its Kysely. It throws
 * CapacityError.
 */
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

/** Runs one transaction on a connection of its own. */
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
    // After a failed statement PostgreSQL rolls back, and only the answer to `commit` shows it.
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

/** Opens a connection for one read, which the server itself ends at the deadline. */
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
    // Another caller may already use the connection.
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
  /**
   * Clock of the store's own waits. Not the clock of a test, which other processes do not share.
   */
  clock?: Clock;
  /** Randomizes the pauses between runs of a transaction. */
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
  // The pool replaces a broken connection. Without these listeners its error would end the process:
  // an error of the pool while the connection is idle, of the connection while it is lent and runs
  // no query.
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
