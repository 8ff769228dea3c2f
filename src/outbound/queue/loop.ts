// The engine of delivery: claims due deliveries, attempts and settles them, and sleeps until the
// next due row or a change in the store. Contains neither SQL nor SMTP: claim, attempt and settle
// do. in-flight.ts has deliveries in work, back-pressure.ts size and time of claims.
//
//   a step finds                           | next
//   ---------------------------------------+---------------------------------------------------------
//   no free place, or outcomes that the    | looks again a little later, or as places get free
//   store cannot write                     |
//   a burst of sends                       | waits, so that the sends are accepted first
//   no delivery that it may claim          | sleeps until the next due time, a minute at most
//   deliveries to claim                    | claims, attempts; repeats until a claim moves nothing
import type { App } from '../../core/app.ts';
import { clockJumpsOf } from '../../platform/runtime/clock-jumps.ts';
import { createDueLoop, type Pause } from '../../platform/store/changes/due-loop.ts';
import { leaseDelayMs } from '../../platform/store/changes/lease.ts';
import { firstTurn, nextDueAt, releaseClaims } from '../deliveries/claim-queries.ts';
import { oldestSentAt } from '../deliveries/queries.ts';
import type { AttemptMessage } from './attempting/attempter.ts';
import { InFlight, leaseMs } from './attempting/in-flight.ts';
import { BackPressure, starvedPauseMs } from './back-pressure.ts';
import { claimMessages, handBack, type LaneChoice } from './claiming/claim.ts';
import { DeferredMail } from './claiming/deferred.ts';
import { LearnedTurns } from './claiming/learned-turns.ts';
import { ReachedMail } from './claiming/reached.ts';
import { RelayWatch } from './claiming/relay-watch.ts';
import { intakeOf } from './intake.ts';
import { type ClockFollower, followClock } from './present.ts';
import { sendScheduled } from './schedule/scheduled.ts';
import { confirmDelivered } from './settling/confirm.ts';

const troublePauseMs = 1_000;

/** Parts that the pipeline calls. */
export interface PipelineParts {
  /** Name of the daemon in the claims. */
  worker: string;
  choice: LaneChoice;
  attempt: AttemptMessage;
}

export interface Pipeline {
  /** Starts the loop. On SQLite (a single daemon) first releases the claims of a crashed daemon. */
  start(): Promise<void>;
  /** Stops claiming, waits up to `graceMs` for deliveries in flight, and releases the rest. */
  stop(graceMs: number): Promise<void>;
  isRunning(): boolean;
  /** Returns the number of deliveries in flight. */
  load(): number;
  /** Resolves once no delivery is due or in flight; for tests and `--once`. */
  idle(): Promise<void>;
}

/** Creates the pipeline of a daemon. */
export function createPipeline(app: App, { worker, choice, attempt }: PipelineParts): Pipeline {
  const jumps = clockJumpsOf(app);
  let clock: ClockFollower | null = null;
  let isRunning = false;

  const inFlight = new InFlight(app, {
    worker,
    attempt,
    onDown: (id) => handBack(choice, id),
    onRoom() {
      if (inFlight.load === 0 || isAwaited(choice) || step.hasRoomAgain()) loop.wake();
    },
  });
  const step = createStep(app, { worker, choice, inFlight });
  const loop = createDueLoop(app, {
    name: 'queue',
    step() {
      jumps.look();
      return step.claimOnce();
    },
    trouble: 'the queue cannot be read: trying again',
    isQuiet: () => inFlight.load === 0,
  });

  return {
    async start() {
      await releaseLeft(app);
      clock = followClock(app);
      inFlight.startRenewals();
      isRunning = true;
      loop.start();
    },
    async stop(graceMs) {
      isRunning = false;
      clock?.abort();
      await loop.stop();
      await clock?.ended();
      await inFlight.end(graceMs);
      await app.store
        .write((trx) => releaseClaims(trx, worker, app.clock.now()))
        .catch((error: unknown) =>
          app.log.error({ err: error }, 'claimed deliveries were not handed back'),
        );
    },
    isRunning: () => isRunning,
    load: () => inFlight.load,
    idle: loop.idle,
  };
}

interface Step {
  /** Claims once. Returns 0 to continue at once, else the time of the next step or a pause. */
  claimOnce(): Promise<number | Pause>;
  /** Tells whether the last step had no free place for a claim, and a claim is possible now. */
  hasRoomAgain(): boolean;
}

type StepParts = Pick<PipelineParts, 'worker' | 'choice'> & { inFlight: InFlight };

function createStep(app: App, { worker, choice, inFlight }: StepParts): Step {
  const { clock } = app;
  const pressure = new BackPressure(clock, intakeOf(app));
  const deferred = new DeferredMail(app);
  const reached = new ReachedMail(app, choice);
  const relays = new RelayWatch(app);
  const learned = new LearnedTurns(app);
  let isStarved = false;
  /** Time at which the oldest mail accepted by a relay counts as delivered; 0 until it is read. */
  let confirmAt = 0;
  const claimable = () => pressure.claimable(inFlight.load, choice.soleLane?.quickRoom());

  return {
    async claimOnce() {
      const limit = claimable();
      isStarved = limit === 0;
      if (isStarved) return { pauseMs: starvedPauseMs };
      // Claims nothing: leases of outcomes that wait for the store may have expired, and a sent
      // delivery must not be claimed again.
      if (inFlight.isStuck) return { pauseMs: troublePauseMs };
      const delayMs = pressure.givesWayMs();
      if (delayMs > 0) return { pauseMs: delayMs };
      if (clock.now() >= confirmAt) await confirmDelivered(app);
      await learned.look();
      await relays.look();
      const isFreeing = [await deferred.free(), await reached.free()];
      const hasMore = isFreeing.includes(true);
      const work = await lookAhead(app);
      confirmAt = work.confirmAt;
      const nextAt = () => Math.min(work.dueAt, confirmAt, nextRoomAt(choice), reached.nextAt());
      if (!work.isReady && work.dueAt > clock.now() && !hasRoom(choice)) {
        return hasMore ? 0 : nextAt();
      }
      const options = { worker, leaseMs, limit, inWork: inFlight.ids };
      const claimed = await claimMessages(app, choice, options);
      pressure.claimed(claimed.messages);
      for (const one of claimed.messages) inFlight.launch(one);
      if (claimed.scheduled.length > 0) await sendScheduled(app, claimed.scheduled);
      return claimed.progressed || hasMore ? 0 : nextAt();
    },
    hasRoomAgain: () => isStarved && claimable() > 0,
  };
}

/**
 * Releases the claims of a crashed daemon. On PostgreSQL that daemon may still run, so its leases
 * must expire instead.
 */
async function releaseLeft({ store, clock, log }: App): Promise<void> {
  if (store.kind !== 'sqlite') return;
  const released = await store.write((trx) => releaseClaims(trx, null, clock.now()));
  if (released > 0) log.info({ released }, 'deliveries of an earlier daemon were taken over');
}

/** Reads when the loop has work next: index entries only, no transaction. */
async function lookAhead(
  app: App,
): Promise<{ isReady: boolean; dueAt: number; confirmAt: number }> {
  const { db } = app.store;
  const confirmAfterMs = app.config.delivery.relay.assumeDeliveredAfterMinutes * 60_000;
  const isReady = (await firstTurn(db)) !== null;
  const dueAt = ((await nextDueAt(db)) ?? Infinity) + leaseDelayMs(app, leaseMs);
  const sentAt = await oldestSentAt(db);
  return { isReady, dueAt, confirmAt: sentAt === null ? Infinity : sentAt + confirmAfterMs };
}

function isAwaited({ lanes, shares }: LaneChoice): boolean {
  return lanes.isAwaited() || shares.isAwaited();
}

function hasRoom({ lanes, shares }: LaneChoice): boolean {
  return lanes.withRoom().length > 0 || shares.withRoom().length > 0;
}

function nextRoomAt({ lanes, shares }: LaneChoice): number {
  return Math.min(lanes.nextRoomAt() ?? Infinity, shares.nextRoomAt() ?? Infinity);
}
