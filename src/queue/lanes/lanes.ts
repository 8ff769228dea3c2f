// Lanes: how much goes to one destination at once, and how fast. A lane is a provider, a set of MX
// hosts, or a relay; domains that share it share its limits. In memory: a restart begins gently. Times
// in here are those of `clock.elapsed()`, which nobody sets; what goes out is told by the wall clock.
// How one lane changes, with its states, is lane.ts.
import type { WaitReason } from '../../deliveries/status.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { recentlyUsed } from '../../runtime/recently-used.ts';
import { type LaneRule, laneOfHosts, type Providers } from '../../smtp/providers.ts';
import { book, type Lane, type LaneSignal, minuteMs, newLane, noteEnd, refill } from './lane.ts';

const mostLanes = 50_000;
const mostLearntDomains = 200_000;
/** A lane that took a message within this time is busy, not stuck. */
const busyMs = 100;
/** So long after its last use a lane is still looked at: its pace is shown for 20 s. */
const quietAfterMs = 25_000;

/** Whether a delivery may go now, or until when it waits and why. */
export type Admission = { goes: true } | { goes: false; until: number; waitReason: WaitReason };

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
    noteEnd(this.#use(name), { signal, begunAt, tookMs }, now, this.#random);
  }

  /** The lanes that have room for deliveries that wait for them, and how much. */
  withRoom(): { lane: string; room: number }[] {
    const now = this.#clock.elapsed();
    const found: { lane: string; room: number }[] = [];
    for (const lane of this.#waitingLanes()) {
      if (lane.closedUntil > now) continue;
      refill(lane, now);
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
      lane = newLane(name, rules, this.#clock.elapsed());
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #wait(lane: Lane, organizationId: string, waitReason: WaitReason): Admission {
    this.#waiting.add(lane.name);
    this.#use(lane.name);
    const now = this.#clock.elapsed();
    const until = book(lane, organizationId, now);
    return { goes: false, until: this.#onWall(until), waitReason };
  }
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
