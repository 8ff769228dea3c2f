// What is asked of the pool of sessions (pool.ts), and what it lends.
import type { Opening } from './open.ts';
import type { SmtpSession } from './session.ts';

/** Both at least 1. They may change from request to request: the latest hold for the destination. */
export interface DestinationLimits {
  connections: number;
  messagesPerConnection: number;
}

/** Where a session leads, as the attempt history shows it. */
export interface Peer {
  host: string;
  address: string;
}

export interface SessionRequest<Failure> {
  /** The destination that the limit holds for; sessions are never shared between destinations. */
  destination: string;
  limits: DestinationLimits;
  /** Whose mail it is for: what one organization has in use leaves some to all others. */
  organizationId: string;
  /** Waits no longer for a place; as long as it takes where left out. */
  longestWaitMs?: number;
  /** An idle session with one of these keys will do; an opened one gets the first. */
  keys: readonly string[];
  /** Never take an idle session: one was just found dead. Waits before all others. */
  isFresh: boolean;
  open: () => Promise<{ opening: Opening; peer: Peer } | Failure>;
}

/** A session on loan; it must be given back by `release`, whatever became of it. */
export interface Lease {
  session: SmtpSession;
  peer: Peer;
  isReused: boolean;
  /**
   * The message has left but for its answer: whoever waits for this session may begin behind it.
   * Without anyone who waits, nothing happens.
   */
  lendOn(): void;
  release(): void;
}

/** Nothing came free in time. */
export interface Late {
  isLate: true;
}
