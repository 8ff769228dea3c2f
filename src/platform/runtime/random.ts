// The source of randomness for the whole service: the operating system in production, a seeded
// generator in tests, so that a failing run can be repeated with the printed seed.
import { randomFillSync } from 'node:crypto';

export interface Random {
  /** Returns `count` random bytes. */
  bytes(count: number): Uint8Array;
  /** Returns a float in [0, 1), for jitter and choices, never for secrets. */
  float(): number;
}

const poolBytes = 8192;

/**
 * Creates a source that reads blocks of random bytes from the operating system: a system call
 * suffices for about 500 ids.
 */
export function systemRandom(): Random {
  const pool = new Uint8Array(poolBytes);
  let used = poolBytes;
  return {
    bytes(count) {
      if (count > poolBytes) return randomFillSync(new Uint8Array(count));
      if (used + count > poolBytes) {
        randomFillSync(pool);
        used = 0;
      }
      const taken = pool.slice(used, used + count);
      pool.fill(0, used, used + count);
      used += count;
      return taken;
    },
    float: () => Math.random(),
  };
}

/** Creates a repeatable source (mulberry32). Only for tests and simulations, never for keys. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    bytes: (count) => Uint8Array.from({ length: count }, () => next() & 0xff),
    float: () => next() / 2 ** 32,
  };
}
