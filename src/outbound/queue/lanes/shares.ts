// Shares limit how many deliveries of an organization are in flight at once, in all lanes together,
// so that slow servers of an organization never hold all places. Each daemon keeps them in memory.
// Times in this file are those of `clock.elapsed()`; returned times are of the wall clock.
//
// | organization  | event                                    | next                                  |
// |---------------|------------------------------------------|---------------------------------------|
// | below its     | a delivery is claimed                    | holds an additional place             |
// | share         |                                          |                                       |
// | at its share  | a claim finds a further delivery         | the delivery waits in a separate lane |
// | awaited       | an eighth of the places is free, or      | claims take waiting mail, oldest      |
// |               | some, 50 ms after the last were taken    | first                                 |
// | awaited       | no delivery waits there any more         | below its share                       |
import type { Clock } from '../../../platform/runtime/clock.ts';
import { FairShare } from '../../../platform/runtime/fairness/fair-share.ts';
import { organizationOfShare, stopOfShare } from '../claiming/stops.ts';
import type { Admission } from './lanes.ts';

/**
 * Most claimed, unsettled deliveries: enough for every connection, but few to repeat after a crash.
 */
export const mostInFlight = 400;
/**
 * Fraction of the share that an organization must have free before waiting mail is claimed, so
 * that claims are few and large.
 */
const roomWorthAClaim = 1 / 8;
/** Longest wait for that fraction, in ms. Later any free place is enough. */
const fewMs = 50;
/**
 * Added to reserved times in ms; these times follow the pace at which places become free. Usually a
 * free place wakes waiting mail long before.
 */
const lookAgainMs = 60_000;
const unknownServiceMs = 50;
const slowestServiceMs = 10_000;
const mostBookedDomains = 1_000;

/** An organization with deliveries that wait for the share. */
interface Awaited {
  /** Last reserved time by sending domain; the domains take turns. */
  booked: Map<string, number>;
  takenAt: number;
  /** Milliseconds between released places, smoothed. */
  serviceMs: number | null;
  releasedAt: number | null;
}

export class Shares {
  readonly #clock: Clock;
  readonly #places: FairShare;
  /** The organization that holds a place, by the id of the delivery. */
  readonly #inWork = new Map<string, string>();
  /** Organizations with waiting mail. They are few: each has held several places at once. */
  readonly #awaited = new Map<string, Awaited>();

  constructor(clock: Clock, places = mostInFlight) {
    this.#clock = clock;
    this.#places = new FairShare(places);
  }

  /**
   * Decides whether a delivery may be attempted now. If so, the caller must call `begun`; if not,
   * the delivery waits in the lane that `stopOfShare` names.
   */
  admit(organizationId: string, senderDomain: string): Admission {
    if (this.#places.mayHold(organizationId)) return { goes: true };
    const until = this.#onWall(this.#book(organizationId, senderDomain));
    return { goes: false, until, waitReason: 'rate' };
  }

  begun(deliveryId: string, organizationId: string): void {
    this.#places.hold(organizationId);
    this.#inWork.set(deliveryId, organizationId);
  }

  /** Frees the place of a delivery that is settled or was not claimed after all. */
  released(deliveryId: string): void {
    const organizationId = this.#inWork.get(deliveryId);
    if (organizationId === undefined) return;
    this.#inWork.delete(deliveryId);
    this.#places.letGo(organizationId);
    const awaited = this.#awaited.get(organizationId);
    if (awaited) measure(awaited, this.#clock.elapsed());
  }

  /**
   * Returns the lanes from which a claim may take mail that waits for the share, with the free
   * places of each organization.
   */
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

  /** Records a claim from this lane. `isDrained`: no further delivery waits in the lane. */
  taken(lane: string, isDrained: boolean): void {
    const organizationId = organizationOfShare(lane) ?? '';
    const awaited = this.#awaited.get(organizationId);
    if (isDrained) this.#awaited.delete(organizationId);
    else if (awaited) awaited.takenAt = this.#clock.elapsed();
  }

  /** Tells whether any organization with waiting mail has a free place. */
  isAwaited(): boolean {
    for (const id of this.#awaited.keys()) if (this.#places.roomFor(id) > 0) return true;
    return false;
  }

  /**
   * Time from which even a few free places are used (ms since 1970), or null without a free place.
   * A claim before that time leaves them for a larger claim.
   */
  nextRoomAt(): number | null {
    let next: number | null = null;
    for (const [organizationId, { takenAt }] of this.#awaited) {
      if (this.#places.roomFor(organizationId) === 0) continue;
      const at = takenAt + fewMs;
      if (next === null || at < next) next = at;
    }
    return next === null ? null : this.#onWall(next);
  }

  /** Reserves the next time for a delivery of the sending domain, by the monotonic clock. */
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

  /** Converts a time of this file to ms since 1970. */
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
