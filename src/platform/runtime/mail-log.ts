// The log of mail (`log.mail`): a line at level info for the end of each attempt, each received
// mail, each report that was read and each refusal. This file decides whether and how many lines
// are written; callers write the content.
import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';

/** Part of the App that decides whether mail is logged. */
export interface MailLogSurroundings {
  config: { log: { mail: boolean } };
  log: Logger;
}

/** Returns the logger for mail; null if the log is off, so that callers build no lines. */
export function mailLogOf({ config, log }: MailLogSurroundings): Logger | null {
  return config.log.mail && log.isLevelEnabled('info') ? log : null;
}

const windowMs = 1_000;

/**
 * Limits log lines that outsiders can cause to `perSecond` lines a second. Counts the lines left
 * out, for the next line that is written.
 */
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

  /**
   * Returns null if a line must be left out; else the fields to log: `leftOut` after left-out
   * lines.
   */
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

const lineMs = 60_000;

/**
 * Counts events that outsiders can cause, for the log: a line a minute at most, with the counts
 * since the line before.
 */
export class MinuteCounts<Name extends string> {
  readonly #app: { clock: Pick<Clock, 'now'>; log: Logger };
  readonly #words: string;
  #counts: Partial<Record<Name, number>> = {};
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(app: { clock: Pick<Clock, 'now'>; log: Logger }, words: string) {
    this.#app = app;
    this.#words = words;
  }

  /** Counts an event, and logs all counts unless the last line is younger than a minute. */
  add(name: Name): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1;
    const now = this.#app.clock.now();
    // A clock that was set back does not silence the log.
    if (Math.abs(now - this.#loggedAt) < lineMs) return;
    const counts: Record<string, unknown> = this.#counts;
    this.#app.log.info(counts, this.#words);
    this.#counts = {};
    this.#loggedAt = now;
  }
}
