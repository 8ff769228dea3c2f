// The engine for several machines: a pool of connections, with a transaction per write (the server
// does group commit). changes.ts notifies of changes.
import type { DatabaseConnection } from 'kysely';
import pg from 'pg';
import { UnreachableError } from '../../errors.ts';
import { type Clock, sleep, systemClock } from '../../runtime/clock.ts';
import { type Random, systemRandom } from '../../runtime/random.ts';
import { type AsidePlace, AsideReads, asideMs, OverdueError } from '../aside.ts';
import type { Db, Durability, Store } from '../db.ts';
import { kyselyOn, kyselyOver } from '../dialect.ts';
import { ChangeChannel } from './changes.ts';
import { isReadOnly, isRerunnable, reasonOf } from './errors.ts';
import { ask, hasFallenSilent, type Seat, seatsOf } from './seats.ts';
import { clientSettings, type DatabaseSettings } from './settings.ts';

/** Time after which the server frees the locks of a process that vanished, in ms. */
const abandonedMs = 60_000;
/**
 * Time in ms after the limit of a statement, in which the server must answer that it ended the
 * statement.
 */
const silenceMs = 2_000;
/** Most runs of a transaction that the server ends in favour of parallel transactions. */
const mostRuns = 5;
/**
 * First pause between two runs, in ms. A random factor up to 2 applies, and each further pause is
 * doubled.
 */
const firstPauseMs = 10;

/** Runs a transaction on this connection, and then returns the connection to the pool. */
async function transact<T>(
  { client, trx }: Seat,
  work: (trx: Db) => Promise<T>,
  { durability, opening }: { durability: Durability; opening: string },
): Promise<T> {
  let broken: Error | undefined;
  try {
    const lasting = durability === 'now' ? '' : '; set local synchronous_commit = off';
    await ask(client, `begin${lasting}${opening}`);
    const value = await work(trx);
    // After a failed statement PostgreSQL rolls back, which only the answer to `commit` shows.
    const { command } = await ask(client, 'commit');
    if (command !== 'COMMIT') throw new Error('A transaction went on after a statement had failed');
    return value;
  } catch (error) {
    if (hasFallenSilent(client)) {
      broken = error as Error;
    } else {
      await client.query('rollback').catch((failure: Error) => {
        broken = failure;
      });
    }
    if (isReadOnly(error)) broken = error as Error;
    throw error;
  } finally {
    client.release(broken);
  }
}

const oldestVersion = 14;

/**
 * Checks the version of the server. @throws UnreachableError for an old server; the error of the
 * driver if it cannot be reached
 */
async function checkVersion(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  const { rows } = await client
    .query<{ version: string; number: number }>(
      `select current_setting('server_version') as version,
        current_setting('server_version_num')::int as number`,
    )
    .finally(() => client.release());
  const [{ version, number } = { version: 'unknown', number: 0 }] = rows;
  if (number >= oldestVersion * 10_000) return;
  throw new UnreachableError(
    `PostgreSQL ${version} is too old: use PostgreSQL ${oldestVersion} or later`,
  );
}

/** SQLSTATE of a statement that took too long. */
const cancelled = '57014';

/**
 * Begins a read-only transaction on a connection of the pool. The server ends each statement after
 * `mostMs`.
 */
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
    // The connection was given back, and a later caller may already use it.
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
   * Clock for waits of the store itself. Not a test's clock, which other processes do not share.
   */
  clock?: Clock;
  /** Random lengths of pauses between runs of a transaction. */
  random?: Random;
  /** Deadline in ms of reads outside of the event loop (aside.ts). */
  mostReadMs?: number | undefined;
}

/**
 * Opens the PostgreSQL store at `url` (`?options=-c search_path=…` chooses the schema).
 * @throws UnreachableError if the server does not answer, refuses the login or has an old version.
 */
export async function openPostgres(
  database: DatabaseSettings,
  { clock = systemClock, random = systemRandom(), mostReadMs = asideMs }: PostgresOptions = {},
): Promise<Store> {
  const { url, poolSize = 12, statementTimeoutSeconds = null, listenUrl = null } = database;
  const settings = clientSettings(url, database);
  const isPooled = listenUrl !== null;
  const statementMs =
    statementTimeoutSeconds === null ? null : Math.ceil(statementTimeoutSeconds * 1000);
  const pool = new pg.Pool({
    ...settings,
    max: poolSize,
    // A pooler refuses connections with such settings, so each transaction sets them there.
    ...(!isPooled && { idle_in_transaction_session_timeout: abandonedMs }),
    ...(!isPooled && statementMs !== null && { statement_timeout: statementMs }),
    // Ends the wait for a server that accepts the statement but does not answer.
    ...(statementMs !== null && { query_timeout: statementMs + silenceMs }),
  });
  const opening = isPooled
    ? `; set local idle_in_transaction_session_timeout = ${abandonedMs}` +
      (statementMs === null ? '' : `; set local statement_timeout = ${statementMs}`)
    : '';
  // The pool replaces a broken connection. Without these listeners the error would end the process:
  // the pool reports it for an idle connection, the connection itself while it is in use without a
  // query.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    await checkVersion(pool);
  } catch (error) {
    await pool.end();
    if (error instanceof UnreachableError) throw error;
    throw new UnreachableError(`PostgreSQL cannot be reached: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  const seat = seatsOf(pool, { clock, isPooled });
  const clients = new WeakMap<DatabaseConnection, pg.PoolClient>();
  const changes = new ChangeChannel(clientSettings(listenUrl ?? url, database), clock);
  const aside = new AsideReads(async () => openAside(await seat(), mostReadMs), mostReadMs);
  return {
    kind: 'postgres',
    db: kyselyOver('postgres', {
      async acquire() {
        const { client, alone } = await seat();
        clients.set(alone, client);
        return alone;
      },
      async release(connection) {
        const client = clients.get(connection);
        client?.release(hasFallenSilent(client));
      },
    }),
    async write(work, durability = 'now') {
      for (let run = 1; ; run++) {
        try {
          const value = await transact(await seat(), work, { durability, opening });
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
