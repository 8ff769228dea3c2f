// The report behind `svc queue top`. A daemon writes active lanes to the store once a second; a
// command in a separate process sums the reports of all daemons. On PostgreSQL each daemon reads
// the reports of the other daemons:
//
//   the report of a second daemon    | then this daemon
//   ---------------------------------+-------------------------------------------------------------
//   a pause after rate limits        | closes the lane for the same time
//   an additional rate limit         | halves the window and the rate of the lane
//   connections above the quota of   | opens as many connections fewer, until the surplus
//   that daemon                      | connections are closed
//   mail that waits for a lane       | delivers waiting mail of the lane within the local quota
//
// The limits of a lane are divided among the daemons. Each daemon applies the local quota in the
// same second (src/access/admission/portions.ts).
import { portionsOf, trustMs } from '../../../access/admission/portions.ts';
import type { App } from '../../../core/app.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import type { Portion } from '../../../platform/runtime/fairness/portion.ts';
import { fromJson } from '../../../platform/store/db.ts';
import { countInLanes, type QueueCounts } from '../../deliveries/queue-queries.ts';
import { countQueueStates } from '../desk/queue.ts';
import {
  deleteLaneStatesBefore,
  deleteLaneStatesOf,
  type LaneStatesRow,
  selectLaneStates,
  upsertLaneStates,
} from './lane-queries.ts';
import type { LaneState, Lanes } from './lanes.ts';

const reportEveryMs = 1_000;
/** Age from which a report with lanes counts as left by an ended daemon. */
const staleMs = 10_000;
/** Time between reports of an idle daemon. */
const idleEveryMs = 30_000;
/** Age from which an empty report counts as left by an ended daemon. */
const idleStaleMs = 75_000;
const mostReported = 100;
/**
 * Most lanes that are measured. It exceeds the number of lanes shown, so that a lane that is shown
 * only at times keeps the measured pace.
 */
const mostLooked = 500;
const seconds = 20;
/** Most deliveries that are counted by state: counts are read every second and burden the store. */
const mostCounted = 100_000;

/**
 * A lane of a daemon. `pace` is the number of accepted messages per second, oldest second first.
 */
type ReportedLane = Omit<LaneState, 'taken'> & { pace: number[] };

/** A lane in the report of another daemon. A daemon of an earlier version reports fewer fields. */
type HeardLane = Pick<ReportedLane, 'lane' | 'closedUntil' | 'isRefused'> & Partial<ReportedLane>;

/** A lane, summed over all daemons. */
export interface LaneView {
  lane: string;
  inFlight: number;
  window: number;
  /** Recipients a minute; null without a limit. */
  perMinute: number | null;
  /** Number of queued deliveries that wait for a free place in this lane. */
  waiting: number;
  takenPerSecond: number;
  /** Messages accepted per second in the last 20 seconds, oldest second first. */
  pace: number[];
  closedUntil: string | null;
}

export interface QueueSnapshot {
  at: string;
  /** Number of entries by state, each counted up to `countedUpTo`: there may be more. */
  counts: QueueCounts;
  countedUpTo: number;
  /** Number of running daemons, including idle daemons. */
  workers: number;
  /** Number of daemons without a lane in use. */
  idleWorkers: number;
  /** Sum over all lanes, as in `LaneView`. */
  takenPerSecond: number;
  pace: number[];
  lanes: LaneView[];
}

/** The parts of the attempter that the report needs. */
interface Reporting {
  choice: { lanes: Lanes };
  divide(portion: Portion, forMs: number): void;
}

/**
 * Starts to report the lanes of a daemon. Returns a function that stops reporting and removes the
 * report.
 */
export function startLaneReport(
  app: App,
  worker: string,
  { choice: { lanes }, divide }: Reporting,
): () => Promise<void> {
  const heard = new Heard(lanes);
  const measure = paceOf(app.clock.elapsed());
  /** Set while the store shows lanes in use: then an empty report must follow. */
  let isShown = false;
  let writtenAt = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> | null = null;
  let reading: Promise<void> | null = null;
  const write = async (reported: readonly ReportedLane[]) => {
    const now = app.clock.now();
    const row = { worker, reported_at: now, lanes: JSON.stringify(reported) };
    await app.store.write(async (trx) => {
      await upsertLaneStates(trx, row);
      await deleteLaneStatesBefore(trx, now - idleStaleMs);
    }, 'quiet');
    isShown = reported.length > 0;
    writtenAt = app.clock.elapsed();
  };
  const read = async () => {
    const now = app.clock.now();
    const rows = await selectLaneStates(app.store.db, now - staleMs);
    heard.take(rows.filter((row) => row.worker !== worker));
  };
  const divideNow = () => {
    const places = portionsOf(app).at(app.clock.elapsed());
    divide({ places, taken: heard.taken }, trustMs);
  };
  const tick = () => {
    cancel = app.clock.after(reportEveryMs, tick);
    if (app.store.kind === 'postgres') {
      divideNow();
      reading ??= read()
        .catch((error: unknown) =>
          app.log.debug({ err: error }, 'the lanes of others were not read'),
        )
        .finally(() => {
          reading = null;
        });
    }
    const reported = measure(lanes.states(mostLooked), app.clock.elapsed());
    // Starts no write during a write, as the older write could end last. If a slow store misses a
    // report, the next report contains the same.
    const isIdle = reported.length === 0 && !isShown;
    if (writing || (isIdle && app.clock.elapsed() - writtenAt < idleEveryMs)) return;
    writing = write(reported)
      .catch((error: unknown) => app.log.debug({ err: error }, 'the lanes were not reported'))
      .finally(() => {
        writing = null;
      });
  };
  if (app.store.kind === 'postgres') divideNow();
  let cancel = app.clock.after(reportEveryMs, tick);
  return async () => {
    cancel();
    await Promise.all([writing, reading]);
    // Ignores a failure: the report becomes stale anyway.
    await app.store.write((trx) => deleteLaneStatesOf(trx, worker), 'quiet').catch(() => {});
  };
}

/** The last reports of all other daemons. */
class Heard {
  readonly #lanes: Lanes;
  /** Number of rate limits so far, by daemon and lane. */
  #slowed = new Map<string, Map<string, number>>();
  /** Connections that other daemons have above their quota, by lane. */
  taken: Record<string, number> = {};

  constructor(lanes: Lanes) {
    this.#lanes = lanes;
  }

  take(rows: readonly LaneStatesRow[]): void {
    const slowed = new Map<string, Map<string, number>>();
    const taken: Record<string, number> = {};
    for (const { worker, lanes } of rows) {
      const before = this.#slowed.get(worker);
      // Keeps the earlier counts of lanes that are not in use now.
      const counts = new Map(before);
      slowed.set(worker, counts);
      for (const one of fromJson<HeardLane[]>(lanes)) {
        const { lane, closedUntil, isRefused, slowed: count = 0, surplus = 0 } = one;
        if (one.waiting) this.#lanes.waitsElsewhere(lane);
        if (isRefused && closedUntil !== null) this.#lanes.closedElsewhere(lane, closedUntil);
        if (surplus > 0) taken[lane] = (taken[lane] ?? 0) + surplus;
        if (before && count > (before.get(lane) ?? 0)) this.#lanes.slowedElsewhere(lane);
        if (count > 0) counts.set(lane, count);
      }
    }
    this.#slowed = slowed;
    this.taken = taken;
  }
}

/**
 * Returns a function that turns successive states into reports: lanes in use, the busiest first.
 * The first report counts the messages accepted since `startedAt`.
 */
function paceOf(startedAt: number): (states: readonly LaneState[], now: number) => ReportedLane[] {
  let takenBefore = new Map<string, number>();
  let paces = new Map<string, number[]>();
  let measuredAt = startedAt;
  return (states, now) => {
    const elapsedSeconds = (now - measuredAt) / 1_000;
    const reported: ReportedLane[] = [];
    const inUse = new Map<string, number[]>();
    for (const { taken, ...state } of states) {
      // A lane seen for the first time may have been left out before.
      const unknown = takenBefore.size < mostLooked ? 0 : taken;
      const since = Math.max(0, taken - (takenBefore.get(state.lane) ?? unknown));
      const rate = elapsedSeconds > 0 ? Math.round((since / elapsedSeconds) * 10) / 10 : 0;
      const pace = [...(paces.get(state.lane) ?? []), rate].slice(-seconds);
      const isInUse =
        state.waiting ||
        state.inFlight > 0 ||
        state.closedUntil !== null ||
        pace.some((one) => one > 0);
      if (!isInUse) continue;
      inUse.set(state.lane, pace);
      reported.push({ ...state, pace });
    }
    paces = inUse;
    takenBefore = new Map(states.map(({ lane, taken }) => [lane, taken]));
    measuredAt = now;
    const busiest = reported.sort(byBusiness);
    // Adds refused lanes, which are the least busy, and lanes above their quota: other daemons need
    // both.
    const closed = busiest
      .slice(mostReported)
      .filter((lane) => (lane.closedUntil !== null && lane.isRefused) || lane.surplus > 0);
    return [...busiest.slice(0, mostReported), ...closed.slice(0, mostReported)];
  };
}

function byBusiness(a: ReportedLane, b: ReportedLane): number {
  return b.inFlight - a.inFlight || (b.pace.at(-1) ?? 0) - (a.pace.at(-1) ?? 0);
}

/** Returns the queue and the lanes now, over all organizations and daemons. */
export async function queueSnapshot(app: App): Promise<QueueSnapshot> {
  const { db } = app.store;
  const now = app.clock.now();
  const reports = (await selectLaneStates(db, now - idleStaleMs))
    .map((row) => ({ at: row.reported_at, lanes: fromJson<ReportedLane[]>(row.lanes) }))
    .filter(({ at, lanes }) => lanes.length === 0 || at >= now - staleMs);
  const reported = reports.flatMap((report) => report.lanes);
  const names = [...new Set(reported.map(({ lane }) => lane))];
  const waiting = names.length === 0 ? new Map<string, number>() : await countInLanes(db, names);
  const lanes = [...Map.groupBy(reported, ({ lane }) => lane)].map(([lane, parts]) =>
    viewOf(lane, parts, waiting.get(lane) ?? 0, now),
  );
  const pace = sumOf(lanes.map((lane) => lane.pace));
  return {
    at: isoTime(now),
    counts: await countQueueStates(app, mostCounted),
    countedUpTo: mostCounted,
    workers: reports.length,
    idleWorkers: reports.filter((report) => report.lanes.length === 0).length,
    takenPerSecond: pace.at(-1) ?? 0,
    pace,
    lanes: lanes.sort((a, b) => b.inFlight - a.inFlight || b.takenPerSecond - a.takenPerSecond),
  };
}

function viewOf(
  lane: string,
  parts: readonly ReportedLane[],
  waiting: number,
  now: number,
): LaneView {
  const total = (of: (part: ReportedLane) => number) =>
    parts.reduce((sum, part) => sum + of(part), 0);
  const pace = sumOf(parts.map((part) => part.pace));
  const closedUntil = Math.max(...parts.map((part) => part.closedUntil ?? 0));
  return {
    lane,
    inFlight: total((part) => part.inFlight),
    window: total((part) => part.window),
    perMinute: parts.some((part) => part.perMinute === null)
      ? null
      : Math.round(total((part) => part.perMinute ?? 0)),
    waiting,
    takenPerSecond: pace.at(-1) ?? 0,
    pace,
    closedUntil: closedUntil > now ? isoTime(closedUntil) : null,
  };
}

/** Adds up paces second by second. All paces end at the same second, but may differ in length. */
function sumOf(paces: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...paces.map((pace) => pace.length));
  return Array.from({ length }, (_, index) => {
    const fromEnd = index - length;
    const sum = paces.reduce((total, pace) => total + (pace.at(fromEnd) ?? 0), 0);
    return Math.round(sum * 10) / 10;
  });
}
