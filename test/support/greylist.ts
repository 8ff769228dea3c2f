// A greylist by the literal triplet of client address, MAIL FROM and RCPT TO, like servers without
// rules for VERP. It refuses a triplet until `waitMs` after the first attempt.
import type { Clock } from '../../src/platform/runtime/clock.ts';

export interface Greylist {
  /** Returns the refusal of a triplet; undefined after the wait. */
  refusal(address: string, from: string, to: string): string | undefined;
}

/** Creates an empty greylist. */
export function literalGreylist(clock: Clock, waitMs: number): Greylist {
  const firstSeen = new Map<string, number>();
  return {
    refusal(address, from, to) {
      const triplet = [address, from, to].join(' ');
      const since = firstSeen.get(triplet) ?? clock.now();
      firstSeen.set(triplet, since);
      if (clock.now() - since >= waitMs) return undefined;
      return '451 4.7.1 Greylisted, please come back later';
    },
  };
}
