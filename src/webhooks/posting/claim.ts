// Chooses the next deliveries. Organizations take turns, and so do the endpoints of each: an
// endpoint with a million deliveries, or a hanging endpoint, does not delay the rest. Live
// deliveries go before replays.
import type { App } from '../../core/app.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import {
  cancelClaimed,
  claimDue,
  type EndpointWork,
  releaseDeliveries,
} from '../deliveries/delivery-queries.ts';
import { countCancelled } from '../endpoints/disable.ts';
import { findEndpoints } from '../endpoints/queries.ts';
import { webhookTest } from '../events.ts';
import type { DeliveryRow, EndpointRow } from '../rows.ts';
import type { Holder } from './places.ts';
import { isOfBefore } from './settle.ts';

/**
 * Plan to claim up to `limit` deliveries of an endpoint, with as many reserved places (places.ts).
 */
export interface Wish extends Holder {
  endpointId: string;
  isReplay: boolean;
  limit: number;
  /** Due time of the first delivery to claim, ms since 1970. */
  dueAt: number;
}

export interface Claimed {
  delivery: DeliveryRow;
  endpoint: EndpointRow;
}

export interface ClaimOptions {
  worker: string;
  /** Claims deliveries with `due_at` up to this time, including claims with an expired lease. */
  dueTo: number;
  leaseUntil: number;
}

/** Reserves places for deliveries of an endpoint, up to the limits; null if no place is free. */
export type Reserve = (
  work: EndpointWork,
  isReplay: boolean,
) => (Holder & Pick<Wish, 'limit'>) | null;

/**
 * Chooses the endpoints to claim for. Begins after the endpoint `last`. Reserves places for live
 * deliveries of all endpoints first, then for replays of endpoints without a due live delivery.
 */
export function chooseWishes(
  work: readonly EndpointWork[],
  { now, last, reserve }: { now: number; last: string; reserve: Reserve },
): Wish[] {
  const isDue = (dueAt: number | null) => dueAt !== null && dueAt <= now;
  const due = work.filter(
    (one) => one.status === 'active' && (isDue(one.live_due) || isDue(one.replay_due)),
  );
  const turns = inTurn(due, last);
  const wishes: Wish[] = [];
  for (const isReplay of [false, true]) {
    for (const one of turns) {
      const dueAt = isReplay ? one.replay_due : one.live_due;
      if (dueAt === null || dueAt > now) continue;
      if (isReplay && isDue(one.live_due)) continue;
      const reserved = reserve(one, isReplay);
      if (reserved) wishes.push({ endpointId: one.id, isReplay, dueAt, ...reserved });
    }
  }
  return wishes;
}

/** Orders endpoints: the first of each organization, then the second of each, and so on. */
function inTurn(work: readonly EndpointWork[], last: string): EndpointWork[] {
  const rotated = [...work.filter(({ id }) => id > last), ...work.filter(({ id }) => id <= last)];
  const rounds = new Map<string, number>();
  const placed = rotated.map((one) => {
    const round = rounds.get(one.organization_id) ?? 0;
    rounds.set(one.organization_id, round + 1);
    return { one, round };
  });
  return placed.sort((a, b) => a.round - b.round).map(({ one }) => one);
}

/**
 * Leases due deliveries of these endpoints, and returns the deliveries to post. Releases deliveries
 * of suspended endpoints. Cancels deliveries made before the endpoint was disabled, and deliveries
 * of events that an installation may no longer receive.
 */
export async function claim(
  app: App,
  trx: Db,
  wishes: readonly Wish[],
  { worker, dueTo, leaseUntil }: ClaimOptions,
): Promise<Claimed[]> {
  const now = app.clock.now();
  const rows: DeliveryRow[] = [];
  for (const { endpointId, isReplay, limit } of inOrder(wishes)) {
    const values = {
      endpointId,
      isReplay: Number(isReplay),
      now: dueTo,
      leaseUntil,
      worker,
      limit,
    };
    rows.push(...(await claimDue(trx, values)));
  }
  if (rows.length === 0) return [];
  const endpoints = await findEndpoints(trx, [...new Set(rows.map((row) => row.endpoint_id))]);
  const claimed: Claimed[] = [];
  const over: string[] = [];
  const kept: string[] = [];
  for (const delivery of rows.sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const endpoint = endpoints.get(delivery.endpoint_id);
    const isOver =
      !endpoint || endpoint.status === 'disabled' || isOfBefore(endpoint, delivery.created_at);
    if (isOver || isTaken(endpoint, delivery)) over.push(delivery.id);
    else if (endpoint.status === 'suspended') kept.push(delivery.id);
    else claimed.push({ delivery, endpoint });
  }
  // Releases deliveries of an endpoint that was suspended after the loop read it.
  if (kept.length > 0) await releaseDeliveries(trx, worker, kept, now);
  if (over.length > 0) countCancelled(trx, await cancelClaimed(trx, worker, over, now));
  return claimed;
}

/** Tells whether the installation of an endpoint may no longer receive this event. */
function isTaken({ installation_id, events }: EndpointRow, { event_type }: DeliveryRow): boolean {
  if (installation_id === null || event_type === webhookTest.type) return false;
  return !fromJson<string[]>(events).includes(event_type);
}

function inOrder(wishes: readonly Wish[]): Wish[] {
  const key = ({ endpointId, isReplay }: Wish) => `${endpointId} ${Number(isReplay)}`;
  return wishes.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
}
