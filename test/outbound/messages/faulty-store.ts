// A store with writes that fail, are late, or crash their process: the faults that an idempotency
// key must survive. Wraps a real store; its commits are real.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CapacityError } from '../../../src/platform/errors.ts';
import type { Store } from '../../../src/platform/store/db.ts';

export const writeFaults = [
  'fails before it begins',
  'fails within',
  'fails after the commit',
  'waits within',
  'crashes before it begins',
  'crashes within',
  'crashes after the commit',
] as const;
export type WriteFault = (typeof writeFaults)[number];

export interface FaultyStore {
  store: Store;
  /** Resolves at the crash; from then on no write is answered. */
  crashed: Promise<'crashed'>;
  /** Resolves when no write is under way in the real store. */
  idle(): Promise<void>;
}

const turnsWithin = 12;

/** Wraps `real`; `next` chooses the fault of each write, null for none. */
export function faultyStore(real: Store, next: () => WriteFault | null): FaultyStore {
  const crash = Promise.withResolvers<'crashed'>();
  let isDead = false;
  const running = new Set<Promise<unknown>>();
  const die = () => {
    isDead = true;
    crash.resolve('crashed');
  };
  const silence = () => new Promise<never>(() => {});

  const write: Store['write'] = async (work, durability) => {
    if (isDead) return silence();
    const fault = next();
    if (fault === 'crashes before it begins') {
      die();
      return silence();
    }
    if (fault === 'fails before it begins') throw new CapacityError('injected: before');
    const written = real.write(async (trx) => {
      if (isDead) throw undone();
      const value = await work(trx);
      if (fault === 'waits within') for (let i = 0; i < turnsWithin; i++) await nextTurn();
      if (fault === 'crashes within') die();
      if (isDead) throw undone();
      if (fault === 'fails within') throw new Error('injected: within');
      return value;
    }, durability);
    const done = written.catch(() => {});
    running.add(done);
    void done.then(() => running.delete(done));
    try {
      const value = await written;
      if (fault === 'crashes after the commit') die();
      if (isDead) return await silence();
      if (fault === 'fails after the commit') throw new CapacityError('injected: after');
      return value;
    } catch (error) {
      return isDead ? silence() : Promise.reject(error);
    }
  };

  return {
    store: { ...real, write },
    crashed: crash.promise,
    async idle() {
      await Promise.all(running);
    },
  };
}

/**
 * Returns an error as SQLite throws it: it undoes the whole transaction, also for other writes in
 * it.
 */
function undone(): Error {
  return Object.assign(new Error('injected: crash'), { code: 'SQLITE_IOERR' });
}
