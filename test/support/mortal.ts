// A service that dies at a transaction: after it, it writes nothing and its waits never end.
// Committed transactions stay, an open transaction is lost.
import type { App } from '../../src/core/app.ts';
import type { Store } from '../../src/platform/store/db.ts';
import { watchWrites } from './watched-writes.ts';

/** Time of the death; `within` is at the end of the transaction, before the commit. */
export const moments = ['before', 'within', 'after'] as const;

export interface KillPoint {
  moment: (typeof moments)[number];
  /** Number of the transaction, from 1. */
  nth: number;
}

const never = () => new Promise<never>(() => {});

/** Kills `app` at this point. Resolves when it is dead and all earlier commits are done. */
export function mortal(app: App, { moment, nth }: KillPoint): Promise<void> {
  const { promise, resolve: die } = Promise.withResolvers<void>();
  const settled = watchWrites(app.store);
  const { write } = app.store;
  const end = async () => {
    await settled();
    die();
    return never();
  };
  let seen = 0;
  const dying: Store['write'] = async (work, durability) => {
    seen += 1;
    if (seen > nth || (seen === nth && moment === 'before')) return end();
    if (seen < nth) return write(work, durability);
    const fate = new Error('it died within its transaction');
    await write(async (trx) => {
      const result = await work(trx);
      if (moment === 'within') throw fate;
      return result;
    }, durability).catch((error: unknown) => {
      if (error !== fate) throw error;
    });
    return end();
  };
  Object.assign(app.store, { write: dying });
  return promise;
}
