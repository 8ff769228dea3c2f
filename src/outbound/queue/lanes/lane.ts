// The state of a lane, and how window, rate and pauses change. Plain functions; lanes.ts has the
// set of lanes and their waiting mail. Times are those of `clock.elapsed()`.
//
// | lane    | event                                          | next                               |
// |---------|------------------------------------------------|------------------------------------|
// | open    | a reply without a rate limit                   | the window grows by 1              |
// | open    | a rate limit (421/451)                         | window and rate halve              |
// | open    | an attempt of 30 s and more, while nothing     | the window is at most 2            |
// |         | else was accepted                              |                                    |
// | open    | a connection fault or a rate limit, the last   | closed: 1 s, then twice as long    |
// |         | of as many as the window (at least 3)          | each time, up to 15 min            |
// |         | without a message accepted between             |                                    |
// | closed  | the pause is over                              | open for a trial message; the next |
// |         |                                                | fault closes it again              |
// | any     | another daemon reports a longer pause after    | closed until then                  |
// |         | a rate limit                                   |                                    |
// | any     | another daemon reports a rate limit            | window and rate halve              |
// | any     | this daemon's quota of the limits is 0         | mail waits for further daemons     |
// | any     | demand above the window or the rate            | the rest waits for a free place    |

import { isDeepStrictEqual } from 'node:util';
import type { Provider } from '../../../mail/smtp/providers-schema.ts';
import type { Random } from '../../../platform/runtime/random.ts';

const mostBookedOrganizations = 10_000;
/** Window of a new lane. It grows with each reply without a rate limit. */
const firstWindow = 8;
/** Deliveries in flight per connection: one is being sent, and the remaining deliveries wait. */
const windowPerConnection = 8;
/**
 * A fast lane keeps as much mail in flight as it accepts in this time, so that claims are few and
 * large.
 */
const readyMs = 50;
const mostPerConnection = 24;
/**
 * Fewest consecutive faults that close a lane, as a single dropped connection proves nothing. A
 * larger window needs as many faults as places.
 */
const fewestFaults = 3;
const shortestPauseMs = 1_000;
const longestPauseMs = 15 * 60_000;
/** If a reported pause ends later by less than this, it is our own pause with a rounded time. */
const reportedSlackMs = 100;
/**
 * Duration of an attempt that marks a destination as slow, unless it accepted mail meanwhile.
 */
const slowMs = 30_000;
/** Window of a slow destination: it holds places that faster destinations could use. */
const slowWindow = 2;
/** Time between messages that is assumed for a lane without a rate, until it is measured. */
const unknownServiceMs = 50;
export const minuteMs = 60_000;
/** Interval at which the mail of a lane is checked while the quota of this daemon is 0. */
const noPartMs = 1_000;

/** Result of an attempt for the lane: accepted, refused, rate-limited, or no connection. */
export type LaneSignal = 'taken' | 'refused' | 'slowed' | 'unreachable';

/** Tells whether the signal is about the destination, and not about a recipient. */
export function isFault(signal: LaneSignal): boolean {
  return signal === 'slowed' || signal === 'unreachable';
}

export interface Lane {
  name: string;
  rules: Provider;
  inFlight: number;
  window: number;
  /** Present limit of recipients a minute; null without a limit. */
  perMinute: number | null;
  tokens: number;
  tokensAt: number;
  closedUntil: number;
  closedAt: number;
  /**
   * Set if a rate limit closed the lane: the pause then applies to all daemons. A connection fault
   * may concern the network of a single daemon.
   */
  isRefused: boolean;
  strikes: number;
  /** Number of rate limits so far. Each slows the lane, in all daemons. */
  slowed: number;
  /** Set in a new lane and after a failed connection, until a message is accepted. */
  isUnreached: boolean;
  /** Rate limits and failed connections since the last accepted message. */
  faults: number;
  /** Set after a slow attempt, until a message is accepted in less time. */
  isSlow: boolean;
  /** Time when the last attempt in the lane ended, or when the first attempt began. */
  movedAt: number;
  /** Last reserved time of each organization, for deliveries that wait for the lane. */
  booked: Map<string, number>;
  /** Messages accepted since the lane was last quiet. */
  taken: number;
  usedAt: number;
  /** Milliseconds between accepted messages, smoothed. */
  serviceMs: number | null;
  lastTakenAt: number | null;
}

export function newLane(name: string, rules: Provider, now: number): Lane {
  return {
    name,
    rules,
    inFlight: 0,
    window: firstWindow,
    perMinute: rules.perMinute,
    tokens: rules.perMinute === null ? 0 : Math.max(1, rules.perMinute / 60),
    tokensAt: now,
    closedUntil: 0,
    closedAt: Number.NEGATIVE_INFINITY,
    isRefused: false,
    strikes: 0,
    slowed: 0,
    isUnreached: true,
    faults: 0,
    isSlow: false,
    movedAt: now,
    booked: new Map(),
    taken: 0,
    usedAt: 0,
    serviceMs: null,
    lastTakenAt: null,
  };
}

/** Applies new limits to the lane. The rate starts again; window and pause stay. */
export function changeRules(lane: Lane, rules: Provider, now: number): void {
  if (isDeepStrictEqual(lane.rules, rules)) return;
  const { perMinute, tokens, tokensAt } = newLane(lane.name, rules, now);
  Object.assign(lane, { rules, perMinute, tokens, tokensAt });
  lane.window = Math.min(lane.window, widest(lane));
}

/** Applies a new quota of the same limits. A lowered rate stays lowered. */
export function divideRules(lane: Lane, rules: Provider, now: number): void {
  const { connections, perMinute } = lane.rules;
  if (connections === rules.connections && perMinute === rules.perMinute) return;
  refill(lane, now);
  const share = perMinute && lane.perMinute ? lane.perMinute / perMinute : 1;
  lane.rules = rules;
  lane.perMinute = rules.perMinute === null ? null : rules.perMinute * share;
  lane.tokens = Math.min(lane.tokens, Math.max(1, (lane.perMinute ?? 0) / 60));
  lane.window = connections === 0 ? firstWindow : lane.window;
  lane.window = Math.min(lane.window, widest(lane));
}

/** Result and times of an attempt, as `clock.elapsed()`. */
export interface Ended {
  signal: LaneSignal;
  begunAt: number;
  /** Duration since the connection to the first host began. */
  tookMs: number;
}

/**
 * Adapts the lane to the result of an attempt. The caller has subtracted the delivery from
 * `inFlight` already.
 */
export function recordEnd(
  lane: Lane,
  { signal, begunAt, tookMs }: Ended,
  now: number,
  random: Random,
): void {
  lane.movedAt = now;
  const isSlow = tookMs >= slowMs && (lane.lastTakenAt ?? -Infinity) <= now - tookMs;
  if (isSlow) lane.window = Math.min(lane.window, slowWindow);
  if (isSlow || signal === 'taken') lane.isSlow = isSlow;
  if (isFault(signal)) {
    countFault(lane, { signal, begunAt }, now, random);
    return;
  }
  // Any reply to a recipient proves that the server is up and accepts our connections.
  if (!isSlow) lane.window = Math.min(lane.window + 1, widest(lane));
  if (signal !== 'taken') return;
  lane.isUnreached = false;
  lane.faults = 0;
  lane.strikes = Math.max(0, lane.strikes - 1);
  lane.taken++;
  recover(lane);
  measure(lane, now);
}

function widest({ rules: { connections }, serviceMs }: Lane): number {
  const ready = serviceMs === null ? 0 : Math.floor(readyMs / serviceMs);
  const most = connections * mostPerConnection;
  return Math.max(connections * windowPerConnection, Math.min(ready, most));
}

/** Adds earned tokens, up to the tokens of a second: a pause must not end in a burst. */
export function refill(lane: Lane, now: number): void {
  if (lane.perMinute === null) return;
  const most = Math.max(1, lane.perMinute / 60);
  const earned = ((now - lane.tokensAt) * lane.perMinute) / minuteMs;
  lane.tokens = Math.min(most, lane.tokens + Math.max(0, earned));
  lane.tokensAt = now;
}

/** Subtracts a token for a message that is under way already. The tokens may become negative. */
export function pay(lane: Lane, now: number): void {
  if (lane.perMinute === null) return;
  refill(lane, now);
  lane.tokens -= 1;
}

/**
 * Interval between reserved times. Usually a free place wakes waiting mail earlier, so the interval
 * is long while no attempt ends.
 */
function stepMs(lane: Lane, now: number): number {
  if (lane.rules.connections === 0) return noPartMs;
  const usualMs =
    lane.perMinute === null ? (lane.serviceMs ?? unknownServiceMs) : minuteMs / lane.perMinute;
  const stuckMs = lane.inFlight > 0 ? (now - lane.movedAt) / 4 : 0;
  return Math.max(usualMs, stuckMs, lane.isSlow ? slowMs / slowWindow : 0);
}

/**
 * Reserves the next time in the lane for an organization, and returns it. Above 10,000
 * reservations, the organization that was postponed longest ago loses its reservation.
 */
export function book(lane: Lane, organizationId: string, now: number): number {
  const { booked, closedUntil } = lane;
  const from = Math.max(now, closedUntil, booked.get(organizationId) ?? 0);
  const until = from + Math.max(1, stepMs(lane, now));
  booked.delete(organizationId);
  booked.set(organizationId, until);
  if (booked.size <= mostBookedOrganizations) return until;
  const [oldest] = booked.keys();
  if (oldest !== undefined) booked.delete(oldest);
  return until;
}

/**
 * Counts a rate limit or a failed connection. Mail on healthy connections continues. The lane
 * closes only after as many faults as the window has places, without an accepted message between
 * them.
 */
function countFault(
  lane: Lane,
  { signal, begunAt }: Omit<Ended, 'tookMs'>,
  now: number,
  random: Random,
): void {
  lane.faults++;
  if (signal === 'unreachable') lane.isUnreached = true;
  if (signal === 'slowed') {
    lane.slowed++;
    slowAsReported(lane);
  }
  if (lane.faults < Math.max(fewestFaults, lane.window)) return;
  // Faults of attempts that ran at the same time count as a single fault.
  const isKnown = begunAt <= lane.closedAt || lane.closedUntil > now;
  if (isKnown) return;
  close(lane, now, random);
  lane.isRefused = signal === 'slowed';
}

/** Halves the window and the rate of the lane. */
export function slowAsReported(lane: Lane): void {
  lane.window = Math.max(1, Math.floor(lane.window / 2));
  const least = Math.min(1, lane.rules.perMinute ?? 1);
  if (lane.perMinute !== null) lane.perMinute = Math.max(least, lane.perMinute / 2);
}

/** Closes the lane for a pause, which doubles each time. After it a single message is tried. */
function close(lane: Lane, now: number, random: Random): void {
  lane.strikes = Math.min(lane.strikes + 1, 16);
  const pauseMs = Math.min(longestPauseMs, shortestPauseMs * 2 ** (lane.strikes - 1));
  lane.closedAt = now;
  lane.closedUntil = now + Math.round(pauseMs * (0.9 + 0.2 * random.float()));
  lane.window = 1;
}

/**
 * Closes the lane until `until`, because another daemon was refused there. Does nothing if the lane
 * is closed for as long already. A reported fault counts like a local fault: the next fault closes
 * the lane for longer.
 */
export function closeAsReported(lane: Lane, until: number, now: number): void {
  const end = Math.min(until, now + longestPauseMs);
  if (end <= Math.max(now, lane.closedUntil + reportedSlackMs)) return;
  lane.closedAt = now;
  lane.closedUntil = end;
  lane.isRefused = true;
  lane.window = 1;
  lane.faults = Math.max(lane.faults, fewestFaults);
  const strikes = 1 + Math.round(Math.log2(Math.max(1, (end - now) / shortestPauseMs)));
  lane.strikes = Math.max(lane.strikes, strikes);
}

function recover(lane: Lane): void {
  const { perMinute } = lane.rules;
  if (perMinute === null || lane.perMinute === null) return;
  lane.perMinute = Math.min(perMinute, lane.perMinute + perMinute / 100);
}

function measure(lane: Lane, now: number): void {
  if (lane.lastTakenAt !== null && lane.inFlight > 0) {
    const sinceMs = now - lane.lastTakenAt;
    lane.serviceMs = lane.serviceMs === null ? sinceMs : lane.serviceMs * 0.95 + sinceMs * 0.05;
  }
  lane.lastTakenAt = now;
}
