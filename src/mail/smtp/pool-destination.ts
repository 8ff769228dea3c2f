// A destination of the pool (pool.ts): idle sessions, requests that wait for a session, and the
// choice of the next request.
import type { FairShare } from '../../platform/runtime/fairness/fair-share.ts';
import type { DestinationLimits, Peer, SessionRequest } from './pool-request.ts';
import type { SmtpSession } from './session/session.ts';

/** An open connection, lent or idle. */
export interface Entry {
  session: SmtpSession;
  peer: Peer;
  destination: Destination;
  key: string;
  /** Number of current leases. Two if a message begins before the previous answer. */
  users: number;
  /** Organization with the last lease; null while the session is idle. */
  holder: string | null;
  cancelIdle: () => void;
}

export type Wanted = Pick<SessionRequest<unknown>, 'organizationId' | 'keys' | 'isFresh'>;

export interface Waiter extends Wanted {
  /** Number in the order of arrival over all destinations; 0 has precedence. */
  ticket: number;
  /** Grants a session or a slot, which is already counted for the organization. */
  grant: (granted: Entry | 'slot') => void;
  refuse: () => void;
}

export interface Destination {
  name: string;
  limits: DestinationLimits;
  /** Number of connections, open or being opened. Each counts until the server closes it. */
  open: number;
  /** Number of `open` connections on which QUIT was sent. */
  quitting: number;
  /** Idle sessions, oldest first. */
  idle: Entry[];
  waiters: Waiter[];
}

/** Returns the entry of a new session, held by the organization of the request. */
export function entryOf(
  session: SmtpSession,
  peer: Peer,
  destination: Destination,
  { keys, organizationId }: Wanted,
): Entry {
  const key = keys[0] ?? '';
  return { session, peer, destination, key, users: 0, holder: organizationId, cancelIdle() {} };
}

/** Removes and returns an idle session that can serve the request, or returns null. */
export function takeIdle({ idle }: Destination, { keys, isFresh }: Wanted): Entry | null {
  if (isFresh) return null;
  // Takes the session used last, so that the rest stay idle and are closed.
  const index = idle.findLastIndex((entry) => keys.includes(entry.key));
  const [entry] = index === -1 ? [] : idle.splice(index, 1);
  entry?.cancelIdle();
  return entry ?? null;
}

/** Removes this idle session; returns false if it is not idle any more. */
export function removeIdle({ idle }: Destination, entry: Entry): boolean {
  const index = idle.indexOf(entry);
  if (index === -1) return false;
  idle.splice(index, 1);
  entry.cancelIdle();
  return true;
}

/**
 * Returns the first waiting request of an organization that may hold a further connection, or may
 * take over the connection of `holder`.
 */
export function firstWaiter(
  { waiters }: Destination,
  inUse: FairShare,
  holder: string | null = null,
): Waiter | undefined {
  return waiters.find(({ organizationId }) => inUse.mayHold(organizationId, 1, holder));
}

export function removeWaiter({ waiters }: Destination, waiter: Waiter): void {
  waiters.splice(waiters.indexOf(waiter), 1);
}

/** Returns true if a further connection may be opened, if need be after closing an idle session. */
export function hasRoom({ open, idle, limits }: Destination): boolean {
  return open - Math.min(1, idle.length) < limits.connections;
}

/** Returns the number of connections that are not being closed. */
export function staying({ open, quitting }: Destination): number {
  return open - quitting;
}
