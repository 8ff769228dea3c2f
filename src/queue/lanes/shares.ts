// Shares: how many deliveries of one organization may be in flight at once, whatever their lanes, so
// that mail to servers which answer slowly never holds the places of all. In memory, by daemon. Times
// in here are those of `clock.elapsed()`; what goes out is told by the wall clock.
//
// | organization  | by                                      | then                                  |
// |---------------|-----------------------------------------|---------------------------------------|
// | below its     | a delivery of it is claimed             | it holds one place more               |
// | share         |                                         |                                       |
// | at its share  | another delivery of it is looked at     | that waits in a lane of its own       |
// | is waited for | an eighth of its places is free, or     | claims take what waits, oldest first  |
// |               | some, 50 ms after the last were taken   |                                       |
// | is waited for | nothing waits there any more            | below its share                       |
import type { Clock } from '../../runtime/clock.ts';
import { FairShare } from '../../runtime/fair-share.ts';
import { organizationOfShare, stopOfShare } from '../stops.ts';
import type { Admission } from './lanes.ts';

/** Deliveries claimed and not settled at once: enough for every connection, little to redo. */
export const mostInFlight = 400;
/** Claims are few and large: what has less room than this part of what it holds waits for more, */
const roomWorthAClaim = 1 / 8;
/** but not for longer. */
const fewMs = 50;
/** Looked at again after this at the latest, beside the pace in which its places became free. */
const lookAgainMs = 60_000;
const unknownServiceMs = 50;
const slowestServiceMs = 10_000;
const mostBookedDomains = 1_000;

/** An organization whose mail waits for its share. */
interface Awaited {
  /** Until when its waiting deliveries are booked, by sending domain: those take turns. */
  booked: Map<string, number>;
  takenAt: number;
  /** Milliseconds between places that it gave back, smoothed. */
  serviceMs: number | null;
  releasedAt: number | null;
}

export class Shares {
  readonly #clock: Clock;
  readonly #places: FairShare;
  /** Delivery id → the organization that holds a place by it. */
  readonly #inWork = new Map<string, string>();
  /** Few: to be here, one must have held several places at once. */
  readonly #awaited = new Map<string, Awaited>();

  constructor(clock: Clock, places = mostInFlight) {
    this.#clock = clock;
    this.#places = new FairShare(places);
  }

  /** Asks for one delivery. `begun` must follow where it goes; else it waits in `stopOfShare`. */
  admit(organizationId: string, senderDomain: string): Admission {
    if (this.#places.mayHold(organizationId)) return { goes: true };
    const until = this.#onWall(this.#book(organizationId, senderDomain));
    return { goes: false, until, waitReason: 'rate' };
  }

  begun(deliveryId: string, organizationId: string): void {
    this.#places.hold(organizationId);
    this.#inWork.set(deliveryId, organizationId);
  }

  /** The delivery is settled, or was not claimed after all. */
  released(deliveryId: string): void {
    const organizationId = this.#inWork.get(deliveryId);
    if (organizationId === undefined) return;
    this.#inWork.delete(deliveryId);
    this.#places.letGo(organizationId);
    const awaited = this.#awaited.get(organizationId);
    if (awaited) measure(awaited, this.#clock.elapsed());
  }

  /** The lanes of organizations that may have more in flight, and how much. */
  withRoom(): { lane: string; room: number }[] {
    const now = this.#clock.elapsed();
    const found: { lane: string; room: number }[] = [];
    for (const [organizationId, { takenAt }] of this.#awaited) {
      const room = this.#places.roomFor(organizationId);
      const isMuch = room >= (room + this.#places.heldBy(organizationId)) * roomWorthAClaim;
      if (room > 0 && (isMuch || now - takenAt >= fewMs)) {
        found.push({ lane: stopOfShare(organizationId), room });
      }
    }
    return found;
  }

  /** A claim takes what waits in this lane; `isDrained`: all of it. */
  taken(lane: string, isDrained: boolean): void {
    const organizationId = organizationOfShare(lane) ?? '';
    const awaited = this.#awaited.get(organizationId);
    if (isDrained) this.#awaited.delete(organizationId);
    else if (awaited) awaited.takenAt = this.#clock.elapsed();
  }

  /** Some organization's mail waits and has room: now, or by `nextRoomAt`. */
  isAwaited(): boolean {
    for (const id of this.#awaited.keys()) if (this.#places.roomFor(id) > 0) return true;
    return false;
  }

  /** When room that is too little to be taken at once is taken all the same (ms since 1970), or null. */
  nextRoomAt(): number | null {
    let next: number | null = null;
    for (const [organizationId, { takenAt }] of this.#awaited) {
      if (this.#places.roomFor(organizationId) === 0) continue;
      const at = takenAt + fewMs;
      if (next === null || at < next) next = at;
    }
    return next === null ? null : this.#onWall(next);
  }

  /** Books the next in the calendar of its sending domain; by the steady clock. */
  #book(organizationId: string, senderDomain: string): number {
    const now = this.#clock.elapsed();
    let awaited = this.#awaited.get(organizationId);
    if (!awaited) {
      awaited = { booked: new Map(), takenAt: now, serviceMs: null, releasedAt: null };
      this.#awaited.set(organizationId, awaited);
    }
    const { booked, serviceMs } = awaited;
    const earliest = now + lookAgainMs;
    const stepMs = Math.max(1, serviceMs ?? unknownServiceMs);
    const until = Math.max(earliest, booked.get(senderDomain) ?? 0) + stepMs;
    booked.delete(senderDomain);
    booked.set(senderDomain, until);
    const [oldest] = booked.keys();
    if (booked.size > mostBookedDomains && oldest !== undefined) booked.delete(oldest);
    return until;
  }

  /** A time in here as ms since 1970. */
  #onWall(elapsed: number): number {
    return Math.ceil(this.#clock.now() + elapsed - this.#clock.elapsed());
  }
}

function measure(awaited: Awaited, now: number): void {
  const { releasedAt, serviceMs } = awaited;
  if (releasedAt !== null) {
    const sinceMs = Math.min(slowestServiceMs, now - releasedAt);
    awaited.serviceMs = serviceMs === null ? sinceMs : serviceMs * 0.95 + sinceMs * 0.05;
  }
  awaited.releasedAt = now;
}
