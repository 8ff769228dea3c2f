// Gives the event loop back. SQLite answers synchronously, so work over many rows, or for many
// callers, would otherwise run in a single turn of the loop and delay everything else by the sum.
// Steps of work ask here before they begin: once a turn has used up the time, they wait for later
// turns, in turns of their holders. The name of the step last begun also tells the meter
// (daemon/http/event-loop.ts) what held the loop.
import { setTimeout as pause } from 'node:timers/promises';
import { FairQueue, ownHolder, type QueuedJob } from './fair-queue.ts';

/** Time that the steps of a turn may use. */
export const turnMs = 50;

interface WaitingStep extends QueuedJob {
  begin(): void;
}

/** A piece of work that asks for the time of a turn before it begins. */
export interface Step {
  readonly operation: string;
  /** Organization, or the name of another holder of turns. */
  readonly holder: string;
}

/** The step last begun in this thread, and the time of its start. */
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
 * Steps in transactions, in the order of waiting. They alternate with the remaining steps: the
 * writes of all organizations wait for the transaction of an organization that is late in turns.
 */
const inTransaction: WaitingStep[] = [];
let isTransactionNext = true;

/**
 * Names the work that begins now, for the meter. `operation` is from a bounded set: it labels a
 * metric.
 */
export function nameTurn(operation: string, holder: string = ownHolder): void {
  current = { operation, holder, at: performance.now() };
  if (startedAt === undefined) beginTurn(current.at);
}

/** Returns the name of the step last begun, if that was at or after `sinceMs` (performance.now). */
export function operationSince(sinceMs: number): string {
  return current.at >= sinceMs ? current.operation : 'unnamed';
}

/**
 * Begins a step of an operation: at once, which returns undefined, or in a later turn if this turn
 * has used up the time or steps already wait. Without an operation the last step continues, ahead
 * of waiting steps while the turn has time.
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

/** Returns the step last begun, for `resumeStep`. */
export function stepOfTurn(): Step {
  return current;
}

/**
 * Continues a step after a wait, as `sliceTurns` without an operation does for the last step. A
 * step in a transaction goes ahead of all waiting steps.
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
 * A timer ends the turn: it fires before the loop looks for input again. `Clock` has none for it:
 * it must keep the process alive for the steps that wait.
 */
function beginTurn(now: number): void {
  startedAt = now;
  void pause(0).then(endTurn);
}

function endTurn(): void {
  if (waitingCount === 0) startedAt = undefined;
  // The timer of the next turn is set first, so that it is due once these steps have used their
  // time.
  else beginNext(pause(0));
}

/**
 * Takes a waiting step out of the queue: steps in transactions and the rest alternate while both
 * wait.
 */
function nextStep(): WaitingStep | undefined {
  isTransactionNext = !isTransactionNext;
  if (isTransactionNext && inTransaction.length > 0) return inTransaction.shift();
  return waiting.take()[0] ?? inTransaction.shift();
}

/** Begins waiting steps in the rest of the turn, at least one step. */
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
  // The step runs in microtasks; a tick queued by a microtask runs after all of them.
  queueMicrotask(() => process.nextTick(afterStep));
}
