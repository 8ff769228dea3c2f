// Counts of events that strangers can cause, for the log: a line a minute at most, with the counts
// since the line before.
import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';

const lineMs = 60_000;

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
