// One lane: what it holds, and how its window, its rate and its pauses change. Plain functions: which lanes
// there are, and who waits for them, is lanes.ts. Times are those of `clock.elapsed()`.
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

import type { Random } from '../../runtime/random.ts';
import type { Provider } from '../../smtp/providers-schema.ts';

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
/** A lane without a rate whose service is not known yet is asked again after this. */
const unknownServiceMs = 50;
export const minuteMs = 60_000;

/** How an attempt ended, as far as its lane is concerned. */
export type LaneSignal = 'taken' | 'refused' | 'slowed' | 'unreachable';

/** Whether it tells of the destination and not of a recipient. */
export function isFault(signal: LaneSignal): boolean {
  return signal === 'slowed' || signal === 'unreachable';
}

export interface Lane {
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
    strikes: 0,
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

/** An attempt that is over. */
export interface Ended {
  signal: LaneSignal;
  begunAt: number;
  /** From its first host on. */
  tookMs: number;
}

/** Changes the lane as the end of an attempt asks for; its place is given back already. */
export function noteEnd(
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
  // Any answer to a recipient shows that the server is there and listening to us.
  if (!isSlow) lane.window = Math.min(lane.window + 1, widest(lane));
  if (signal !== 'taken') return;
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

/** Tokens for one second at most: a pause must not become a burst. */
export function refill(lane: Lane, now: number): void {
  if (lane.perMinute === null) return;
  const most = Math.max(1, lane.perMinute / 60);
  const earned = ((now - lane.tokensAt) * lane.perMinute) / minuteMs;
  lane.tokens = Math.min(most, lane.tokens + Math.max(0, earned));
  lane.tokensAt = now;
}

/**
 * After how long the next who waits is looked at, if no room calls for it before: seldom where nothing
 * moves.
 */
function stepMs(lane: Lane, now: number): number {
  const usualMs =
    lane.perMinute === null ? (lane.serviceMs ?? unknownServiceMs) : minuteMs / lane.perMinute;
  const stuckMs = lane.inFlight > 0 ? (now - lane.movedAt) / 4 : 0;
  return Math.max(usualMs, stuckMs, lane.isSlow ? slowMs / slowWindow : 0);
}

/**
 * Writes into the calendar until when what an organization has in it waits; beyond its bound the
 * organization that was put off first is forgotten.
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
 * The provider asked for less, or did not answer. What its other connections take goes on: it is
 * closed only where nothing was taken between as many faults as it has deliveries at once.
 */
function countFault(
  lane: Lane,
  { signal, begunAt }: Omit<Ended, 'tookMs'>,
  now: number,
  random: Random,
): void {
  lane.faults++;
  if (signal === 'slowed') {
    lane.window = Math.max(1, Math.floor(lane.window / 2));
    if (lane.perMinute !== null) lane.perMinute = Math.max(1, lane.perMinute / 2);
  }
  if (lane.faults < Math.max(fewestFaults, lane.window)) return;
  // What was under way together tells of one event, not of many.
  const isKnown = begunAt <= lane.closedAt || lane.closedUntil > now;
  if (!isKnown) close(lane, now, random);
}

/** For a pause that doubles; then one is tried. */
function close(lane: Lane, now: number, random: Random): void {
  lane.strikes = Math.min(lane.strikes + 1, 16);
  const pauseMs = Math.min(longestPauseMs, shortestPauseMs * 2 ** (lane.strikes - 1));
  lane.closedAt = now;
  lane.closedUntil = now + Math.round(pauseMs * (0.9 + 0.2 * random.float()));
  lane.window = 1;
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
