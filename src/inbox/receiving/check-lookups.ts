// Limits the DNS look-ups of a check of a mail: their number, the time of each, and the total time.
// Beyond a limit only this check sees DNS trouble, so a sender cannot use up the look-ups of a
// different check.
import { type Clock, within } from '../../platform/runtime/clock.ts';

/** Answers like `dns.promises.resolve`. Rejects with `code` ENOTFOUND, ENODATA, or a fault. */
export type AuthResolver = (name: string, type: string) => Promise<string[] | string[][]>;

/** Time of one look-up: as long as `Dns.resolveSoon` queries a server. */
export const lookupMs = 1_500;

interface LookupBounds {
  /** Most distinct questions. A repeated question gets the first answer. */
  most: number;
  /** Milliseconds for each question. */
  eachMs: number;
  /** Milliseconds for all questions, from the first on. */
  allMs: number;
}

interface CheckLookups {
  resolve: AuthResolver;
  /** Lets further questions run until `ms` milliseconds from now. */
  extend(ms: number): void;
}

function dnsFault(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** Treats an invalid name as missing, so that a sender cannot cause a `temperror` with it. */
function asLookupFault(error: unknown): unknown {
  const isBadName = error instanceof Error && 'code' in error && error.code === 'EBADNAME';
  return isBadName ? dnsFault('ENOTFOUND') : error;
}

/**
 * Wraps a resolver in limits. Rejects with ETIMEOUT after a time limit, and with EREFUSED for a new
 * question after `most` questions.
 */
export function boundLookups(
  resolver: AuthResolver,
  clock: Clock,
  { most, eachMs, allMs }: LookupBounds,
): CheckLookups {
  const asked = new Map<string, ReturnType<AuthResolver>>();
  let endsAt: number | null = null;

  async function ask(name: string, type: string): Promise<string[] | string[][]> {
    endsAt ??= clock.elapsed() + allMs;
    const waitMs = Math.min(eachMs, endsAt - clock.elapsed());
    if (waitMs <= 0) throw dnsFault('ETIMEOUT');
    try {
      return await within(clock, waitMs, resolver(name, type), () => dnsFault('ETIMEOUT'));
    } catch (error) {
      throw asLookupFault(error);
    }
  }

  return {
    resolve(name, type) {
      const key = `${type} ${name.toLowerCase()}`;
      const known = asked.get(key);
      if (known) return known;
      if (asked.size >= most) return Promise.reject(dnsFault('EREFUSED'));
      const answer = ask(name, type);
      asked.set(key, answer);
      return answer;
    },
    extend(ms) {
      endsAt = clock.elapsed() + ms;
    },
  };
}
