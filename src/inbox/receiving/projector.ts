// The stage after the 250: parses each received mail once, in the parse worker, and keeps the
// result (project-mails.ts; src/outbound/messages/contents/projection.ts has the states of a row).
// It yields to bursts:
//
//   pressure | holds while                           | the next batch
//   ---------+---------------------------------------+------------------------------------------------
//   none     | no burst of sends or mails            | at once
//   burst    | a burst (queue/intake, mail-intake)   | none; checked again after 100 ms
//   late     | a burst, and the first due mail waits | 100 ms after the batch before; after 20 s half of
//            | for 10 s                              | that, and so on, so that parsing never falls behind
//
// A batch holds only mails without a previous try. A retried mail is leased alone: if it crashes
// the daemon, it takes no other mail with it, try after try.
import type { App } from '../../core/app.ts';
import {
  firstDueProjection,
  handBackProjections,
  releaseProjections,
  renewProjections,
  takeProjections,
} from '../../outbound/messages/contents/projection-queries.ts';
import { intakeOf } from '../../outbound/queue/intake.ts';
import { createDueLoop, type Pause, usualRestMs } from '../../platform/store/changes/due-loop.ts';
import { keepLease, leaseDelayMs } from '../../platform/store/changes/lease.ts';
import { mailIntakeOf } from './mail-intake.ts';
import { projectMails } from './project-mails.ts';

const batch = 64;
/** After a crash the leased mails wait at most this long. A mail takes 2 s at most. */
const leaseMs = 60_000;
/** Mails are started only within this time after the lease began. The rest is released. */
const beginsWithinMs = 30_000;
/** Pause if a different daemon has leased all due mails. */
const othersPauseMs = 1_000;
/** Delay of mails that are released because the parser is full or cannot start a worker. */
const noRoomPauseMs = 1_000;
const besideBurstMs = 100;
/** Longest wait for a burst to end. */
const patienceMs = 10_000;

export interface Projector {
  /** Starts. On SQLite, which has a single daemon, it first releases the leases left by a crash. */
  start(): Promise<void>;
  /** Stops, and releases unparsed mails at once. */
  stop(): Promise<void>;
  /** Parses a batch of due mails and returns the number of leased mails. For tests and the loop. */
  projectDue(): Promise<number>;
}

/** Creates the loop of a daemon that parses received mail. */
export function createProjector(app: App): Projector {
  const stopping = new AbortController();
  const pressure = pressureOf(app);

  const projectDue = async (): Promise<number> => {
    const { db } = app.store;
    const now = app.clock.now();
    const first = await firstDueProjection(db);
    const dueTo = now - leaseDelayMs(app, leaseMs);
    if (!first || first.due_at > dueTo) return 0;
    const isBegun = first.tries > 0;
    const taking = { now: dueTo, leaseUntil: now + leaseMs, limit: isBegun ? 1 : batch, isBegun };
    const taken = await app.store.write((trx) => takeProjections(trx, taking), 'quiet');
    const isOver = () => stopping.signal.aborted || app.clock.now() - now > beginsWithinMs;
    const ids = taken.map(({ message_id }) => message_id);
    const endLease = keepLease(app, {
      leaseMs,
      renew: (until) => app.store.write((trx) => renewProjections(trx, ids, until), 'quiet'),
      trouble: 'the lease of received mail was not renewed',
    });
    const bounds = { isOver, over: stopping.signal };
    const left = await projectMails(app, taken, bounds).finally(endLease);
    if (left.length > 0) {
      const dueAt = app.clock.now() + noRoomPauseMs;
      await app.store.write((trx) => handBackProjections(trx, left, dueAt), 'quiet');
    }
    return taken.length;
  };

  const step = async (): Promise<number | Pause> => {
    const { clock } = app;
    const pauseMs = pressure.pauseMs();
    if (pauseMs > 0) return { pauseMs };
    const first = (await firstDueProjection(app.store.db))?.due_at ?? Infinity;
    const dueAt = first + leaseDelayMs(app, leaseMs);
    if (dueAt > clock.now()) return dueAt;
    if (pressure.givesWay(clock.now() - dueAt)) return { pauseMs: besideBurstMs };
    return (await projectDue()) > 0 ? 0 : { pauseMs: othersPauseMs };
  };

  const trouble = 'received mail cannot be parsed now: trying again';
  const loop = createDueLoop(app, { name: 'projector', step, trouble, restMs: usualRestMs });
  return {
    async start() {
      if (app.store.kind === 'sqlite') {
        await app.store.write((trx) => releaseProjections(trx, app.clock.now()), 'quiet');
      }
      loop.start();
    },
    stop() {
      stopping.abort();
      return loop.stop();
    },
    projectDue,
  };
}

/**
 * Decides when to yield. Called before each read of the store, because each commit of a burst wakes
 * the loop.
 */
function pressureOf(app: App) {
  const intakes = [intakeOf(app), mailIntakeOf(app)];
  const isPressing = () => intakes.some((intake) => intake.isPressing());
  let lookedAt = Number.NEGATIVE_INFINITY;
  let pauseMs = besideBurstMs;
  return {
    /** Milliseconds until the next read of the store. */
    pauseMs(): number {
      if (!isPressing()) return 0;
      return Math.max(0, lookedAt + pauseMs - app.clock.elapsed());
    },
    /** Tells whether mail that has waited for `waitedMs` must keep waiting. */
    givesWay(waitedMs: number): boolean {
      if (!isPressing()) return false;
      lookedAt = app.clock.elapsed();
      pauseMs = Math.ceil(besideBurstMs * Math.min(1, patienceMs / waitedMs));
      return waitedMs < patienceMs;
    },
  };
}
