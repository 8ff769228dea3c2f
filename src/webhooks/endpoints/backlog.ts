// The backlog of an endpoint that is disabled or deleted by hand. A million deliveries may wait for
// a dead endpoint, so they are removed in bounded transactions: other writes run in between.
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';
import { deleteSome } from '../deliveries/delivery-queries.ts';
import { cancelSome } from './disable.ts';

const mostPerTransaction = 1_000;

/**
 * Cancels waiting deliveries of a disabled endpoint. Claimed deliveries end with their attempt. If
 * this process ends first, the loop of a daemon continues.
 */
export async function cancelPending(app: App, endpointId: string): Promise<void> {
  while (await app.store.write((trx) => cancelSome(app, trx, endpointId)));
}

/** Removes all deliveries of an endpoint with their attempts, without updating the counters. */
export async function deleteBacklog(app: App, endpointId: string, trx?: Db): Promise<void> {
  const some = (each: Db) => deleteSome(each, endpointId, mostPerTransaction);
  for (;;) {
    const count = trx ? await some(trx) : await app.store.write(some);
    if (count < mostPerTransaction) return;
  }
}
