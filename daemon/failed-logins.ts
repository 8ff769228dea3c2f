// Counts failed logins by address (IPv6 by /64) in bounded memory, for a limit of failures.
import { networkOf } from '../src/platform/net/network-address.ts';
import type { Clock } from '../src/platform/runtime/clock.ts';
import { recentlyUsed } from '../src/platform/runtime/recently-used.ts';

const windowMs = 60_000;
const mostAddresses = 10_000;

export class FailedLogins {
  readonly #clock: Clock;
  readonly #mostPerMinute: number;
  /** Times of the last failures of each address, oldest first. */
  readonly #failures = recentlyUsed<number[]>(mostAddresses);

  constructor(clock: Clock, mostPerMinute: number) {
    this.#clock = clock;
    this.#mostPerMinute = mostPerMinute;
  }

  /** Returns whether the next failure would exceed the limit. */
  isFull(address: string): boolean {
    return this.#recent(address).length >= this.#mostPerMinute;
  }

  /** Counts a failure. Returns whether it exceeds the limit. */
  count(address: string): boolean {
    const recent = this.#recent(address);
    const isTooMany = recent.length >= this.#mostPerMinute;
    if (!isTooMany) recent.push(this.#clock.elapsed());
    this.#failures.set(networkOf(address), recent);
    return isTooMany;
  }

  #recent(address: string): number[] {
    const now = this.#clock.elapsed();
    return (this.#failures.get(networkOf(address)) ?? []).filter((at) => now - at < windowMs);
  }
}
