// Learns which addresses answer slowly. All deliveries to a slow address share few connections,
// however many domains and hosts lead there. In memory; times come from `clock.elapsed()`.
import type { Clock } from '../../platform/runtime/clock.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';

const mostAddresses = 10_000;
/** Time without an answer after which an address counts as slow. */
const slowMs = 30_000;

export class SlowAddresses {
  readonly #clock: Clock;
  /** Start of the attempt that waited in vain, by address. */
  readonly #slowSince = recentlyUsed<number>(mostAddresses);
  /** Time of the last answer, by address. */
  readonly #tookAt = recentlyUsed<number>(mostAddresses);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Learns from a dialogue that began at `begunAt` and ended with answers or by a fault. */
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
   * Returns the alphabetically first address if all are slow, else null. All callers thus get the
   * same address.
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
