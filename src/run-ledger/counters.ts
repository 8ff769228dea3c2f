// Counters of runs: the outcomes of their messages, and the attempts of each minute.
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
import type { App } from '../core/app.ts';
import { timeOfAge } from '../core/clock/age.ts';
import type { Db } from '../platform/store/db.ts';
import {
  deleteRunMinutes,
  findRunCounters,
  type RunTally,
  runCounters,
  runCounts,
  runMinutes,
  selectRunMinutes,
} from './counter-queries.ts';

const minuteMs = 60_000;
/** Time for which minutes are kept. Decisions to hold a run use only the last 15 minutes. */
const keptMs = 60 * minuteMs;
/** Most characters of a provider's reply that are kept. */
const mostReplyCharacters = 500;

function emptyTally(): RunTally {
  return Object.fromEntries(runCounters.map((name) => [name, 0])) as RunTally;
}

function minuteOf(timeMs: number): number {
  return timeMs - (timeMs % minuteMs);
}

/** Changes the counters of a run at the end of the transaction. */
export function countRun(trx: Db, runId: string, counts: Readonly<Partial<RunTally>>): void {
  runCounts.add(trx, { run_id: runId }, counts);
}

/** End of an attempt of a message of a run. */
export interface RunAttempt {
  runId: string;
  /** Time of the end, ms since 1970. */
  at: number;
  /** Reply of a provider that deferred the mail for policy or rate; null for any other end. */
  deferral: string | null;
}

/** Counts an attempt in the minute in which it ended, at the end of the transaction. */
export function countRunAttempt(trx: Db, { runId, at, deferral }: RunAttempt): void {
  const attempt = {
    attempted: 1,
    deferred: deferral === null ? 0 : 1,
    reply: deferral?.slice(0, mostReplyCharacters) ?? null,
  };
  runMinutes.add(trx, { run_id: runId, minute: minuteOf(at) }, attempt);
}

/** Returns a function that returns the counters of a run: zeros for a run without messages. */
export async function findRunCounts(
  db: Db,
  runIds: readonly string[],
): Promise<(runId: string) => RunTally> {
  const rows = runIds.length === 0 ? [] : await findRunCounters(db, runIds);
  const tallies = new Map(rows.map(({ run_id, ...tally }) => [run_id, tally]));
  return (runId) => tallies.get(runId) ?? emptyTally();
}

/** Numbers of the attempts of a run since a time, and the last deferral. */
export interface RecentDeferrals {
  attempted: number;
  /** Attempts that a provider deferred for policy or rate. */
  deferred: number;
  /** Last reply of a provider with a deferral; null without a deferral. */
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

/** Deletes the minutes that are too old for any decision. */
export async function sweepRunMinutes(app: App): Promise<void> {
  const before = minuteOf(await timeOfAge(app, keptMs));
  await app.store.write((trx) => deleteRunMinutes(trx, before), 'quiet');
}
