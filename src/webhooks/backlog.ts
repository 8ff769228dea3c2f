// What an endpoint leaves behind when it is disabled or deleted by hand: a million deliveries may wait for a
// dead one, so they go in transactions of a bounded size, between which others write.
import type { App } from '../app.ts';
import type { Db } from '../store/db.ts';
import { deleteSome } from './delivery-queries.ts';
import { cancelSome } from './disable.ts';

const mostPerTransaction = 1_000;

/**
 * Cancels what waits for a disabled endpoint. What a daemon has claimed ends by its attempt, and where
 * this process ends first, the loop of a daemon goes on.
 */
export async function cancelPending(app: App, endpointId: string): Promise<void> {
  while (await app.store.write((trx) => cancelSome(app, trx, endpointId)));
}

/** Removes all deliveries of an endpoint with their attempts; counts nothing. */
export async function deleteBacklog(app: App, endpointId: string, trx?: Db): Promise<void> {
  const some = (each: Db) => deleteSome(each, endpointId, mostPerTransaction);
  for (;;) {
    const count = trx ? await some(trx) : await app.store.write(some);
    if (count < mostPerTransaction) return;
  }
}
