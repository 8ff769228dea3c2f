// Counts of deliveries by endpoint and quarter hour (specification 2.14), updated in the
// transaction that changes a delivery. A delivery counts in the quarter hour of creation,
// whenever it changes. stats.ts computes days on request.
import type { Db } from '../../platform/store/db.ts';
import type { DeliveryStatus } from '../rows.ts';
import { deliveryCounts } from './counter-queries.ts';

const quarterMs = 900_000;

/** Change of a delivery's status. */
export interface Move {
  endpointId: string;
  /** Time at which the delivery was made, ms since 1970. */
  madeAt: number;
  /** Previous status; null for a new delivery. */
  from: DeliveryStatus | null;
  /** New status; null for a removed delivery. */
  to: DeliveryStatus | null;
}

/** Counts the moves at the end of the transaction. */
export function moveCounts(trx: Db, moves: readonly Move[]): void {
  for (const { endpointId, madeAt, from, to } of moves) {
    const key = { endpoint_id: endpointId, quarter: madeAt - (madeAt % quarterMs) };
    if (from) deliveryCounts.add(trx, key, { [from]: -1 });
    if (to) deliveryCounts.add(trx, key, { [to]: 1 });
  }
}
