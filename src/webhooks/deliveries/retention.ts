// Deletes deliveries, attempts, bodies and counts after 90 days, in batches.
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import type { Db } from '../../platform/store/db.ts';
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

/**
 * Deletes rows of webhooks that are older than 90 days. Deliveries that have not ended stay.
 * Returns the number of deleted rows.
 */
export async function sweepWebhooks(app: App): Promise<number> {
  const time = await timeOfAge(app, keptMs);
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

/**
 * Deletes old deliveries. Subtracts them from the counters, because lists show the sum of the
 * counters as their total.
 */
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
