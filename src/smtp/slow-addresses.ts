// Which addresses keep us waiting: what leads to one of them shares few connections, however many
// domains and hosts lead there. In memory; times are those of `clock.elapsed()`.
import type { Clock } from '../runtime/clock.ts';
import { recentlyUsed } from '../runtime/recently-used.ts';

const mostAddresses = 10_000;
/** What ended without an answer after so long was slow. */
const slowMs = 30_000;

export class SlowAddresses {
  readonly #clock: Clock;
  /** When an attempt began that was kept waiting. */
  readonly #slowSince = recentlyUsed<number>(mostAddresses);
  /** When an answer came at last; of those that were slow alone. */
  readonly #tookAt = recentlyUsed<number>(mostAddresses);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A dialogue that began at `begunAt` ended: with answers, or by a fault. */
  learn(address: string, begunAt: number, isAnswered: boolean): void {
    const now = this.#clock.elapsed();
    if (isAnswered) {
      this.#tookAt.set(address, now);
      if (now - begunAt < slowMs) this.#slowSince.delete(address);
    } else if (now - begunAt >= slowMs && (this.#tookAt.get(address) ?? -Infinity) < begunAt) {
      this.#slowSince.set(address, begunAt);
    }
  }

  /** The first of these that is slow, if all are; in an order that is the same for all who ask. */
  slowest(addresses: readonly string[]): string | null {
    if (this.#slowSince.size === 0) return null;
    if (!addresses.every((address) => this.#slowSince.has(address))) return null;
    return addresses.toSorted()[0] ?? null;
  }

  /** Whether there is anything to ask for. */
  get isEmpty(): boolean {
    return this.#slowSince.size === 0;
  }
}
