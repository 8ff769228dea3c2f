// Learns which addresses answer slowly. All deliveries to a slow address share a few connections,
// even from different domains and hosts. Kept in memory; times are of `clock.elapsed()`.
import type { Clock } from '../../platform/runtime/clock.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';

const mostAddresses = 10_000;
/** Time without an answer after which an address counts as slow. */
const slowMs = 30_000;

export class SlowAddresses {
  readonly #clock: Clock;
  /** Start of the attempt that got no answer, by address. */
  readonly #slowSince = recentlyUsed<number>(mostAddresses);
  /** Time of the last answer, by address. */
  readonly #tookAt = recentlyUsed<number>(mostAddresses);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Updates the slow addresses after a dialogue that began at `begunAt`. An address becomes slow
   * after `slowMs` in which no attempt got an answer. Only an answer within `slowMs` clears a slow
   * address.
   */
  learn(address: string, begunAt: number, isAnswered: boolean): void {
    const now = this.#clock.elapsed();
    if (isAnswered) {
      this.#tookAt.set(address, now);
      if (now - begunAt < slowMs) this.#slowSince.delete(address);
    } else if (now - begunAt >= slowMs && (this.#tookAt.get(address) ?? -Infinity) < begunAt) {
      this.#slowSince.set(address, begunAt);
    }
  }

  /**
   * Returns the alphabetically first address if all are slow, so that all callers get the same
   * address; else null.
   */
  slowest(addresses: readonly string[]): string | null {
    if (this.#slowSince.size === 0) return null;
    if (!addresses.every((address) => this.#slowSince.has(address))) return null;
    return addresses.toSorted()[0] ?? null;
  }

  /** True if no address is slow. */
  get isEmpty(): boolean {
    return this.#slowSince.size === 0;
  }
}
