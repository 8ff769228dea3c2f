// Which deliveries go next: some of each endpoint that has any due, so that one with a million of them, or
// one that hangs, leaves the others as they were. Replays go after what is live.
import type { App } from '../app.ts';
import type { Db } from '../store/db.ts';
import { cancelClaimed, claimDue, type EndpointWork } from './delivery-queries.ts';
import { countCancelled } from './disable.ts';
import { findEndpoints } from './queries.ts';
import type { DeliveryRow, EndpointRow } from './rows.ts';
import { isOfBefore } from './settle.ts';

/** How many deliveries of an endpoint may be taken now. */
export interface Wish {
  endpointId: string;
  isReplay: boolean;
  limit: number;
  /** When the first of them was due. */
  dueAt: number;
}

export interface Claimed {
  delivery: DeliveryRow;
  endpoint: EndpointRow;
  leaseUntil: number;
}

export interface ClaimOptions {
  worker: string;
  leaseUntil: number;
}

/** What of an endpoint there is room for. */
export type RoomOf = (work: EndpointWork, isReplay: boolean) => number;

/**
 * Whom to take from, in turn from after `last`: what is live of all endpoints first, then, where
 * `total` has room left, replays.
 */
export function chooseWishes(
  work: readonly EndpointWork[],
  { now, last, total, roomOf }: { now: number; last: string; total: number; roomOf: RoomOf },
): Wish[] {
  const turns = [...work.filter(({ id }) => id > last), ...work.filter(({ id }) => id <= last)];
  const wishes: Wish[] = [];
  let left = total;
  for (const isReplay of [false, true]) {
    for (const one of turns) {
      const dueAt = isReplay ? one.replay_due : one.live_due;
      if (left <= 0 || one.status === 'disabled' || dueAt === null || dueAt > now) continue;
      if (isReplay && one.live_due !== null && one.live_due <= now) continue;
      const limit = Math.min(left, roomOf(one, isReplay));
      if (limit <= 0) continue;
      left -= limit;
      wishes.push({ endpointId: one.id, isReplay, limit, dueAt });
    }
  }
  return wishes;
}

/** Leases what is wished for; what is of before its endpoint was disabled is cancelled instead. */
export async function claim(
  app: App,
  trx: Db,
  wishes: readonly Wish[],
  { worker, leaseUntil }: ClaimOptions,
): Promise<Claimed[]> {
  const now = app.clock.now();
  const rows: DeliveryRow[] = [];
  for (const { endpointId, isReplay, limit } of inOrder(wishes)) {
    const values = { endpointId, isReplay: Number(isReplay), now, leaseUntil, worker, limit };
    rows.push(...(await claimDue(trx, values)));
  }
  if (rows.length === 0) return [];
  const endpoints = await findEndpoints(trx, [...new Set(rows.map((row) => row.endpoint_id))]);
  const claimed: Claimed[] = [];
  const over: string[] = [];
  for (const delivery of rows.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const endpoint = endpoints.get(delivery.endpoint_id);
    const isOver =
      !endpoint || endpoint.status === 'disabled' || isOfBefore(endpoint, delivery.created_at);
    if (isOver) over.push(delivery.id);
    else claimed.push({ delivery, endpoint, leaseUntil });
  }
  if (over.length > 0) countCancelled(trx, await cancelClaimed(trx, worker, over, now));
  return claimed;
}

function inOrder(wishes: readonly Wish[]): Wish[] {
  const key = ({ endpointId, isReplay }: Wish) => `${endpointId} ${Number(isReplay)}`;
  return wishes.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}
