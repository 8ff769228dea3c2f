// Counters of runs: what became of their messages, and the attempts of each minute. A transaction collects its
// changes and writes them at its end, so that it locks a run's counters only for its commit.
//
//   counter                  | counts messages that
//   -------------------------+----------------------------------------------------------------------
//   sent                     | a server accepted, also if they bounced later
//   delivered                | arrived (`delivered`, `read`, `complained`)
//   bounced, complained,     | have that status now
//   failed                   |
//   opened, clicked          | a person opened, or clicked in
//   unsubscribed             | a recipient used to unsubscribe, each once
//   attempted, hard_bounced, | tell the health of the run: final attempts, dead addresses and complaints,
//   complaints               | without mail to the addresses of the simulator
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import type { Db } from '../../platform/store/db.ts';
import { type LastWrite, lastly } from '../../platform/store/last-writes.ts';
import {
  addRunCounts,
  addRunMinute,
  deleteRunMinutes,
  findRunCounters,
  type RunCountersRow,
  type RunMinuteRow,
  type RunTally,
  runCounters,
  selectRunMinutes,
} from './counter-queries.ts';

const minuteMs = 60_000;
/** Time for which minutes are kept. A hold is decided on the last 15. */
const keptMs = 60 * minuteMs;
/** Longest kept reply of a provider. */
const mostReplyCharacters = 500;

function emptyTally(): RunTally {
  return Object.fromEntries(runCounters.map((name) => [name, 0])) as RunTally;
}

function minuteOf(timeMs: number): number {
  return timeMs - (timeMs % minuteMs);
}

/** Changes of the counters of runs, summed by run. */
class RunChanges implements LastWrite {
  readonly #rows = new Map<string, RunCountersRow>();

  add(runId: string, counts: Readonly<Partial<RunTally>>): void {
    const row = this.#rows.get(runId) ?? { run_id: runId, ...emptyTally() };
    for (const name of runCounters) row[name] += counts[name] ?? 0;
    this.#rows.set(runId, row);
  }

  write(trx: Db): Promise<void> {
    return addRunCounts(trx, sorted(this.#rows));
  }
}

/** Attempts of runs, summed by run and minute. */
class MinuteChanges implements LastWrite {
  readonly #rows = new Map<string, RunMinuteRow>();

  add(row: RunMinuteRow): void {
    const key = `${row.run_id} ${row.minute}`;
    const known = this.#rows.get(key);
    const { attempted = 0, deferred = 0, reply = null } = known ?? {};
    this.#rows.set(key, {
      ...row,
      attempted: attempted + row.attempted,
      deferred: deferred + row.deferred,
      reply: row.reply ?? reply,
    });
  }

  async write(trx: Db): Promise<void> {
    for (const row of sorted(this.#rows)) await addRunMinute(trx, row);
  }
}

/** Returns the rows in the order in which all transactions lock them. */
function sorted<Row>(rows: ReadonlyMap<string, Row>): Row[] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

/**
 * Changes the counters of a run at the end of the transaction. The first call for a run makes its row, so it
 * belongs to a transaction that may lock the run.
 */
export function countRun(trx: Db, runId: string, counts: Readonly<Partial<RunTally>>): void {
  lastly(trx, 'run_counters', () => new RunChanges()).add(runId, counts);
}

/** An attempt of a message of a run. */
export interface RunAttempt {
  runId: string;
  /** Time of its end. */
  at: number;
  /** Reply of a provider that deferred it for policy or rate; null for any other end. */
  deferral: string | null;
}

/** Counts an attempt in its minute, at the end of the transaction. */
export function countRunAttempt(trx: Db, { runId, at, deferral }: RunAttempt): void {
  lastly(trx, 'run_minutes', () => new MinuteChanges()).add({
    run_id: runId,
    minute: minuteOf(at),
    attempted: 1,
    deferred: deferral === null ? 0 : 1,
    reply: deferral?.slice(0, mostReplyCharacters) ?? null,
  });
}

/** Reads the counters of these runs; returns those of one, zeros for a run without messages. */
export async function findRunCounts(
  db: Db,
  runIds: readonly string[],
): Promise<(runId: string) => RunTally> {
  const rows = runIds.length === 0 ? [] : await findRunCounters(db, runIds);
  const tallies = new Map(rows.map(({ run_id, ...tally }) => [run_id, tally]));
  return (runId) => tallies.get(runId) ?? emptyTally();
}

/** Attempts of a run in a window. */
export interface RecentDeferrals {
  attempted: number;
  /** Attempts that a provider deferred for policy or rate. */
  deferred: number;
  /** The last reply of such a deferral. */
  reply: string | null;
}

/** Sums the attempts of a run since this time, by whole minutes. */
export async function recentDeferrals(
  db: Db,
  runId: string,
  since: number,
): Promise<RecentDeferrals> {
  const rows = await selectRunMinutes(db, runId, minuteOf(since));
  return {
    attempted: rows.reduce((sum, { attempted }) => sum + attempted, 0),
    deferred: rows.reduce((sum, { deferred }) => sum + deferred, 0),
    reply: rows.findLast(({ reply }) => reply !== null)?.reply ?? null,
  };
}

/** Deletes the minutes that no decision needs any more. */
export async function sweepRunMinutes(app: App): Promise<void> {
  const before = minuteOf(await timeOfAge(app, keptMs));
  await app.store.write((trx) => deleteRunMinutes(trx, before), 'quiet');
}
