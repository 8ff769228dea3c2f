// Size and time of claims. A claim takes at most as many deliveries as there are free places in
// flight, and waits until a batch is worth a transaction. During a burst of sends (intake.ts)
// claims are rare.
//
// pressure | in force while                             | next claim
// ---------+--------------------------------------------+---------------------------------------------
// none     | places are free, no burst                  | at once, 100 deliveries at most
// full     | an eighth of the places or less is free    | when places get free, or 100 ms after the
//          |                                            | last claim
// burst    | many sends arrive                          | 100 ms after the last claim
// late     | the last claim had waited over 10 s        | as with none, even in a burst
import type { Clock } from '../../platform/runtime/clock.ts';
import type { ClaimedMessage } from './claiming/claim.ts';
import type { Intake } from './intake.ts';
import { mostInFlight } from './lanes/shares.ts';

const claimBatch = 100;
/**
 * Fraction of all places. If not more places are free, the next claim waits for `starvedPauseMs`.
 */
const roomWorthAClaim = 1 / 8;
/**
 * Interval between claims while few places are free. Without any free place, also the pause until
 * the next check: mail without a lane, such as simulated mail, may be claimed then.
 */
export const starvedPauseMs = 100;
/** Interval between claims during a burst of sends. */
const besideBurstMs = 100;
/** Wait of claimed deliveries above which a burst no longer slows claims. */
const patienceMs = 10_000;

/**
 * Decides how many deliveries to claim, and when. Uses `clock.elapsed()`, except for the waits of
 * deliveries.
 */
export class BackPressure {
  readonly #clock: Clock;
  readonly #intake: Intake;
  #claimedAt = Number.NEGATIVE_INFINITY;
  /** Longest wait of a first attempt in the last claim. */
  #latenessMs = 0;

  constructor(clock: Clock, intake: Intake) {
    this.#clock = clock;
    this.#intake = intake;
  }

  /**
   * Returns how many deliveries to claim, with `load` in flight. `quickRoom` is the number of free
   * places in the lane that all mail uses, if there is a single lane. Returns 0 until a claim is
   * worth a transaction.
   */
  claimable(load: number, quickRoom: number | undefined): number {
    const free = mostInFlight - load;
    const isLittle = free <= mostInFlight * roomWorthAClaim;
    if (isLittle && this.#clock.elapsed() - this.#claimedAt < starvedPauseMs) return 0;
    return Math.min(claimBatch, free, quickRoom ?? free);
  }

  /** Milliseconds until the next claim during a burst of sends; 0 without a burst. */
  givesWayMs(): number {
    if (this.#latenessMs > patienceMs || !this.#intake.isPressing()) return 0;
    return Math.max(0, this.#claimedAt + besideBurstMs - this.#clock.elapsed());
  }

  /** Records the messages of a claim that has just been made. */
  claimed(messages: readonly ClaimedMessage[]): void {
    this.#claimedAt = this.#clock.elapsed();
    this.#latenessMs = longestWait(messages, this.#clock.now());
  }
}

/** Returns the longest wait among deliveries in their first attempt. */
function longestWait(messages: readonly ClaimedMessage[], now: number): number {
  const waits = messages.flatMap(({ deliveries }) =>
    deliveries.flatMap(({ attempt_count, queued_at }) =>
      attempt_count === 1 && queued_at !== null ? now - queued_at : [],
    ),
  );
  return Math.max(0, ...waits);
}
