// The DNS as one check of a mail sees it: so many questions, so long for each, so long for all. What
// a check runs out of is DNS trouble of that check alone: no sender can starve one by another.
import type { Clock } from '../runtime/clock.ts';

/** Answers like `dns.promises.resolve`; rejects with `code` ENOTFOUND, ENODATA, or a fault. */
export type AuthResolver = (name: string, type: string) => Promise<string[] | string[][]>;

/** One look-up; as long as `Dns.resolveSoon` asks a server. */
export const lookupMs = 1_500;

interface LookupBounds {
  /** Different questions; a repeated one has the answer of the first. */
  most: number;
  /** Milliseconds for one. */
  eachMs: number;
  /** Milliseconds for all together, from the first on. */
  allMs: number;
}

interface CheckLookups {
  resolve: AuthResolver;
  /** Lets what is not answered yet be asked for so many milliseconds more. */
  extend(ms: number): void;
}

function dnsFault(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** A name that cannot be asked for does not exist: whoever wrote it gains no doubt by it. */
function asLookupFault(error: unknown): unknown {
  const isBadName = error instanceof Error && 'code' in error && error.code === 'EBADNAME';
  return isBadName ? dnsFault('ENOTFOUND') : error;
}

/** A resolver within bounds; beyond them it rejects with ETIMEOUT or EREFUSED, later questions too. */
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
    const late = Promise.withResolvers<never>();
    const cancel = clock.after(waitMs, () => late.reject(dnsFault('ETIMEOUT')));
    try {
      return await Promise.race([resolver(name, type), late.promise]);
    } catch (error) {
      throw asLookupFault(error);
    } finally {
      cancel();
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
