// The stage after the 250: what came in is parsed once, in the parse worker, and what was found is kept
// (project-mails.ts; src/messages/projection.ts has the states of a row). At our own pace:
//
//   pressure | is on while                           | the next batch
//   ---------+---------------------------------------+-----------------------------------------------
//   none     | neither sends nor mails press in      | at once
//   burst    | they do (queue/intake, mail-intake)   | none; it is looked again after 100 ms
//   late     | they do, what waits has done so 10 s  | 100 ms after the one before; after 20 s half of that,
//            |                                       | and so on, so that it falls behind no burst for ever
//
// A batch is of those that nobody has begun; what was begun goes alone, so that a mail that takes a daemon
// along takes no other with it, try after try.
import type { App } from '../app.ts';
import {
  firstDueProjection,
  handBackProjections,
  releaseProjections,
  takeProjections,
} from '../messages/projection-queries.ts';
import { intakeOf } from '../queue/intake.ts';
import { createDueLoop } from '../store/due-loop.ts';
import { mailIntakeOf } from './mail-intake.ts';
import { projectMails } from './project-mails.ts';

const batch = 64;
/** A mail takes 2 s at the most; after this another try begins, here or in another daemon. */
const leaseMs = 60_000;
/** No mail is begun later than this after its lease began: the others are handed back. */
const beginsWithinMs = 30_000;
/** What is due and was not taken another daemon has: it is looked at again after this. */
const othersPauseMs = 1_000;
/** What is handed back, as the parser has no room or its worker does not start, waits as long. */
const noRoomPauseMs = 1_000;
const besideBurstMs = 100;
/** Who has waited for so long waits for no burst any more. */
const patienceMs = 10_000;

export interface Projector {
  /** Takes up what a daemon that died had begun (SQLite: there is only one daemon) and starts. */
  start(): Promise<void>;
  /** Hands back what is not parsed yet, at once. */
  stop(): Promise<void>;
  /** Parses a batch of what is due now; for tests and the loop. Returns how many were taken. */
  projectDue(): Promise<number>;
}

/** The projector of one daemon. */
export function createProjector(app: App): Projector {
  const stopping = Promise.withResolvers<void>();
  let isStopped = false;
  const pressure = pressureOf(app);

  const projectDue = async (): Promise<number> => {
    const { db } = app.store;
    const now = app.clock.now();
    const first = await firstDueProjection(db);
    if (!first || first.due_at > now) return 0;
    const isBegun = first.tries > 0;
    const taking = { now, leaseUntil: now + leaseMs, limit: isBegun ? 1 : batch, isBegun };
    const taken = await app.store.write((trx) => takeProjections(trx, taking), 'quiet');
    const isOver = () => isStopped || app.clock.now() - now > beginsWithinMs;
    const left = await projectMails(app, taken, { isOver, over: stopping.promise });
    if (left.length > 0) {
      const dueAt = app.clock.now() + noRoomPauseMs;
      await app.store.write((trx) => handBackProjections(trx, left, dueAt), 'quiet');
    }
    return taken.length;
  };

  const step = async (): Promise<number> => {
    const { clock } = app;
    const pauseMs = pressure.pauseMs();
    if (pauseMs > 0) return clock.now() + pauseMs;
    const dueAt = (await firstDueProjection(app.store.db))?.due_at ?? Infinity;
    if (dueAt > clock.now()) return dueAt;
    if (pressure.givesWay(clock.now() - dueAt)) return clock.now() + besideBurstMs;
    return (await projectDue()) > 0 ? 0 : clock.now() + othersPauseMs;
  };

  const trouble = 'what came in cannot be parsed now: trying again';
  const loop = createDueLoop(app, { step, trouble });
  return {
    async start() {
      if (app.store.kind === 'sqlite') {
        await app.store.write((trx) => releaseProjections(trx, app.clock.now()), 'quiet');
      }
      loop.start();
    },
    stop() {
      isStopped = true;
      stopping.resolve();
      return loop.stop();
    },
    projectDue,
  };
}

/** Asked before each look at the store: a burst commits many times, and each commit wakes the loop. */
function pressureOf(app: App) {
  const intakes = [intakeOf(app), mailIntakeOf(app)];
  const isPressing = () => intakes.some((intake) => intake.isPressing());
  let lookedAt = Number.NEGATIVE_INFINITY;
  let pauseMs = besideBurstMs;
  return {
    /** Milliseconds for which it is not even looked. */
    pauseMs(): number {
      if (!isPressing()) return 0;
      return Math.max(0, lookedAt + pauseMs - app.clock.elapsed());
    },
    /** Whether what has waited for `waitedMs` waits on. */
    givesWay(waitedMs: number): boolean {
      if (!isPressing()) return false;
      lookedAt = app.clock.elapsed();
      pauseMs = besideBurstMs * Math.min(1, patienceMs / waitedMs);
      return waitedMs < patienceMs;
    },
  };
}
