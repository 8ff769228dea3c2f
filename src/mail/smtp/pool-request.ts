// Options of the pool of sessions (pool.ts), requests to the pool, and the leases that it grants.

import type { Clock } from '../../platform/runtime/clock.ts';
import { SmtpFault } from './outcome.ts';
import type { Opening } from './session/open.ts';
import type { SmtpSession } from './session/session.ts';

export interface PoolOptions {
  clock: Clock;
  /** Most connections over all destinations. */
  maxConnections: number;
  /** Idle time after which a session is closed; 10 s by default. */
  idleCloseMs?: number;
}

/**
 * Limits of a destination. They may change between requests; the latest limits apply. With 0
 * connections, requests wait.
 */
export interface DestinationLimits {
  connections: number;
  messagesPerConnection: number;
}

/** Remote end of a session, as shown in the attempt history. */
export interface Peer {
  host: string;
  address: string;
}

export interface SessionRequest<Failure> {
  /** Destination to which the limits apply. Destinations never share sessions. */
  destination: string;
  limits: DestinationLimits;
  /** Organization that sends the mail. The pool divides connections among organizations. */
  organizationId: string;
  /** Longest wait for a connection, in ms; unlimited if missing. */
  longestWaitMs?: number;
  /** Keys of idle sessions that can serve this request. A new session gets the first key. */
  keys: readonly string[];
  /**
   * Requires a new connection, because an idle session was found dead. Has precedence over all
   * requests.
   */
  isFresh: boolean;
  open: () => Promise<{ opening: Opening; peer: Peer } | Failure>;
}

/** Result of a failed attempt to open a session. */
export interface Unopened {
  opening: Opening & { session: null };
  peer: Peer;
}

/** A session that is lent. The holder must call `release` after success and failure. */
export interface Lease {
  session: SmtpSession;
  peer: Peer;
  isReused: boolean;
  /**
   * Offers the session to the next request while the answer to this message is outstanding. Does
   * nothing if no request waits.
   */
  lendOn(): void;
  release(): void;
}

/** Result of a request that waited too long. */
export interface Late {
  isLate: true;
}

/** Returns the fault of a delivery when the pool closes. */
export function closingFault(): SmtpFault {
  return SmtpFault.of('connection', 'connect', 'the service is shutting down', '4.3.2');
}
