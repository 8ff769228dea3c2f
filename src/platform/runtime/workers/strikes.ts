// Counts the jobs of an organization that ended a worker. Such a job takes the time of many jobs,
// so after several the organization must wait.
import type { Clock } from '../clock.ts';
import { recentlyUsed } from '../recently-used.ts';

/** Time in ms for which an ended worker counts. */
const countedMs = 60_000;
/**
 * Most workers that jobs of an organization may end in a minute before the organization must wait.
 */
const allowed = 2;
export const pauseSeconds = 10;

export class Strikes {
  readonly #clock: Clock;
  /** Times at which a job ended a worker, by organization. */
  readonly #times = recentlyUsed<number[]>(1000);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(organizationId: string): void {
    this.#times.set(organizationId, [...this.#recent(organizationId), this.#clock.now()]);
  }

  /**
   * Tells whether an organization must wait: in the last minute, jobs of the organization ended
   * more than two workers, the last less than `pauseSeconds` ago.
   */
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
