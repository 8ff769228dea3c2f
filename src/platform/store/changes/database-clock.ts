// The wall clock of a process on PostgreSQL follows the clock of the server. Leases are times in
// the store, so all daemons must compare them with the same clock, even if the clock of a machine
// is wrong.
//
//   event                                           | then
//   ------------------------------------------------+---------------------------------------------------
//   the store is opened, and each 10 s in a daemon  | the server's time is read
//   it differs by 100 ms and more                   | the clock is set to it
//   the server does not answer within a second      | the last correction stays
import { sql } from 'kysely';
import type { Clock } from '../../runtime/clock.ts';
import type { Db } from '../db.ts';

const followEachMs = 10_000;
/** Smallest difference to correct. Smaller differences may come from delays on the network. */
const toleranceMs = 100;
const longestWayMs = 1_000;

/** Returns the time of the server in ms since 1970. */
export async function databaseTime(db: Db): Promise<number> {
  const { rows } = await sql<{ now: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`.execute(db);
  return rows[0]?.now ?? Number.NaN;
}

/** Returns the uncorrected time of the machine in ms since 1970. */
export function machineTime(clock: Clock): number {
  return clock instanceof DatabaseClock ? clock.now() - clock.correctionMs : clock.now();
}

export class DatabaseClock implements Clock {
  readonly #machine: Clock;
  #correctionMs = 0;

  constructor(machine: Clock) {
    this.#machine = machine;
  }

  now(): number {
    return this.#machine.now() + this.#correctionMs;
  }

  elapsed(): number {
    return this.#machine.elapsed();
  }

  after(delayMs: number, run: () => void): () => void {
    return this.#machine.after(delayMs, run);
  }

  /** Milliseconds by which the machine's clock is behind the server's. */
  get correctionMs(): number {
    return this.#correctionMs;
  }

  /**
   * Reads the server's time once, and corrects this clock if it is off by 100 ms or more. Ignores
   * an answer that took longer than a second. @throws the error of the store
   */
  async look(db: Db): Promise<void> {
    const from = this.#machine.now();
    const began = this.#machine.elapsed();
    const there = await databaseTime(db);
    const wayMs = this.#machine.elapsed() - began;
    if (wayMs > longestWayMs) return;
    // The server read the time about half-way between the query and the answer.
    const correctionMs = Math.round(there - (from + wayMs / 2));
    if (Math.abs(correctionMs - this.#correctionMs) >= toleranceMs) {
      this.#correctionMs = correctionMs;
    }
  }

  /** Calls `look` every 10 s. Returns a function that stops the calls. */
  follow(db: Db): () => void {
    let cancel = () => {};
    let isOver = false;
    const next = () => {
      if (isOver) return;
      cancel = this.after(followEachMs, () => {
        // An error is ignored: the next statement will notice a server that does not answer.
        void this.look(db).then(next, next);
      });
    };
    next();
    return () => {
      isOver = true;
      cancel();
    };
  }
}
