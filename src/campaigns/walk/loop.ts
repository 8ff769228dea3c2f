// The loop of a daemon over due runs. Each step begins a turn of a run, a limited time of work, and
// waits until the turn or that time ends. A turn that takes longer, as the organization waits for
// its own reads or workers, continues beside the turns of other organizations.
//
//   status      | a turn
//   ------------+------------------------------------------------------------
//   scheduled   | starts it (start.ts)
//   running     | walks a page, or finds that it waits or is held (page.ts)
//   held        | checks whether the cause has ended (below)
//   cancelled   | cancels some of the queued mail (below)
//
// The first turn of a daemon also frees mail that was queued before the run was resumed. Turns are
// chosen by their past time, and end between two contacts (run-turns.ts). After an error the run
// waits (below).
import type { App } from '../../core/app.ts';
import { byService } from '../../history/events/record.ts';
import { cancelRun, releaseRun } from '../../outbound/queue/desk/runs.ts';
import { CapacityError } from '../../platform/errors.ts';
import { clockJumpsOf } from '../../platform/runtime/clock-jumps.ts';
import { OverdueError } from '../../platform/store/aside.ts';
import { createDueLoop, usualRestMs } from '../../platform/store/changes/due-loop.ts';
import { lookPauseMs } from '../../run-ledger/next-look.ts';
import { lockRun, type RunState, updateRun } from '../../run-ledger/queries.ts';
import type { RunTrouble } from '../../run-ledger/schema.ts';
import {
  bringRunLeasesToPresent,
  bringRunsToPresent,
  type DueRun,
  findNextDueRun,
  putOffRun,
  selectDueRuns,
} from '../../run-ledger/walk-queries.ts';
import { moveRun } from '../setup/moves.ts';
import { cancelledAtOnce } from '../setup/runs.ts';
import { endsAutomatically, findHold } from './holds.ts';
import { endOldLeases, endOwnLeases, keepRun, leaseMs, momentOf, takeLease } from './lease.ts';
import { walkPage } from './page.ts';
import { RunTurns, Turn } from './run-turns.ts';
import { startRun } from './start.ts';
import { snapshotsOf } from './walked-run.ts';

/** Most due runs among which a step chooses. */
const mostRead = 100;
/** Most organizations with a turn under way. Each has a single turn. */
const mostTurns = 4;
/** Bound on waits and leases. A time further ahead means that the clock was set back. */
const longestWaitMs = 60_000;

const trouble = 'campaign runs cannot be walked now: trying again';

export interface CampaignLoop {
  start(): Promise<void>;
  /** Resolves when no run can continue before the next due time. */
  idle(): Promise<void>;
  /** Ends the turn after the current contact, and leaves the runs to other daemons. */
  stop(): Promise<void>;
}

/** Creates the loop of a daemon that starts, walks and ends due runs. */
export function campaignLoop(app: App): CampaignLoop {
  const worker = app.newId('worker');
  const turns = new RunTurns();
  const jumps = clockJumpsOf(app);
  let unsubscribe = () => {};
  /** Turns under way, by organization. */
  const underWay = new Map<string, { turn: Turn; done: Promise<void> }>();
  let isStopping = false;
  /** Whether due times may be too late: at the start, and after the clock was set back. */
  let isBehind = true;

  const walk = async (run: DueRun, turn: Turn) => {
    if (run.worker !== worker) await releaseRun(app, run.id);
    await walkPage(app, worker, run, turn);
  };

  const runTurn = async (run: DueRun, turn: Turn) => {
    if (!(await takeLease(app, worker, run))) return;
    const endLease = keepRun(app, worker, run);
    try {
      if (run.status === 'scheduled') await startRun(app, worker, run);
      else if (run.status === 'running') await walk(run, turn);
      else if (run.status === 'held') await inspectHeld(app, worker, run);
      else if (run.status === 'cancelled') await cancelSome(app, worker, run);
      else throw new Error(`a run that is ${run.status} has no turn`);
    } catch (error) {
      await waitAfter(app, run, error);
    } finally {
      endLease();
    }
  };

  const timeTurn = async (run: DueRun, turn: Turn) => {
    const begunAt = app.clock.elapsed();
    try {
      await runTurn(run, turn);
    } finally {
      turn.finish();
      turns.record(run, app.clock.elapsed() - begunAt);
    }
  };

  /** Begins a turn. Resolves at the end of the turn, or once the time of a turn is over. */
  const beginTurn = async (run: DueRun) => {
    const turn = new Turn(app.clock);
    if (isStopping) turn.stop();
    let isLeft = false;
    const done = timeTurn(run, turn)
      .catch((error: unknown) => {
        if (!isLeft) throw error;
        app.log.error({ err: error }, trouble);
      })
      .finally(() => {
        underWay.delete(run.organization_id);
        loop.wake();
      });
    underWay.set(run.organization_id, { turn, done });
    await Promise.race([done, turn.ending]);
    isLeft = true;
  };

  const comeToPresent = async () => {
    const now = app.clock.now();
    const latest = now + longestWaitMs;
    await app.store.write(async (trx) => {
      // Shortens old leases: a living holder renews them in time.
      await bringRunLeasesToPresent(trx, now + leaseMs, latest);
      await bringRunsToPresent(trx, now, latest);
    }, 'quiet');
    isBehind = false;
  };

  const loop = createDueLoop(app, {
    name: 'campaigns',
    restMs: usualRestMs,
    async step() {
      jumps.look();
      if (isBehind) await comeToPresent();
      const { db } = app.store;
      const moment = momentOf(app, worker);
      const due = await selectDueRuns(db, moment, mostRead);
      const next = underWay.size < mostTurns ? turns.next(due, underWay) : undefined;
      if (!next) {
        const dueAt = (await findNextDueRun(db, moment.now)) ?? Number.POSITIVE_INFINITY;
        return dueAt + app.clock.now() - moment.now;
      }
      await beginTurn(next);
      return 0;
    },
    isQuiet: () => underWay.size === 0,
    trouble,
  });

  return {
    async start() {
      await endOldLeases(app);
      unsubscribe = jumps.onJump((jumpMs) => {
        if (jumpMs < 0) isBehind = true;
      });
      loop.start();
    },
    idle: () => loop.idle(),
    async stop() {
      isStopping = true;
      for (const { turn } of underWay.values()) turn.stop();
      unsubscribe();
      await loop.stop();
      await Promise.all([...underWay.values()].map(({ done }) => done));
      await endOwnLeases(app, worker);
    },
  };
}

// A turn that throws delays its run, so that further runs continue. The run shows the reason until
// a turn succeeds.
//
//   waitReason | error                                                        | tried again after
//   -----------+--------------------------------------------------------------+------------------
//   audience   | a read of the audience took too long, of a single contact   | 15 s
//   capacity   | workers or searches are busy                                 | 5 s
//   error      | any other error; the log has it                              | 5 s

const pauseMs = 5_000;

function troubleOf(error: unknown): RunTrouble {
  if (error instanceof OverdueError) return 'audience';
  return error instanceof CapacityError ? 'capacity' : 'error';
}

/** Delays a run after an error of the turn. Logs each kind of trouble once. */
async function waitAfter(app: App, run: DueRun, error: unknown): Promise<void> {
  const trouble = troubleOf(error);
  if (trouble !== run.wait_reason) {
    const known = { err: error, runId: run.id, waitReason: trouble };
    const message = 'a campaign run cannot continue: trying again';
    if (trouble === 'error') app.log.error(known, message);
    else app.log.warn(known, message);
  }
  const dueAt = app.clock.now() + (trouble === 'audience' ? lookPauseMs(app.clock) : pauseMs);
  const isToGoOn = run.status === 'scheduled' || run.status === 'running';
  await app.store.write((trx) => putOffRun(trx, run, dueAt, isToGoOn ? trouble : null), 'quiet');
}

// Turns of runs that are not walked: held runs, until their cause has ended, and cancelled runs,
// until all of their queued mail is cancelled.

type Leased = Pick<RunState, 'id' | 'organization_id'>;

/**
 * Resumes a held run if the cause has ended, or checks again later. A second cause replaces
 * an ended cause.
 */
async function inspectHeld(app: App, worker: string, leased: Leased): Promise<void> {
  const { id } = leased;
  const snapshots = await snapshotsOf(app, leased);
  await app.store.write(async (trx) => {
    const run = await lockRun(trx, id);
    if (run?.status !== 'held' || run.worker !== worker) return;
    const { hold } = await findHold(app, trx, run, snapshots);
    if (!hold) {
      await moveRun(app, trx, run, 'running', {}, byService(run.organization_id));
      return;
    }
    const due_at = endsAutomatically(hold.hold_reason)
      ? app.clock.now() + lookPauseMs(app.clock)
      : null;
    await updateRun(trx, id, { ...hold, due_at });
  });
}

/** Cancels up to `cancelledAtOnce` unsent deliveries of a cancelled run. */
async function cancelSome(app: App, worker: string, { id }: Leased): Promise<void> {
  await app.store.write(async (trx) => {
    const run = await lockRun(trx, id);
    if (run?.status !== 'cancelled' || run.worker !== worker) return;
    const isDone = (await cancelRun(app, trx, id, cancelledAtOnce)) < cancelledAtOnce;
    if (isDone) await updateRun(trx, id, { due_at: null, worker: null, leased_until: null });
  });
}
