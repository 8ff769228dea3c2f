// Deliveries, attempts, bodies and counts are kept for 90 days, then they go in batches.
import type { App } from '../app.ts';
import type { Db } from '../store/db.ts';
import { moveCounts } from './counters.ts';
import { deleteDeliveries } from './delivery-queries.ts';
import {
  deleteOldAttempts,
  deleteOldBodies,
  deleteOldCounters,
  oldDeliveries,
} from './retention-queries.ts';

const keptMs = 90 * 24 * 3600_000;
const batch = 500;

/** For the scheduler, each day. A delivery that has not ended stays. Returns how many rows went. */
export async function sweepWebhooks(app: App): Promise<number> {
  const time = app.clock.now() - keptMs;
  const works: readonly ((trx: Db) => Promise<number>)[] = [
    (trx) => deleteOld(trx, time),
    (trx) => deleteOldAttempts(trx, time, batch),
    (trx) => deleteOldBodies(trx, time, batch),
    (trx) => deleteOldCounters(trx, time, batch),
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

/** What is gone counts no more: the total of a list is the sum of the counts. */
async function deleteOld(trx: Db, time: number): Promise<number> {
  const rows = await oldDeliveries(trx, time, batch);
  await deleteDeliveries(
    trx,
    rows.map(({ id }) => id),
  );
  moveCounts(
    trx,
    rows.map((row) => {
      const { endpoint_id: endpointId, created_at: madeAt, status } = row;
      return { endpointId, madeAt, from: status, to: null };
    }),
  );
  return rows.length;
}
