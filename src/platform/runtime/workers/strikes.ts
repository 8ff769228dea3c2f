// Organizations with jobs that ended a worker lately. Each such job takes the time of many jobs, so
// that an organization that goes on waits a while.
import type { Clock } from '../clock.ts';
import { recentlyUsed } from '../recently-used.ts';

/** Ended workers are counted for this time. */
const countedMs = 60_000;
/** Workers that an organization may end before it waits. */
const allowed = 2;
export const pauseSeconds = 10;

export class Strikes {
  readonly #clock: Clock;
  /** Times at which a job of an organization ended a worker. */
  readonly #times = recentlyUsed<number[]>(1000);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(organizationId: string): void {
    this.#times.set(organizationId, [...this.#recent(organizationId), this.#clock.now()]);
  }

  /** Tells whether an organization must wait. */
  isPaused(organizationId: string): boolean {
    const times = this.#recent(organizationId);
    const last = times.at(-1) ?? 0;
    return times.length > allowed && this.#clock.now() < last + pauseSeconds * 1000;
  }

  #recent(organizationId: string): number[] {
    const times = this.#times.get(organizationId);
    if (!times) return [];
    const after = this.#clock.now() - countedMs;
    return times.filter((time) => time > after);
  }
}
