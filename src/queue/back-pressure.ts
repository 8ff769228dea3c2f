// How much is claimed, and when: no more than has a place in flight, in batches that are worth a
// transaction, and seldom while a burst of sends comes in (intake.ts).
//
//   pressure | is on while                                      | the next claim
//   ---------+--------------------------------------------------+--------------------------------------
//   none     | places are free, no burst comes in               | at once, 100 deliveries at most
//   full     | an eighth of the places or less is free          | as places get free, or 100 ms after
//            |                                                  | the last one
//   burst    | sends press in                                   | 100 ms after the last one
//   late     | what was claimed had waited for 10 s             | as with none, burst or not
import type { Clock } from '../runtime/clock.ts';
import type { ClaimedMessage } from './claim.ts';
import type { Intake } from './intake.ts';
import { mostInFlight } from './lanes/shares.ts';

const claimBatch = 100;
/** With fewer places free than this part of them, it is not claimed before `starvedPauseMs`. */
const roomWorthAClaim = 1 / 8;
/** While there is no room, it is looked again after this, for what needs none. */
export const starvedPauseMs = 100;
/** While a burst of sends comes in, a batch is claimed this often, */
const besideBurstMs = 100;
/** until what is claimed has waited so long: then deliveries have their full share again. */
const patienceMs = 10_000;

/** Times in here are those of `clock.elapsed()`, but for how long what was claimed had waited. */
export class BackPressure {
  readonly #clock: Clock;
  readonly #intake: Intake;
  #claimedAt = Number.NEGATIVE_INFINITY;
  /** How long the first of the last claim had waited. */
  #latenessMs = 0;

  constructor(clock: Clock, intake: Intake) {
    this.#clock = clock;
    this.#intake = intake;
  }

  /** How many a claim may take with `load` in flight and room for `quickRoom`; 0 until it is worth one. */
  claimable(load: number, quickRoom: number | undefined): number {
    const free = mostInFlight - load;
    const isLittle = free <= mostInFlight * roomWorthAClaim;
    if (isLittle && this.#clock.elapsed() - this.#claimedAt < starvedPauseMs) return 0;
    return Math.min(claimBatch, free, quickRoom ?? free);
  }

  /** Milliseconds that sends which press in keep the next claim waiting. */
  givesWayMs(): number {
    if (this.#latenessMs > patienceMs || !this.#intake.isPressing()) return 0;
    return Math.max(0, this.#claimedAt + besideBurstMs - this.#clock.elapsed());
  }

  /** These were claimed just now. */
  claimed(messages: readonly ClaimedMessage[]): void {
    this.#claimedAt = this.#clock.elapsed();
    this.#latenessMs = longestWait(messages, this.#clock.now());
  }
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
