// What an endpoint leaves behind when it is disabled or deleted: a million deliveries may wait for a dead
// one, so they go in transactions of a bounded size, between which others write.
import type { App } from '../app.ts';
import type { Db } from '../store/db.ts';
import { moveCounts } from './counters.ts';
import { cancelSome, deleteSome } from './queries.ts';

const mostPerTransaction = 1_000;

/** Runs `some` in transactions of its own, or in that of the caller, until it finds nothing more. */
async function untilNone(
  app: App,
  trx: Db | undefined,
  some: (trx: Db) => Promise<number>,
): Promise<void> {
  for (;;) {
    const count = trx ? await some(trx) : await app.store.write(some);
    if (count < mostPerTransaction) return;
  }
}

/** Cancels what waits for a disabled endpoint. Again is no error. */
export function cancelPending(app: App, endpointId: string): Promise<void> {
  return untilNone(app, undefined, async (trx) => {
    const made = await cancelSome(trx, endpointId, app.clock.now(), mostPerTransaction);
    moveCounts(
      trx,
      made.map((madeAt) => ({ endpointId, madeAt, from: 'pending', to: 'cancelled' })),
    );
    return made.length;
  });
}

/** Removes all deliveries of an endpoint with their attempts; counts nothing. */
export function deleteDeliveries(app: App, endpointId: string, trx?: Db): Promise<void> {
  return untilNone(app, trx, (each) => deleteSome(each, endpointId, mostPerTransaction));
}
