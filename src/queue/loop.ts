// The engine of delivery: claims what is due, attempts it, settles it, and sleeps until the next due
// row or a change in the store. Knows no SQL and no SMTP: claim, attempt and settle do.
import type { App } from '../app.ts';
import {
  firstTurn,
  nextDueAt,
  oldestSentAt,
  releaseClaims,
  renewLeases,
} from '../deliveries/queries.ts';
import { CapacityError } from '../errors.ts';
import { sleep } from '../runtime/clock.ts';
import type { Db } from '../store/db.ts';
import { createDueLoop } from '../store/due-loop.ts';
import { groupWrites } from '../store/group.ts';
import type { AttemptMessage } from './attempt.ts';
import { type ClaimedMessage, claimMessages, handBack, type LaneChoice } from './claim.ts';
import { comeToPresent, isAheadOfClock, watchClock } from './clock-jumps.ts';
import { confirmDelivered } from './confirm.ts';
import { intakeOf } from './intake.ts';
import { mostInFlight } from './lanes/shares.ts';
import { sendScheduled } from './scheduled.ts';
import { type Settlement, settleAll } from './settle.ts';

const claimBatch = 100;
/** With fewer places free than this part of them, it is not claimed before `starvedPauseMs`. */
const roomWorthAClaim = 1 / 8;
const settleBatch = 128;
/** A lease is renewed three times before it runs out; after a crash it delays by at most this. */
const leaseMs = 60_000;
const renewMs = 20_000;
const troublePauseMs = 1_000;
/** While there is no room, it is looked again after this, for what needs none. */
const starvedPauseMs = 100;
/** While a burst of sends comes in, a batch is claimed this often, */
const besideBurstMs = 100;
/** until what is claimed has waited so long: then deliveries have their full share again. */
const patienceMs = 10_000;

/** What a pipeline drives. */
export interface PipelineParts {
  /** Names its claims. */
  worker: string;
  choice: LaneChoice;
  attempt: AttemptMessage;
}

export interface Pipeline {
  /** Hands back what a dead daemon had claimed (SQLite: there is only one daemon) and starts. */
  start(): Promise<void>;
  /** Claims nothing more, waits up to `graceMs` for what is in flight, hands the rest back. */
  stop(graceMs: number): Promise<void>;
  isRunning(): boolean;
  /** Resolves when nothing is due and nothing in flight at this moment; for tests and `--once`. */
  idle(): Promise<void>;
}

/** The pipeline of one daemon. */
export function createPipeline(app: App, { worker, choice, attempt }: PipelineParts): Pipeline {
  const inFlight = new Set<Promise<void>>();
  const givingUp = new AbortController();
  let load = 0;
  /** Ids of the deliveries in work: their leases are renewed, those of what got lost run out. */
  const inWork = new Set<string>();
  /** Outcomes that the store could not take yet. */
  let unsettled = 0;
  let isRunning = false;
  let cancelRenewal: () => void = () => {};
  const clockWasSet = watchClock(app.clock);
  const stopping = new AbortController();
  let adjusting: Promise<void> = Promise.resolve();
  /** More waited than could be claimed: it goes on as soon as there is room. */
  let isStarved = false;
  const intake = intakeOf(app);
  let claimedAt = Number.NEGATIVE_INFINITY;
  /** How long the first of the last claim had waited. */
  let latenessMs = 0;
  /** When something that a relay has may count as delivered, as far as known. */
  let confirmAt = 0;
  const idleWaiters = new Set<() => void>();

  const settleThese = async (trx: Db, items: Settlement[]) => {
    await settleAll(app, trx, worker, items);
    return items.map(() => undefined);
  };
  // A settlement that a power failure takes is an attempt made again: at least once on the wire.
  const settleOnce = groupWrites(app.store, settleBatch, settleThese, 'soon');

  /** While the store cannot write, the outcome is kept here: nobody else knows it. */
  const settle = async (settlement: Settlement): Promise<void> => {
    for (;;) {
      try {
        return await settleOnce(settlement);
      } catch (error) {
        if (!(error instanceof CapacityError) || givingUp.signal.aborted) throw error;
        if (unsettled === 0) app.log.warn({ err: error }, 'outcomes wait for the store');
      }
      unsettled += 1;
      await sleep(app.clock, troublePauseMs, givingUp.signal);
      unsettled -= 1;
    }
  };

  /** Their places are free again, and whoever waits for one is looked at. */
  const putDown = (ids: readonly string[]) => {
    for (const id of ids) {
      if (!inWork.delete(id)) continue;
      handBack(choice, id);
      load -= 1;
    }
    app.metrics.inFlight.set(load);
    const isAwaited = choice.lanes.isAwaited() || choice.shares.isAwaited();
    if (load === 0 || isAwaited || (isStarved && claimable() > 0)) loop.wake();
  };

  /** What ends together is settled together, and holds its places no longer than that takes. */
  const settleEnded = async (settlements: Settlement[]): Promise<void> => {
    try {
      await Promise.all(settlements.map(settle));
      for (const { outcome, routeKind } of settlements) {
        app.metrics.attempts.inc({ outcome: outcome.kind, route: routeKind });
      }
    } finally {
      putDown(settlements.map(({ delivery }) => delivery.id));
    }
  };

  const launch = (claimed: ClaimedMessage) => {
    const ids = claimed.deliveries.map(({ id }) => id);
    load += ids.length;
    for (const id of ids) inWork.add(id);
    app.metrics.inFlight.set(load);
    const done = attempt(claimed, settleEnded)
      .catch((error: unknown) => {
        // The lease stays and runs out: nothing is lost, the attempt is made again.
        const messageId = claimed.message.id;
        app.log.error({ err: error, messageId }, 'an attempt was not settled');
      })
      .finally(() => {
        inFlight.delete(done);
        putDown(ids);
      });
    inFlight.add(done);
  };

  /** Beside the queue, which goes on: a million entries take half a minute. */
  const adjust = async (): Promise<void> => {
    try {
      const moved = await comeToPresent(app, stopping.signal);
      if (moved > 0)
        app.log.warn({ moved }, 'the clock was set back: what waits is counted from now');
    } catch (error) {
      if (stopping.signal.aborted) return;
      app.log.error({ err: error }, 'the queue was not adjusted to the clock that was set back');
    }
  };

  const followClock = () => {
    const jumpMs = clockWasSet();
    if (jumpMs > 0) app.log.warn({ jumpMs }, 'the clock was set forward');
    if (jumpMs < 0) adjusting = adjusting.then(adjust);
  };

  /** How many a claim may take now; 0 until it would be worth one. */
  const claimable = (): number => {
    const free = mostInFlight - load;
    const isLittle = free <= mostInFlight * roomWorthAClaim;
    if (isLittle && app.clock.elapsed() - claimedAt < starvedPauseMs) return 0;
    return Math.min(claimBatch, free, choice.soleLane?.quickRoom() ?? free);
  };

  /** Milliseconds that sends which press in keep the next claim waiting. */
  const givesWayMs = (): number => {
    if (latenessMs > patienceMs || !intake.isPressing()) return 0;
    return Math.max(0, claimedAt + besideBurstMs - app.clock.elapsed());
  };

  /** Claims once. */
  const step = async (): Promise<number> => {
    followClock();
    const limit = claimable();
    isStarved = limit === 0;
    if (isStarved) return app.clock.now() + starvedPauseMs;
    // Their leases may have run out meanwhile: what has been sent must not be claimed again.
    if (unsettled > 0) return app.clock.now() + troublePauseMs;
    const delayMs = givesWayMs();
    if (delayMs > 0) return app.clock.now() + delayMs;
    if (app.clock.now() >= confirmAt) await confirmDelivered(app);
    const work = await lookAhead(app);
    confirmAt = work.confirmAt;
    const hasRoom = choice.lanes.withRoom().length > 0 || choice.shares.withRoom().length > 0;
    if (!work.isReady && work.dueAt > app.clock.now() && !hasRoom) {
      return Math.min(work.dueAt, confirmAt, nextRoomAt(choice));
    }
    const claimed = await claimMessages(app, choice, { worker, leaseMs, limit, inWork });
    claimedAt = app.clock.elapsed();
    latenessMs = longestWait(claimed.messages, app.clock.now());
    for (const one of claimed.messages) launch(one);
    if (claimed.scheduled.length > 0) await sendScheduled(app, claimed.scheduled);
    if (claimed.progressed) return 0;
    return Math.min(work.dueAt, confirmAt, nextRoomAt(choice));
  };

  const loop = createDueLoop(app, {
    step,
    trouble: 'the queue cannot be read: trying again',
    onRest() {
      if (load === 0) for (const resolve of idleWaiters) resolve();
    },
  });

  const renew = () => {
    cancelRenewal = app.clock.after(renewMs, renew);
    if (load === 0) return;
    const leaseUntil = app.clock.now() + leaseMs;
    app.store
      .write((trx) => renewLeases(trx, worker, [...inWork], leaseUntil))
      .catch((error: unknown) => app.log.error({ err: error }, 'leases were not renewed'));
  };

  return {
    async start() {
      if (app.store.kind === 'sqlite') {
        const released = await app.store.write((trx) => releaseClaims(trx, null, app.clock.now()));
        if (released > 0) app.log.info({ released }, 'took up what an earlier daemon left');
      }
      if (await isAheadOfClock(app)) adjusting = adjust();
      cancelRenewal = app.clock.after(renewMs, renew);
      isRunning = true;
      loop.start();
    },
    async stop(graceMs) {
      stopping.abort();
      isRunning = false;
      await loop.stop();
      await adjusting;
      await waitAtMost(app, Promise.all(inFlight), graceMs);
      givingUp.abort();
      cancelRenewal();
      await app.store
        .write((trx) => releaseClaims(trx, worker, app.clock.now()))
        .catch((error: unknown) => app.log.error({ err: error }, 'claims were not handed back'));
    },
    isRunning: () => isRunning,
    idle: () =>
      new Promise((resolve) => {
        const waiter = () => {
          idleWaiters.delete(waiter);
          resolve();
        };
        idleWaiters.add(waiter);
        loop.wake();
      }),
  };
}

/** What the store has for the loop: reads of index entries, no transaction. */
async function lookAhead(
  app: App,
): Promise<{ isReady: boolean; dueAt: number; confirmAt: number }> {
  const { db } = app.store;
  const confirmAfterMs = app.config.delivery.relay.assumeDeliveredAfterMinutes * 60_000;
  const isReady = (await firstTurn(db)) !== null;
  const dueAt = (await nextDueAt(db)) ?? Infinity;
  const sentAt = await oldestSentAt(db);
  return { isReady, dueAt, confirmAt: sentAt === null ? Infinity : sentAt + confirmAfterMs };
}

/** Of those that are attempted for the first time: how long the first to come has waited. */
function longestWait(messages: readonly ClaimedMessage[], now: number): number {
  const waits = messages.flatMap(({ deliveries }) =>
    deliveries.flatMap(({ attempt_count, queued_at }) =>
      attempt_count === 1 && queued_at !== null ? now - queued_at : [],
    ),
  );
  return Math.max(0, ...waits);
}

function nextRoomAt({ lanes, shares }: LaneChoice): number {
  return Math.min(lanes.nextRoomAt() ?? Infinity, shares.nextRoomAt() ?? Infinity);
}

async function waitAtMost(app: App, work: Promise<unknown>, ms: number): Promise<void> {
  if (ms <= 0) return;
  await new Promise<void>((resolve) => {
    const cancel = app.clock.after(ms, resolve);
    void work.finally(() => {
      cancel();
      resolve();
    });
  });
}
