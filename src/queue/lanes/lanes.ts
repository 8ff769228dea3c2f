// Lanes: how much goes to one destination at once, and how fast. A lane is a provider, a set of MX
// hosts, or a relay; domains that share it share its limits. In memory: a restart begins gently. Times
// in here are those of `clock.elapsed()`, which nobody sets; what goes out is told by the wall clock.
//
// | lane    | by                                             | then                               |
// |---------|------------------------------------------------|------------------------------------|
// | open    | a message taken                                | its window grows by one            |
// | open    | a rate word (421/451)                          | its window and its rate halve      |
// | open    | an attempt of 30 s and more, while nothing     | its window is two at most          |
// |         | else was taken                                 |                                    |
// | open    | a connection fault or a rate word, the last of | closed: 1 s, then twice as long    |
// |         | as many as its window (three at least) without | each time, up to 15 min            |
// |         | a message taken between                        |                                    |
// | closed  | its pause is over                              | open, one message to try; the next |
// |         |                                                | fault closes it again              |
// | any     | more wanted than its window or its rate allows | the rest waits for room            |

import type { WaitReason } from '../../deliveries/status.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { recentlyUsed } from '../../runtime/recently-used.ts';
import { type LaneRule, laneOfHosts, type Providers } from '../../smtp/providers.ts';
import type { Provider } from '../../smtp/providers-schema.ts';

const mostLanes = 50_000;
const mostLearntDomains = 200_000;
const mostBookedOrganizations = 10_000;
/** A new lane starts with so many at once, and grows with each message that is taken. */
const firstWindow = 8;
/** Deliveries in work per connection: one on the wire, the others ready behind it. */
const windowPerConnection = 8;
/** A fast lane has more ready, what it takes within this time: claims are few and large then. */
const readyMs = 50;
const mostPerConnection = 24;
/** So many faults in a row close a lane, or as many as its window: one dropped connection is no news. */
const fewestFaults = 3;
const shortestPauseMs = 1_000;
const longestPauseMs = 15 * 60_000;
/** An attempt that took as long found a slow destination, unless that took other mail meanwhile; */
const slowMs = 30_000;
/** which gets so many at once until it is quicker: it holds places that others could use. */
const slowWindow = 2;
/** A lane that took a message within this time is busy, not stuck. */
const busyMs = 100;
/** A lane without a rate whose service is not known yet is asked again after this. */
const unknownServiceMs = 50;
const minuteMs = 60_000;
/** So long after its last use a lane is still looked at: its pace is shown for 20 s. */
const quietAfterMs = 25_000;

/** Whether a delivery may go now, or until when it waits and why. */
export type Admission = { goes: true } | { goes: false; until: number; waitReason: WaitReason };

/** How an attempt ended, as far as its lane is concerned. */
export type LaneSignal = 'taken' | 'refused' | 'slowed' | 'unreachable';

/** Whether it tells of the destination and not of a recipient. */
export function isFault(signal: LaneSignal): boolean {
  return signal === 'slowed' || signal === 'unreachable';
}

interface Lane {
  name: string;
  rules: Provider;
  inFlight: number;
  window: number;
  /** Recipients a minute, now; null without a limit. */
  perMinute: number | null;
  tokens: number;
  tokensAt: number;
  closedUntil: number;
  closedAt: number;
  strikes: number;
  /** Since a message was taken. */
  faults: number;
  /** Its last attempt kept us waiting. */
  isSlow: boolean;
  /** When an attempt in it ended, or the first one began. */
  movedAt: number;
  /** Until when each organization's waiting deliveries are booked. */
  booked: Map<string, number>;
  /** Since it was last quiet. */
  taken: number;
  usedAt: number;
  /** Milliseconds between messages taken, smoothed: what it really serves. */
  serviceMs: number | null;
  lastTakenAt: number | null;
}

/** A lane as `svc queue top` shows it. */
export interface LaneState {
  lane: string;
  inFlight: number;
  window: number;
  perMinute: number | null;
  closedUntil: number | null;
  waiting: boolean;
  taken: number;
}

export class Lanes {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #providers: Providers;
  readonly #lanes = recentlyUsed<Lane>(mostLanes);
  readonly #domains = recentlyUsed<string>(mostLearntDomains);
  /** By delivery id: the lane that counts it. */
  readonly #inWork = new Map<string, { name: string; begunAt: number }>();
  /** Lanes in which something goes on, or did lately: what is shown costs by them, not by all. */
  readonly #busy = new Map<string, Lane>();
  /** Lanes that deliveries wait for. */
  readonly #waiting = new Set<string>();

  constructor(clock: Clock, random: Random, providers: Providers) {
    this.#clock = clock;
    this.#random = random;
    this.#providers = providers;
  }

  /** The lane and its limits for a set of MX hosts; for the transport. */
  ruleFor(hosts: readonly { name: string }[]): LaneRule {
    const { rule, provider } = laneOfHosts(this.#providers, hosts);
    this.#lane(rule.lane, provider);
    return rule;
  }

  /** Which lane the mail of a domain takes: known after its first look-up. */
  learn(domain: string, lane: string): void {
    this.#domains.set(domain, lane);
  }

  /** The lane of a domain; until it is learnt, a lane of its own. */
  ofDomain(domain: string): string {
    return this.#domains.get(domain) ?? `domain ${domain}`;
  }

  /**
   * Asks for one delivery. `begun` must follow where it goes. Who is put off is booked in a calendar
   * per organization, so that those that wait for one lane take turns in it.
   */
  admit(name: string, organizationId: string): Admission {
    const lane = this.#lane(name);
    const now = this.#clock.elapsed();
    if (lane.closedUntil > now) return this.#wait(lane, organizationId, 'provider-unavailable');
    this.#refill(lane, now);
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

  /** The delivery was not claimed after all, or is handed back. */
  released(deliveryId: string): void {
    const work = this.#inWork.get(deliveryId);
    if (work === undefined) return;
    this.#inWork.delete(deliveryId);
    const lane = this.#lane(work.name);
    lane.inFlight = Math.max(0, lane.inFlight - 1);
  }

  /**
   * An attempt ended, after `tookMs` from its first host on; `name` is the lane as it is known now,
   * after the look-up of its hosts.
   */
  ended(name: string, deliveryId: string, signal: LaneSignal, tookMs = 0): void {
    const now = this.#clock.elapsed();
    const begunAt = this.#inWork.get(deliveryId)?.begunAt ?? now;
    this.released(deliveryId);
    const lane = this.#use(name);
    lane.movedAt = now;
    const isSlow = tookMs >= slowMs && (lane.lastTakenAt ?? -Infinity) <= now - tookMs;
    if (isSlow) lane.window = Math.min(lane.window, slowWindow);
    if (isSlow || signal === 'taken') lane.isSlow = isSlow;
    if (isFault(signal)) {
      this.#countFault(lane, signal, begunAt);
      return;
    }
    // Any answer to a recipient shows that the server is there and listening to us.
    if (!isSlow) lane.window = Math.min(lane.window + 1, this.#widest(lane));
    if (signal !== 'taken') return;
    lane.faults = 0;
    lane.strikes = Math.max(0, lane.strikes - 1);
    lane.taken++;
    this.#recover(lane);
    this.#measure(lane);
  }

  /** The lanes that have room for deliveries that wait for them, and how much. */
  withRoom(): { lane: string; room: number }[] {
    const now = this.#clock.elapsed();
    const found: { lane: string; room: number }[] = [];
    for (const lane of this.#waitingLanes()) {
      if (lane.closedUntil > now) continue;
      this.#refill(lane, now);
      const tokens = lane.perMinute === null ? lane.window : Math.floor(lane.tokens);
      const room = Math.min(lane.window - lane.inFlight, tokens);
      if (room > 0) found.push({ lane: lane.name, room });
    }
    return found;
  }

  /** Deliveries wait for some lane. */
  isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /**
   * How many more go to a lane that takes them as fast as it gets them: 0 until a quarter of its
   * window is free, so that claims are few and large. Infinity for a lane that makes mail wait.
   */
  quickRoom(name: string): number {
    const lane = this.#lane(name);
    const now = this.#clock.elapsed();
    const isBusy = lane.lastTakenAt !== null && now - lane.lastTakenAt < busyMs;
    if (!isBusy || lane.closedUntil > now || lane.perMinute !== null) return Infinity;
    const room = lane.window - lane.inFlight;
    return room * 4 < lane.window ? 0 : room;
  }

  /** Nobody waits for the lane any more: its calendar starts anew. */
  drained(name: string): void {
    const lane = this.#lane(name);
    this.#waiting.delete(name);
    lane.booked.clear();
  }

  /** When a lane with waiting deliveries opens or gets its next token (ms since 1970), or null. */
  nextRoomAt(): number | null {
    let next: number | null = null;
    const now = this.#clock.elapsed();
    for (const lane of this.#waitingLanes()) {
      // A full window opens by itself when an attempt ends, which wakes the queue.
      if (lane.closedUntil <= now && lane.inFlight >= lane.window) continue;
      const tokenMs =
        lane.perMinute === null ? 0 : Math.max(0, 1 - lane.tokens) * (minuteMs / lane.perMinute);
      const at = Math.max(lane.closedUntil, now + Math.max(1, tokenMs));
      if (next === null || at < next) next = at;
    }
    return next === null ? null : this.#onWall(next);
  }

  /** What goes on, or did in the last seconds: the busiest `most` lanes, busiest first. */
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
      waiting: this.#waiting.has(lane.name),
      taken: lane.taken,
    }));
  }

  /** A time in here as ms since 1970. */
  #onWall(elapsed: number): number {
    return Math.ceil(this.#clock.now() + elapsed - this.#clock.elapsed());
  }

  /** The lane, in which something goes on. */
  #use(name: string): Lane {
    const lane = this.#lane(name);
    lane.usedAt = this.#clock.elapsed();
    this.#busy.set(name, lane);
    return lane;
  }

  #waitingLanes(): Lane[] {
    return [...this.#waiting].map((name) => this.#lane(name));
  }

  #lane(name: string, rules = this.#providers.fallback): Lane {
    let lane = this.#lanes.get(name);
    if (!lane) {
      lane = {
        name,
        rules,
        inFlight: 0,
        window: firstWindow,
        perMinute: rules.perMinute,
        tokens: rules.perMinute === null ? 0 : Math.max(1, rules.perMinute / 60),
        tokensAt: this.#clock.elapsed(),
        closedUntil: 0,
        closedAt: Number.NEGATIVE_INFINITY,
        strikes: 0,
        faults: 0,
        isSlow: false,
        movedAt: this.#clock.elapsed(),
        booked: new Map(),
        taken: 0,
        usedAt: 0,
        serviceMs: null,
        lastTakenAt: null,
      };
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #widest({ rules: { connections }, serviceMs }: Lane): number {
    const ready = serviceMs === null ? 0 : Math.floor(readyMs / serviceMs);
    const most = connections * mostPerConnection;
    return Math.max(connections * windowPerConnection, Math.min(ready, most));
  }

  /** Tokens for one second at most: a pause must not become a burst. */
  #refill(lane: Lane, now: number): void {
    if (lane.perMinute === null) return;
    const most = Math.max(1, lane.perMinute / 60);
    const earned = ((now - lane.tokensAt) * lane.perMinute) / minuteMs;
    lane.tokens = Math.min(most, lane.tokens + Math.max(0, earned));
    lane.tokensAt = now;
  }

  #wait(lane: Lane, organizationId: string, waitReason: WaitReason): Admission {
    this.#waiting.add(lane.name);
    this.#use(lane.name);
    const now = this.#clock.elapsed();
    const stepMs = this.#stepMs(lane, now);
    const from = Math.max(now, lane.closedUntil, lane.booked.get(organizationId) ?? 0);
    const until = from + Math.max(1, stepMs);
    book(lane, organizationId, until);
    return { goes: false, until: this.#onWall(until), waitReason };
  }

  /** After how long the next who waits is looked at, if no room calls for it before: seldom where nothing moves. */
  #stepMs(lane: Lane, now: number): number {
    const usualMs =
      lane.perMinute === null ? (lane.serviceMs ?? unknownServiceMs) : minuteMs / lane.perMinute;
    const stuckMs = lane.inFlight > 0 ? (now - lane.movedAt) / 4 : 0;
    return Math.max(usualMs, stuckMs, lane.isSlow ? slowMs / slowWindow : 0);
  }

  /**
   * The provider asked for less, or did not answer. What its other connections take goes on: it is
   * closed only where nothing was taken between as many faults as it has deliveries at once.
   */
  #countFault(lane: Lane, signal: LaneSignal, begunAt: number): void {
    lane.faults++;
    if (signal === 'slowed') {
      lane.window = Math.max(1, Math.floor(lane.window / 2));
      if (lane.perMinute !== null) lane.perMinute = Math.max(1, lane.perMinute / 2);
    }
    if (lane.faults < Math.max(fewestFaults, lane.window)) return;
    // What was under way together tells of one event, not of many.
    const isKnown = begunAt <= lane.closedAt || lane.closedUntil > this.#clock.elapsed();
    if (!isKnown) this.#close(lane);
  }

  /** For a pause that doubles; then one is tried. */
  #close(lane: Lane): void {
    const now = this.#clock.elapsed();
    lane.strikes = Math.min(lane.strikes + 1, 16);
    const pauseMs = Math.min(longestPauseMs, shortestPauseMs * 2 ** (lane.strikes - 1));
    lane.closedAt = now;
    lane.closedUntil = now + Math.round(pauseMs * (0.9 + 0.2 * this.#random.float()));
    lane.window = 1;
  }

  #recover(lane: Lane): void {
    const { perMinute } = lane.rules;
    if (perMinute === null || lane.perMinute === null) return;
    lane.perMinute = Math.min(perMinute, lane.perMinute + perMinute / 100);
  }

  #measure(lane: Lane): void {
    const now = this.#clock.elapsed();
    if (lane.lastTakenAt !== null && lane.inFlight > 0) {
      const sinceMs = now - lane.lastTakenAt;
      lane.serviceMs = lane.serviceMs === null ? sinceMs : lane.serviceMs * 0.95 + sinceMs * 0.05;
    }
    lane.lastTakenAt = now;
  }
}

/** Writes into the calendar; beyond its bound the organization that was put off first is forgotten. */
function book({ booked }: Lane, organizationId: string, until: number): void {
  booked.delete(organizationId);
  booked.set(organizationId, until);
  if (booked.size <= mostBookedOrganizations) return;
  const [oldest] = booked.keys();
  if (oldest !== undefined) booked.delete(oldest);
}

/** Puts a lane at its place among the busiest `most`, if it is one of them. */
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
