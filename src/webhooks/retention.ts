// Deliveries, attempts and bodies are kept for 90 days, then they go in batches.
import type { App } from '../app.ts';
import type { Db } from '../store/db.ts';
import {
  deleteDeliveries,
  deleteOldAttempts,
  deleteOldBodies,
  idsOfOldDeliveries,
} from './delivery-queries.ts';

const keptMs = 90 * 24 * 3600_000;
const batch = 500;

/** For the scheduler, each day. A delivery that has not ended stays. Returns how many rows went. */
export async function sweepWebhooks(app: App): Promise<number> {
  const time = app.clock.now() - keptMs;
  const works: readonly ((trx: Db) => Promise<number>)[] = [
    async (trx) => {
      const ids = await idsOfOldDeliveries(trx, time, batch);
      await deleteDeliveries(trx, ids);
      return ids.length;
    },
    (trx) => deleteOldAttempts(trx, time, batch),
    (trx) => deleteOldBodies(trx, time, batch),
  ];
  let gone = 0;
  for (const work of works) {
    let some: number;
    do {
      some = await app.store.write(work, 'quiet');
      gone += some;
    } while (some === batch);
  }
  return gone;
}
