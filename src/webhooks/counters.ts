// Counts of deliveries by endpoint and quarter hour (specification 2.14), updated in the
// transaction that changes a delivery. A delivery counts in the quarter hour of its creation,
// whenever it changes. stats.ts computes days on request.
import type { Db } from '../platform/store/db.ts';
import { type LastWrite, lastly } from '../platform/store/last-writes.ts';
import { addToCounters } from './counter-queries.ts';
import type { CounterRow, DeliveryStatus } from './rows.ts';

const quarterMs = 900_000;

/** Change of a delivery's status. */
export interface Move {
  endpointId: string;
  /** When the delivery was made, ms since 1970. */
  madeAt: number;
  /** Previous status; null for a new delivery. */
  from: DeliveryStatus | null;
  /** New status; null for a removed delivery. */
  to: DeliveryStatus | null;
}

class CounterMoves implements LastWrite {
  readonly #rows = new Map<string, CounterRow>();

  add({ endpointId, madeAt, from, to }: Move): void {
    const quarter = madeAt - (madeAt % quarterMs);
    const key = `${endpointId} ${quarter}`;
    let row = this.#rows.get(key);
    if (!row) {
      const none = { pending: 0, delivered: 0, exhausted: 0, cancelled: 0 };
      row = { endpoint_id: endpointId, quarter, ...none };
      this.#rows.set(key, row);
    }
    if (from) row[from]--;
    if (to) row[to]++;
  }

  async write(trx: Db): Promise<void> {
    const sorted = [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1));
    await addToCounters(
      trx,
      sorted.map(([, row]) => row),
    );
  }
}

/** Counts the moves at the end of the transaction, those of a quarter hour together. */
export function moveCounts(trx: Db, moves: readonly Move[]): void {
  if (moves.length === 0) return;
  const gathered = lastly(trx, 'webhook_counters', () => new CounterMoves());
  for (const move of moves) gathered.add(move);
}
