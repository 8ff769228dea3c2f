// How long one step of a session may take: its own time, what is left for several steps together, and less
// where others wait for the place. What the steps are is channel.ts.
import type { Clock } from '../runtime/clock.ts';

/** Once a step has taken long, it is looked again after this whether others wait. */
const lookAgainMs = 5_000;

/** The end of several steps together. */
export interface Deadline {
  at: number;
  /** How long it was when it was set. */
  totalMs: number;
}

export const noDeadline: Deadline = { at: Number.POSITIVE_INFINITY, totalMs: 0 };

/** A step that is being waited for. */
interface Step {
  /** What it means that it takes too long. */
  what: string;
  since: number;
  limitMs: number;
  /** Of several steps, where that is what binds; else 0. */
  totalMs: number;
  givesWay: boolean;
}

export class Patience {
  readonly #clock: Clock;
  readonly #isPressed: (() => boolean) | null;
  readonly #pressedMs: number;
  readonly #giveUp: (what: string) => void;
  #cancelTimer: (() => void) | null = null;

  /** `isPressed`: whether others wait for a place; such a one is theirs after `pressedMs`. */
  constructor(
    clock: Clock,
    pressedMs: number,
    isPressed: (() => boolean) | null,
    giveUp: (what: string) => void,
  ) {
    this.#clock = clock;
    this.#pressedMs = pressedMs;
    this.#isPressed = isPressed;
    this.#giveUp = giveUp;
  }

  /**
   * One deadline per step: bytes that trickle in do not move it. A step that is `final` never gives way
   * to others: the message may have been taken.
   */
  watch(what: string, stepMs: number, isFinal: boolean, { at, totalMs }: Deadline): void {
    const since = this.#clock.elapsed();
    const leftMs = Math.max(0, at - since);
    this.#look({
      what,
      since,
      limitMs: Math.min(stepMs, leftMs),
      totalMs: leftMs < stepMs ? totalMs : 0,
      givesWay: this.#isPressed !== null && !isFinal,
    });
  }

  /** Nothing is waited for. */
  end(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #look(step: Step): void {
    this.end();
    const { what, since, limitMs, totalMs, givesWay } = step;
    const pastMs = this.#clock.elapsed() - since;
    const patienceMs = Math.max(pastMs + lookAgainMs, this.#pressedMs);
    const untilMs = givesWay ? Math.min(limitMs, patienceMs) : limitMs;
    this.#cancelTimer = this.#clock.after(untilMs - pastMs, () => {
      if (untilMs >= limitMs) {
        const isInAll = totalMs > 0;
        const seconds = (isInAll ? totalMs : limitMs) / 1000;
        this.#giveUp(
          isInAll ? `not done within ${seconds} s in all` : `${what} within ${seconds} s`,
        );
      } else if (this.#isPressed?.()) {
        this.#giveUp(`${what} within ${untilMs / 1000} s, and others wait`);
      } else this.#look(step);
    });
  }
}
