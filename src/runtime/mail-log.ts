// The log of mail (`log.mail`): a line at info for the end of each attempt, each mail that comes in and
// each refusal. What a line says is up to whoever writes it; here is whether, and how many.
import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';

/** The part of the App that it goes by. */
export interface MailLogSurroundings {
  config: { log: { mail: boolean } };
  log: Logger;
}

/** Where mail is logged; null where it is not, so that no line is made for nothing. */
export function mailLogOf({ config, log }: MailLogSurroundings): Logger | null {
  return config.log.mail && log.isLevelEnabled('info') ? log : null;
}

const windowMs = 1_000;

/** Bounds lines that a stranger causes: so many a second, and how many were left out before. */
export class LineLimit {
  readonly #clock: Pick<Clock, 'elapsed'>;
  readonly #perSecond: number;
  #windowAt = Number.NEGATIVE_INFINITY;
  #written = 0;
  #leftOut = 0;

  constructor(clock: Pick<Clock, 'elapsed'>, perSecond: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
  }

  /** Null where the line is left out; else what it says of those that were, nothing for none. */
  admit(): { leftOut?: number } | null {
    const now = this.#clock.elapsed();
    if (now - this.#windowAt >= windowMs) {
      this.#windowAt = now;
      this.#written = 0;
    }
    if (this.#written >= this.#perSecond) {
      this.#leftOut += 1;
      return null;
    }
    this.#written += 1;
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    return leftOut > 0 ? { leftOut } : {};
  }
}
