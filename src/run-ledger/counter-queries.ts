// All SQL on `run_counters` and `run_minutes`. Rows only; counters.ts decides on changes.
import { type Db, isOneOf, tables } from '../platform/store/db.ts';
import { ownTables } from '../platform/store/own-tables.ts';

/** Counters of a run. The head of counters.ts has their meaning. */
export const runCounters = [
  'sent',
  'delivered',
  'bounced',
  'complained',
  'opened',
  'clicked',
  'unsubscribed',
  'failed',
  'attempted',
  'hard_bounced',
  'complaints',
] as const;

/** Counts of the messages of a run, by counter. */
export type RunTally = Record<(typeof runCounters)[number], number>;

export type RunCountersRow = RunTally & { run_id: string };

/** Attempts of a run in a minute. */
export interface RunMinuteRow {
  run_id: string;
  /** First millisecond of the minute. */
  minute: number;
  attempted: number;
  deferred: number;
  reply: string | null;
}

interface CounterTables {
  run_counters: RunCountersRow;
  run_minutes: RunMinuteRow;
}

const own = ownTables<CounterTables>();

export const runCounts = own.counter('run_counters', ['run_id'], runCounters);

export const runMinutes = own.counter(
  'run_minutes',
  ['run_id', 'minute'],
  ['attempted', 'deferred'],
  { latest: ['reply'] },
);

/** Finds the counters of these runs. A run without messages has no row. */
export const findRunCounters = own.all((db, runIds: readonly string[]) =>
  db
    .selectFrom('run_counters')
    .selectAll()
    .where('run_id', ...isOneOf(db, runIds)),
);

/** Selects the minutes of a run from the minute `since` on, the oldest first. */
export const selectRunMinutes = own.all((db, runId: string, since: number) =>
  db
    .selectFrom('run_minutes')
    .selectAll()
    .where('run_id', '=', runId)
    .where('minute', '>=', since)
    .orderBy('minute'),
);

/** Deletes the counts of all minutes before `before` (ms since 1970). */
export async function deleteRunMinutes(db: Db, before: number): Promise<void> {
  await tables<CounterTables>(db).deleteFrom('run_minutes').where('minute', '<', before).execute();
}
