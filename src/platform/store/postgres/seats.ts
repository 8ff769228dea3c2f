// Connections of the pool, each with a Kysely and prepared statements. A connection that does not
// answer is closed.
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type pg from 'pg';
import type { Clock } from '../../runtime/clock.ts';
import { resumeStep, stepOfTurn } from '../../runtime/fairness/loop-turns.ts';
import type { Db } from '../db.ts';
import { kyselyOn, noStreaming } from '../dialect.ts';
import { withoutNul } from '../rows/without-nul.ts';
import { inTrouble, isSilent, isStalePlan, statementError } from './errors.ts';

/** Most prepared statements with a name on a connection. Further statements are unnamed. */
const namedStatements = 500;

/**
 * Names of prepared statements, the same on every connection of the pool. Behind a pooler
 * statements have no names, as the next transaction may run on a different connection.
 */
class StatementNames {
  readonly #isPooled: boolean;
  readonly #names = new Map<string, string>();
  #generation = 0;

  constructor(isPooled: boolean) {
    this.#isPooled = isPooled;
  }

  of(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known || this.#isPooled || this.#names.size >= namedStatements) return known;
    const name = `s${this.#generation}_${this.#names.size}`;
    this.#names.set(sql, name);
    return name;
  }

  /** Gives all statements new names, so that each connection prepares them again. */
  renew(): void {
    this.#names.clear();
    this.#generation += 1;
  }
}

/** Replaces NUL in texts. Returns the same list if no text has a NUL. */
function storable(values: readonly unknown[]): unknown[] {
  const holdsNul = (value: unknown) => typeof value === 'string' && value.includes('\0');
  return values.some(holdsNul) ? values.map(withoutNul) : (values as unknown[]);
}

function connectionOver(
  client: pg.PoolClient,
  names: StatementNames,
  isInTransaction: boolean,
): DatabaseConnection {
  return {
    async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
      const name = names.of(query.sql);
      const values = storable(query.parameters);
      const step = stepOfTurn();
      const asked = ask(client, { text: query.sql, values, ...(name && { name }) });
      const result = await asked.catch((error: unknown) => {
        if (isStalePlan(error)) names.renew();
        throw error;
      });
      // Answers of many statements may arrive together, and each makes work, so wait for a later
      // turn of the event loop.
      const later = resumeStep(step, isInTransaction);
      if (later !== undefined) await later;
      return { rows: result.rows as R[], numAffectedRows: BigInt(result.rowCount ?? 0) };
    },
    streamQuery: noStreaming,
  };
}

/**
 * Wraps a connection for statements outside of transactions: a statement with a stale plan runs
 * again.
 */
function againOver(connection: DatabaseConnection): DatabaseConnection {
  return {
    executeQuery: (query) =>
      connection.executeQuery<never>(query).catch((error: unknown) => {
        if (!isStalePlan(error)) throw error;
        return connection.executeQuery<never>(query);
      }),
    streamQuery: noStreaming,
  };
}

/** A connection of the pool, and a Kysely that always runs on it. */
export interface Seat {
  client: pg.PoolClient;
  connection: DatabaseConnection;
  /** The connection for statements outside of transactions, which repeats a stale statement. */
  alone: DatabaseConnection;
  trx: Db;
}

/**
 * Returns a function that takes a connection from the pool, with the Kysely of the connection. It
 * throws CapacityError if none can be opened. While no connection is open, a single caller opens
 * the first and the rest share the outcome, so that not all callers connect at once when a server
 * comes back.
 */
export function seatsOf(
  pool: pg.Pool,
  { clock, isPooled }: { clock: Clock; isPooled: boolean },
): () => Promise<Seat> {
  const silence: Silence = { clock, atMs: Number.NEGATIVE_INFINITY };
  const names = new StatementNames(isPooled);
  const seats = new WeakMap<pg.PoolClient, Seat>();
  let first: Promise<pg.PoolClient> | null = null;
  const connect = async (): Promise<pg.PoolClient> => {
    try {
      if (pool.totalCount > 0 && first === null) return await pool.connect();
      if (first !== null) {
        await first;
        return await pool.connect();
      }
      first = pool.connect();
      return await first.finally(() => {
        first = null;
      });
    } catch (error) {
      throw inTrouble(error);
    }
  };
  return async () => {
    for (;;) {
      const client = await connect();
      const known = seats.get(client);
      if (known && !lines.get(client)?.isDoubtful()) return known;
      if (known) {
        client.release(true);
        continue;
      }
      const connection = connectionOver(client, names, false);
      const trx = kyselyOn('postgres', connectionOver(client, names, true));
      const seat = { client, connection, alone: againOver(connection), trx };
      seats.set(client, seat);
      lines.set(client, new Line(silence));
      return seat;
    }
  };
}

/** Runs a query on a connection. @throws the result of `statementError` */
export async function ask(
  client: pg.PoolClient,
  query: pg.QueryConfig | string,
): Promise<pg.QueryResult> {
  try {
    const answer = await client.query(query);
    lines.get(client)?.answered();
    return answer;
  } catch (error) {
    if (isSilent(error)) lines.get(client)?.fellSilent();
    throw statementError(error);
  }
}

/** Clock, and the time at which a statement last got no answer in time. */
interface Silence {
  clock: Clock;
  atMs: number;
}

/**
 * Records whether a connection answers. A silent connection is not used again, since the next
 * statement would wait behind the last statement. A connection that was idle when a second
 * connection fell silent may be dead too, so it is closed.
 */
class Line {
  readonly #silence: Silence;
  #answeredAtMs: number;
  isSilent = false;

  constructor(silence: Silence) {
    this.#silence = silence;
    this.#answeredAtMs = silence.clock.elapsed();
  }

  answered(): void {
    this.#answeredAtMs = this.#silence.clock.elapsed();
  }

  fellSilent(): void {
    this.isSilent = true;
    this.#silence.atMs = this.#silence.clock.elapsed();
  }

  isDoubtful(): boolean {
    return this.#answeredAtMs < this.#silence.atMs;
  }
}

const lines = new WeakMap<pg.PoolClient, Line>();

/**
 * Tells whether a statement on this connection got no answer in time. The connection is not used
 * again.
 */
export function hasFallenSilent(client: pg.PoolClient): boolean {
  return lines.get(client)?.isSilent ?? false;
}
