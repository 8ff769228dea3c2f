// The loop of one daemon over due runs: each step takes the turn of one run.
//
//   status      | a turn
//   ------------+------------------------------------------------------------
//   scheduled   | starts it (start.ts)
//   running     | walks a page, or finds that it waits or is held (page.ts)
//   held        | looks whether the cause has ended (unwalked.ts)
//   cancelled   | cancels some of its queued mail (unwalked.ts)
//
// The first turn of a daemon also frees mail that was queued before the run was resumed.
// Turns go by time and end between two contacts (turns.ts). After an error the run waits (trouble.ts).
import type { App } from '../../core/app.ts';
import { releaseRun } from '../../outbound/queue/desk/runs.ts';
import {
  bringRunLeasesToPresent,
  bringRunsToPresent,
  type DueRun,
  findNextDueRun,
  selectDueRuns,
} from '../../people/runs/walk-queries.ts';
import { clockJumpsOf } from '../../platform/runtime/clock-jumps.ts';
import { createDueLoop } from '../../platform/store/due-loop.ts';
import { endOldLeases, endOwnLeases, keepRun, momentOf, takeLease } from './lease.ts';
import { walkPage } from './page.ts';
import { startRun } from './start.ts';
import { waitAfter } from './trouble.ts';
import { RunTurns, Turn } from './turns.ts';
import { cancelSome, lookAtHeld } from './unwalked.ts';

/** Due runs among which a step chooses. */
const mostRead = 100;
/** Waits and leases are shorter. A later time means that the clock was set back. */
const longestWaitMs = 60_000;

export interface CampaignLoop {
  start(): Promise<void>;
  /** Resolves when no run can go on before its time. */
  idle(): Promise<void>;
  /** Ends the turn after its current contact, and leaves the runs to other daemons. */
  stop(): Promise<void>;
}

/** Creates the loop of one daemon. */
export function campaignLoop(app: App): CampaignLoop {
  const worker = app.newId('worker');
  const turns = new RunTurns();
  const jumps = clockJumpsOf(app);
  let unsubscribe = () => {};
  let current: Turn | null = null;
  let isStopping = false;
  /** Whether the clock was set back since runs were last brought to the present. */
  let isBehind = true;

  const walk = async (run: DueRun, turn: Turn) => {
    if (run.worker !== worker) await releaseRun(app, run.id);
    await walkPage(app, worker, run, turn);
  };

  const takeTurn = async (run: DueRun, turn: Turn) => {
    if (!(await takeLease(app, worker, run))) return;
    const endLease = keepRun(app, worker, run);
    try {
      if (run.status === 'scheduled') await startRun(app, worker, run);
      else if (run.status === 'running') await walk(run, turn);
      else if (run.status === 'held') await lookAtHeld(app, worker, run);
      else if (run.status === 'cancelled') await cancelSome(app, worker, run);
      else throw new Error(`a run that is ${run.status} has no turn`);
    } catch (error) {
      await waitAfter(app, run, error);
    } finally {
      endLease();
    }
  };

  const timeTurn = async (run: DueRun) => {
    const begunAt = app.clock.elapsed();
    const turn = new Turn(app.clock);
    current = turn;
    if (isStopping) turn.stop();
    try {
      await takeTurn(run, turn);
    } finally {
      turn.finish();
      turns.record(run, app.clock.elapsed() - begunAt);
    }
  };

  const comeToPresent = async () => {
    const now = app.clock.now();
    const latest = now + longestWaitMs;
    await app.store.write(async (trx) => {
      await bringRunLeasesToPresent(trx, now, latest);
      await bringRunsToPresent(trx, now, latest);
    }, 'quiet');
    isBehind = false;
  };

  const loop = createDueLoop(app, {
    name: 'campaigns',
    async step() {
      jumps.look();
      if (isBehind) await comeToPresent();
      const { db } = app.store;
      const moment = momentOf(app, worker);
      const next = turns.next(await selectDueRuns(db, moment, mostRead));
      if (!next) return (await findNextDueRun(db, moment.now)) ?? Number.POSITIVE_INFINITY;
      await timeTurn(next);
      return 0;
    },
    trouble: 'campaign runs cannot be walked now: trying again',
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
      current?.stop();
      unsubscribe();
      await loop.stop();
      await endOwnLeases(app, worker);
    },
  };
}
