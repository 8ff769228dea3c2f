// Options of the pool of sessions (pool.ts), requests to the pool, and the leases that it grants.

import type { Clock } from '../../platform/runtime/clock.ts';
import { SmtpFault } from './outcome.ts';
import type { Opening } from './session/open.ts';
import type { SmtpSession } from './session/session.ts';

export interface PoolOptions {
  clock: Clock;
  /** Most connections over all destinations. */
  maxConnections: number;
  /** Idle time after which a session is closed. */
  idleCloseMs?: number;
}

/**
 * Limits of a destination. They may change between requests: the latest limits apply. With 0
 * connections, requests wait.
 */
export interface DestinationLimits {
  connections: number;
  messagesPerConnection: number;
}

/** The far end of a session, as the attempt history shows it. */
export interface Peer {
  host: string;
  address: string;
}

export interface SessionRequest<Failure> {
  /** The destination to which the limits apply; destinations never share sessions. */
  destination: string;
  limits: DestinationLimits;
  /**
   * The organization that sends the mail: its share leaves connections for other organizations.
   */
  organizationId: string;
  /** Longest wait for a place; unlimited if left out. */
  longestWaitMs?: number;
  /** Keys of idle sessions that serve this request; a new session gets the first. */
  keys: readonly string[];
  /**
   * Requires a new connection, because an idle session was just found dead. Goes before all other
   * requests.
   */
  isFresh: boolean;
  open: () => Promise<{ opening: Opening; peer: Peer } | Failure>;
}

/** The result of an opening that ended without a session. */
export interface Unopened {
  opening: Opening & { session: null };
  peer: Peer;
}

/** A session on loan. The holder must call `release` after success and failure. */
export interface Lease {
  session: SmtpSession;
  peer: Peer;
  isReused: boolean;
  /**
   * Offers the session to the next request, because only the answer of this message is outstanding.
   * Does nothing if no request waits.
   */
  lendOn(): void;
  release(): void;
}

/** The result of a request that waited too long. */
export interface Late {
  isLate: true;
}

/** The fault of a delivery when the pool closes. */
export function closingFault(): SmtpFault {
  return SmtpFault.of('connection', 'connect', 'the service is shutting down', '4.3.2');
}
