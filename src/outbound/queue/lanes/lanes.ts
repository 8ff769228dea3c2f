// Lanes limit how many deliveries go to a destination at once, and how fast. A lane is a provider,
// a set of MX hosts, or a relay; domains with the same lane share its limits. Kept in memory, so a
// restart begins slowly. Times in this file are those of `clock.elapsed()`, which cannot be set;
// returned times are of the wall clock. lane.ts has the states of a lane.

import {
  dividedRules,
  type LaneRule,
  laneOfHosts,
  type Providers,
} from '../../../mail/smtp/providers.ts';
import type { Provider } from '../../../mail/smtp/providers-schema.ts';
import type { Clock } from '../../../platform/runtime/clock.ts';
import type { Random } from '../../../platform/runtime/random.ts';
import { recentlyUsed } from '../../../platform/runtime/recently-used.ts';
import type { WaitReason } from '../../deliveries/status.ts';
import {
  book,
  changeRules,
  closeAsReported,
  divideRules,
  type Lane,
  type LaneSignal,
  minuteMs,
  newLane,
  pay,
  recordEnd,
  refill,
  slowAsReported,
} from './lane.ts';

const mostLanes = 50_000;
const mostLearntDomains = 200_000;
/** Time since the last accepted message within which a lane counts as busy. */
const busyMs = 100;
/** Time since the last use within which a lane is reported: its pace is shown for 20 s. */
const quietAfterMs = 25_000;

/**
 * Decision on a delivery: attempt it now, or wait until a time (ms since 1970), with the reason.
 */
export type Admission = { goes: true } | { goes: false; until: number; waitReason: WaitReason };

/** A lane in the form that `svc queue top` shows. */
export interface LaneState {
  lane: string;
  inFlight: number;
  window: number;
  perMinute: number | null;
  closedUntil: number | null;
  /** Set if a rate limit closed the lane last. */
  isRefused: boolean;
  /** Rate limits so far. */
  slowed: number;
  /** Connections above the quota of this daemon, which are closed gradually. */
  surplus: number;
  waiting: boolean;
  taken: number;
}

export class Lanes {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #providers: Providers;
  readonly #lanes = recentlyUsed<Lane>(mostLanes);
  readonly #domains = recentlyUsed<string>(mostLearntDomains);
  /** The lane that counts a delivery, by the id of the delivery. */
  readonly #inWork = new Map<string, { name: string; begunAt: number }>();
  /** Lanes in use now or lately. The work of a report grows with these, not with all lanes. */
  readonly #busy = new Map<string, Lane>();
  /** Lanes with waiting deliveries. */
  readonly #waiting = new Set<string>();
  /**
   * Lanes of `#waiting` that only other daemons have reported. The report of this daemon leaves
   * them out.
   */
  readonly #waitingElsewhere = new Set<string>();
  #surplus: Readonly<Record<string, number>> = {};
  /** Lanes that accepted their first message, or the first message after a failed connection. */
  #reached = new Set<string>();

  constructor(clock: Clock, random: Random, providers: Providers) {
    this.#clock = clock;
    this.#random = random;
    this.#providers = providers;
  }

  /**
   * Applies replaced rules of providers to all lanes. A domain with a changed provider moves to the
   * new lane with the next mail.
   */
  changeRules(): void {
    const now = this.#clock.elapsed();
    for (const lane of this.#lanes.values()) {
      changeRules(lane, this.#rulesOf(lane.name, this.#providers.ofLane(lane.name)), now);
    }
  }

  /** Applies the quota of this daemon to the limits of all lanes. */
  divide(): void {
    const now = this.#clock.elapsed();
    for (const lane of this.#lanes.values()) {
      divideRules(lane, this.#rulesOf(lane.name, this.#providers.ofLane(lane.name)), now);
    }
  }

  /** Records the connections above the limits, by lane. */
  exceeded(surplus: Readonly<Record<string, number>>): void {
    this.#surplus = surplus;
  }

  /** Returns the lane and the limits for a set of MX hosts; for the transport. */
  ruleFor(hosts: readonly { name: string }[]): LaneRule {
    const { rule, provider } = laneOfHosts(this.#providers, hosts);
    this.#lane(rule.lane, provider);
    return rule;
  }

  /** Records the lane of a domain, as the look-up of the mail hosts has found it. */
  learn(domain: string, lane: string): void {
    this.#domains.set(domain, lane);
  }

  /** Returns the lane of a domain. Until the look-up, the domain has a lane of its own. */
  ofDomain(domain: string): string {
    return this.#domains.get(domain) ?? `domain ${domain}`;
  }

  /**
   * Decides whether a delivery may be attempted now. If so, the caller must call `begun`. If not,
   * reserves a time in the lane. Each organization has separate reservations, so that organizations
   * take turns.
   */
  admit(name: string, organizationId: string): Admission {
    const lane = this.#lane(name);
    const now = this.#clock.elapsed();
    if (lane.closedUntil > now) return this.#wait(lane, organizationId, 'provider-unavailable');
    if (lane.rules.connections === 0) return this.#wait(lane, organizationId, 'rate');
    refill(lane, now);
    if (lane.perMinute !== null && lane.tokens < 1) return this.#wait(lane, organizationId, 'rate');
    if (lane.inFlight >= lane.window) return this.#wait(lane, organizationId, 'rate');
    return { goes: true };
  }

  begun(name: string, deliveryId: string): void {
    const lane = this.#use(name);
    if (lane.inFlight === 0) lane.movedAt = lane.usedAt;
    lane.inFlight++;
    if (lane.perMinute !== null) lane.tokens -= 1;
    this.#inWork.set(deliveryId, { name, begunAt: this.#clock.elapsed() });
  }

  /** Frees the place of a delivery that was not claimed after all, or has ended. */
  released(deliveryId: string): void {
    const work = this.#inWork.get(deliveryId);
    if (work === undefined) return;
    this.#inWork.delete(deliveryId);
    const lane = this.#lane(work.name);
    lane.inFlight = Math.max(0, lane.inFlight - 1);
  }

  /**
   * Records the end of an attempt that took `tookMs` since the connection to the first host began.
   * `name` is the lane found by the look-up of the hosts.
   */
  ended(name: string, deliveryId: string, signal: LaneSignal, tookMs = 0): void {
    const now = this.#clock.elapsed();
    const begun = this.#inWork.get(deliveryId);
    this.released(deliveryId);
    const lane = this.#use(name);
    // The attempt began before the lane was known, so the rate of the lane is charged afterwards.
    if (begun && begun.name !== name) pay(lane, now);
    if (signal === 'taken' && lane.isUnreached) this.#reached.add(name);
    recordEnd(lane, { signal, begunAt: begun?.begunAt ?? now, tookMs }, now, this.#random);
  }

  /** Tells whether a lane has accepted mail again since the last `takeReached`. */
  hasReached(): boolean {
    return this.#reached.size > 0;
  }

  /** Returns the lanes that have accepted mail again, and clears the list. */
  takeReached(): ReadonlySet<string> {
    const reached = this.#reached;
    this.#reached = new Set();
    return reached;
  }

  /** Closes a lane until `until` (ms since 1970), as another daemon has reported. */
  closedElsewhere(name: string, until: number): void {
    const lane = this.#lane(name, this.#providers.ofLane(name));
    const now = this.#clock.elapsed();
    closeAsReported(lane, now + until - this.#clock.now(), now);
  }

  /**
   * Records that another daemon has mail waiting for a lane: this daemon may have free places for
   * it.
   */
  waitsElsewhere(name: string): void {
    if (this.#waiting.has(name)) return;
    this.#lane(name, this.#providers.ofLane(name));
    this.#waiting.add(name);
    this.#waitingElsewhere.add(name);
  }

  /** Slows a lane after a rate limit that another daemon has reported. */
  slowedElsewhere(name: string): void {
    slowAsReported(this.#lane(name, this.#providers.ofLane(name)));
  }

  /**
   * Returns the lanes with waiting deliveries and free places; `room` is the number of free places.
   */
  withRoom(): { lane: string; room: number }[] {
    const now = this.#clock.elapsed();
    const found: { lane: string; room: number }[] = [];
    for (const lane of this.#waitingLanes()) {
      if (lane.closedUntil > now || lane.rules.connections === 0) continue;
      refill(lane, now);
      const tokens = lane.perMinute === null ? lane.window : Math.floor(lane.tokens);
      const room = Math.min(lane.window - lane.inFlight, tokens);
      if (room > 0) found.push({ lane: lane.name, room });
    }
    return found;
  }

  /** Tells whether deliveries wait for any lane. */
  isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /**
   * Returns the number of free places in a lane that accepts mail now. Returns 0 until a quarter of
   * the window is free, so that claims are few and large. Returns Infinity for a closed lane, a
   * lane with a rate, and a lane that accepted nothing in the last 100 ms.
   */
  quickRoom(name: string): number {
    const lane = this.#lane(name);
    const now = this.#clock.elapsed();
    const isBusy = lane.lastTakenAt !== null && now - lane.lastTakenAt < busyMs;
    if (!isBusy || lane.closedUntil > now || lane.perMinute !== null) return Infinity;
    const room = lane.window - lane.inFlight;
    return room * 4 < lane.window ? 0 : room;
  }

  /** Clears the reservations once no delivery waits for the lane. */
  drained(name: string): void {
    const lane = this.#lane(name);
    this.#waiting.delete(name);
    this.#waitingElsewhere.delete(name);
    lane.booked.clear();
  }

  /**
   * Time when a lane with waiting deliveries opens or gets the next token (ms since 1970); null
   * without such a lane.
   */
  nextRoomAt(): number | null {
    let next: number | null = null;
    const now = this.#clock.elapsed();
    for (const lane of this.#waitingLanes()) {
      // The mail is checked again at its due time: another daemon may have delivered it by then.
      if (lane.rules.connections === 0) continue;
      // A full window opens when an attempt ends, which wakes the queue.
      if (lane.closedUntil <= now && lane.inFlight >= lane.window) continue;
      const tokenMs =
        lane.perMinute === null ? 0 : Math.max(0, 1 - lane.tokens) * (minuteMs / lane.perMinute);
      const at = Math.max(lane.closedUntil, now + Math.max(1, tokenMs));
      if (next === null || at < next) next = at;
    }
    return next === null ? null : this.#onWall(next);
  }

  /** Returns at most `most` lanes used now or in the last seconds, the busiest first. */
  states(most = mostLanes): LaneState[] {
    const now = this.#clock.elapsed();
    const busiest: Lane[] = [];
    for (const lane of this.#busy.values()) {
      const waits = this.#waiting.has(lane.name);
      const isQuiet = lane.inFlight === 0 && !waits && lane.closedUntil <= now;
      if (isQuiet && now - lane.usedAt > quietAfterMs) {
        lane.taken = 0;
        this.#busy.delete(lane.name);
      } else {
        insertByBusiness(busiest, lane, most);
      }
    }
    return busiest.map((lane) => ({
      lane: lane.name,
      inFlight: lane.inFlight,
      window: lane.window,
      perMinute: lane.perMinute,
      closedUntil: lane.closedUntil > now ? this.#onWall(lane.closedUntil) : null,
      isRefused: lane.isRefused,
      slowed: lane.slowed,
      surplus: this.#surplus[lane.name] ?? 0,
      waiting: this.#waiting.has(lane.name) && !this.#waitingElsewhere.has(lane.name),
      taken: lane.taken,
    }));
  }

  /** Converts a time of this file to ms since 1970. */
  #onWall(elapsed: number): number {
    return Math.ceil(this.#clock.now() + elapsed - this.#clock.elapsed());
  }

  /** Returns the lane and marks it as in use. */
  #use(name: string): Lane {
    const lane = this.#lane(name);
    lane.usedAt = this.#clock.elapsed();
    this.#busy.set(name, lane);
    return lane;
  }

  #waitingLanes(): Lane[] {
    return [...this.#waiting].map((name) => this.#lane(name));
  }

  #lane(name: string, rules = this.#providers.rules.fallback): Lane {
    let lane = this.#lanes.get(name);
    if (!lane) {
      lane = newLane(name, this.#rulesOf(name, rules), this.#clock.elapsed());
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #rulesOf(name: string, rules: Provider): Provider {
    return dividedRules(rules, name, this.#providers.portion);
  }

  #wait(lane: Lane, organizationId: string, waitReason: WaitReason): Admission {
    this.#waiting.add(lane.name);
    this.#waitingElsewhere.delete(lane.name);
    this.#use(lane.name);
    const now = this.#clock.elapsed();
    const until = book(lane, organizationId, now);
    return { goes: false, until: this.#onWall(until), waitReason };
  }
}

/** Inserts a lane in order among the busiest `most`, if it belongs there. */
function insertByBusiness(busiest: Lane[], lane: Lane, most: number): void {
  const last = busiest.at(-1);
  if (busiest.length >= most && last && !isBusier(lane, last)) return;
  let [from, to] = [0, busiest.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const other = busiest[middle];
    if (other && isBusier(lane, other)) to = middle;
    else from = middle + 1;
  }
  busiest.splice(from, 0, lane);
  if (busiest.length > most) busiest.pop();
}

function isBusier(a: Lane, b: Lane): boolean {
  return a.inFlight > b.inFlight || (a.inFlight === b.inFlight && a.taken > b.taken);
}
