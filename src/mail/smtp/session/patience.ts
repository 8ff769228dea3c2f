// Time limits for the steps of a session: the limit of the step, the remaining time of several
// steps, and a shorter limit while queued deliveries need the connection. channel.ts defines the
// steps.
import type { Clock } from '../../../platform/runtime/clock.ts';

/** Interval at which a long step checks again whether queued deliveries need the connection. */
const lookAgainMs = 5_000;

/** End of a time limit for several steps. */
export interface Deadline {
  at: number;
  /** Length of the limit when it was set, for the text of the fault. */
  totalMs: number;
}

export const noDeadline: Deadline = { at: Number.POSITIVE_INFINITY, totalMs: 0 };

/** A step that has not ended yet. */
interface Step {
  /** Text of the fault if the step takes too long. */
  what: string;
  since: number;
  limitMs: number;
  /** Length of the limit for several steps, if it ends before the step's own limit; else 0. */
  totalMs: number;
  givesWay: boolean;
}

export class Patience {
  readonly #clock: Clock;
  readonly #isPressed: (() => boolean) | null;
  readonly #pressedMs: number;
  readonly #giveUp: (what: string) => void;
  #cancelTimer: (() => void) | null = null;

  /**
   * `isPressed` returns true while queued deliveries need the connection: a step then gets about
   * `pressedMs`. `giveUp` is called with the text of the fault when a time limit has passed.
   */
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
   * Starts the time limit of a step, which arriving bytes do not extend. A step with `isFinal`
   * never yields to queued deliveries, because the server may have accepted the message.
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

  /** Ends the step and its timer. */
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
