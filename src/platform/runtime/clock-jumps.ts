// Detects that the wall clock was set: the difference of wall and steady time changes by over a
// minute, more than NTP corrects at a time. A virtual clock that is advanced on request (it has
// `join`) never jumps. The heartbeat (src/core/clock/heartbeat.ts) detects at the start that the
// clock was set while the daemon was stopped, and reports the jump here.
import type { Clock } from './clock.ts';
import { perApp } from './per-app.ts';

/** Largest change of the difference that does not count as a jump. */
export const jumpToleranceMs = 60_000;

type OnJump = (jumpMs: number) => void;

class ClockJumps {
  readonly #clock: Clock;
  readonly #listeners = new Set<OnJump>();
  /** Wall time minus steady time, as of the last jump. */
  #aheadMs: number;
  #jumpedAtElapsed = Number.NEGATIVE_INFINITY;
  #startJumpMs = 0;
  #count = 0;
  #lastMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#aheadMs = clock.now() - clock.elapsed();
  }

  /** Number of jumps since the start of this process. */
  get count(): number {
    return this.#count;
  }

  /** The last jump in ms; 0 without a jump. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** Milliseconds of steady time since the last jump; Infinity without a jump. */
  get agreedMs(): number {
    return this.#clock.elapsed() - this.#jumpedAtElapsed;
  }

  /**
   * Calls `run` with each later jump in ms, negative for a jump back. If the start found a jump,
   * also calls `run` at once. Returns a function that ends the calls.
   */
  onJump(run: OnJump): () => void {
    this.#listeners.add(run);
    if (this.#startJumpMs !== 0) run(this.#startJumpMs);
    return () => void this.#listeners.delete(run);
  }

  /** Compares wall and steady time, and notifies the listeners of a jump. */
  look(): void {
    if (this.#clock.join) return;
    const jumpMs = this.#clock.now() - this.#clock.elapsed() - this.#aheadMs;
    if (Math.abs(jumpMs) <= jumpToleranceMs) return;
    this.#aheadMs += jumpMs;
    this.#notify(jumpMs);
  }

  /** Notifies the listeners of a jump between the last heartbeat and the start of this process. */
  reportStart(jumpMs: number): void {
    this.#startJumpMs = jumpMs;
    this.#notify(jumpMs);
  }

  #notify(jumpMs: number): void {
    this.#jumpedAtElapsed = this.#clock.elapsed();
    this.#count += 1;
    this.#lastMs = jumpMs;
    for (const run of this.#listeners) run(jumpMs);
  }
}

/** Returns the detector of this process. */
export const clockJumpsOf = perApp(({ clock }: { clock: Clock }) => new ClockJumps(clock));
