// Splits work into steps in turns (iterations) of the event loop. SQLite answers synchronously, so
// work on many rows or for many callers would otherwise run in a single turn and delay all further
// work. A step calls `sliceTurns` before it begins. Once a turn has lasted 50 ms, steps wait for
// later turns, in fair order of the organizations. daemon/http/event-loop.ts reports the name of
// the last step if work blocked the loop.
import { setTimeout as pause } from 'node:timers/promises';
import { FairQueue, ownHolder, type QueuedJob } from './fair-queue.ts';

/** Time that the steps in a turn may use, in ms. */
export const turnMs = 50;

interface WaitingStep extends QueuedJob {
  begin(): void;
}

/** A named piece of work in a turn. */
export interface Step {
  readonly operation: string;
  /** Organization that the step works for; `ownHolder` for the daemon itself. */
  readonly holder: string;
}

/** The last step begun in this thread, with the time of its start. */
let current: Step & { readonly at: number } = {
  operation: 'unnamed',
  holder: ownHolder,
  at: 0,
};
/** Start of the present turn; undefined until the first step. */
let startedAt: number | undefined;
let waitingCount = 0;
const waiting = new FairQueue<WaitingStep>({
  mostJobs: Number.POSITIVE_INFINITY,
  mostBytes: Number.POSITIVE_INFINITY,
  firstBytes: 0,
});
/**
 * Waiting steps in transactions, in order. They alternate with further steps: otherwise all writes
 * would wait for the transaction of an organization that has used much time.
 */
const inTransaction: WaitingStep[] = [];
let isTransactionNext = true;

/**
 * Records the name of the work that begins now. `operation` must be from a bounded set, because it
 * labels a metric.
 */
export function nameTurn(operation: string, holder: string = ownHolder): void {
  current = { operation, holder, at: performance.now() };
  if (startedAt === undefined) beginTurn(current.at);
}

/**
 * Returns the name of the last step if it began at or after `sinceMs` (performance.now); else
 * `unnamed`.
 */
export function operationSince(sinceMs: number): string {
  return current.at >= sinceMs ? current.operation : 'unnamed';
}

/**
 * Begins a step of an operation: at once (returns undefined), or in a later turn (returns a
 * promise) if this turn has used up the time or steps wait. Without an operation, the last step
 * continues, ahead of waiting steps while the turn has time.
 */
export function sliceTurns(
  operation?: string,
  holder: string = ownHolder,
): Promise<void> | undefined {
  if (operation === undefined) {
    if (isUsed()) return inLaterTurn(current.operation, current.holder);
    if (startedAt === undefined) beginTurn(performance.now());
    return undefined;
  }
  if (waitingCount > 0 || isUsed()) return inLaterTurn(operation, holder);
  nameTurn(operation, holder);
  return undefined;
}

/**
 * Work that yields after each small part, so that a turn of the event loop may end after the part.
 */
export type PartedWork<T> = Generator<undefined, T>;

/** Runs the work part by part, each part in a turn that has time left. Resolves with the result. */
export async function inTurns<T>(operation: string, work: PartedWork<T>): Promise<T> {
  for (;;) {
    await sliceTurns(operation);
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Runs the whole work in this turn, for threads on which no further work waits. */
export function atOnce<T>(work: PartedWork<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Returns the last step begun, for `resumeStep`. */
export function stepOfTurn(): Step {
  return current;
}

/**
 * Continues a step after a wait, like `sliceTurns` without an operation. A step in a transaction
 * does not wait in the fair queue.
 */
export function resumeStep(
  { operation, holder }: Step,
  isInTransaction = false,
): Promise<void> | undefined {
  nameTurn(operation, holder);
  if (!isUsed()) return undefined;
  return inLaterTurn(operation, holder, isInTransaction);
}

function isUsed(): boolean {
  return startedAt !== undefined && performance.now() - startedAt >= turnMs;
}

function inLaterTurn(operation: string, holder: string, isInTransaction = false): Promise<void> {
  return new Promise((resolve) => {
    const begin = () => {
      nameTurn(operation, holder);
      resolve();
    };
    const step = { holder, bytes: 0, isSmall: false, begin };
    if (isInTransaction) inTransaction.push(step);
    else waiting.add(step);
    waitingCount += 1;
  });
}

/**
 * Begins a turn, which a timer ends before the loop reads input again. A timer of `Clock` would not
 * keep the process alive, as waiting steps need.
 */
function beginTurn(now: number): void {
  startedAt = now;
  void pause(0).then(endTurn);
}

function endTurn(): void {
  if (waitingCount === 0) startedAt = undefined;
  // The timer of the next turn is set first, so that it is due when these steps have used their
  // time.
  else beginNext(pause(0));
}

/**
 * Removes and returns a waiting step. Steps in transactions and further steps alternate while both
 * wait.
 */
function nextStep(): WaitingStep | undefined {
  isTransactionNext = !isTransactionNext;
  if (isTransactionNext && inTransaction.length > 0) return inTransaction.shift();
  return waiting.take()[0] ?? inTransaction.shift();
}

/** Begins waiting steps until the turn has used up the time, at least a single step. */
function beginNext(nextTurn: Promise<void>): void {
  const step = nextStep();
  waitingCount -= 1;
  const begunAt = performance.now();
  step?.begin();
  const afterStep = () => {
    if (step) waiting.recordTurn(step.holder, performance.now() - begunAt);
    if (waitingCount > 0 && !isUsed()) {
      beginNext(nextTurn);
      return;
    }
    startedAt = performance.now();
    void nextTurn.then(endTurn);
  };
  // The step runs in microtasks. A tick that a microtask queues runs after all microtasks.
  queueMicrotask(() => process.nextTick(afterStep));
}
