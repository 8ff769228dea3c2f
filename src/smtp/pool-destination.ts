// One destination of the pool (pool.ts): its idle sessions, who waits for one, and who of them is next.
import type { FairShare } from '../runtime/fair-share.ts';
import type { DestinationLimits, Peer, SessionRequest } from './pool-request.ts';
import type { SmtpSession } from './session.ts';

/** A connection that is open. */
export interface Entry {
  session: SmtpSession;
  peer: Peer;
  destination: Destination;
  key: string;
  /** Leases out: two while the next message begins behind the one before it. */
  users: number;
  /** Who had it last on loan, as long as it is. */
  holder: string | null;
  cancelIdle: () => void;
}

export type Wanted = Pick<SessionRequest<unknown>, 'organizationId' | 'keys' | 'isFresh'>;

export interface Waiter extends Wanted {
  /** Over all destinations, in order of arrival; 0 is for those that wait before all others. */
  ticket: number;
  /** Either way the place is counted for the organization already. */
  grant: (granted: Entry | 'slot') => void;
  refuse: () => void;
}

export interface Destination {
  name: string;
  limits: DestinationLimits;
  /** Connections open or being opened. */
  open: number;
  /** Oldest first. */
  idle: Entry[];
  waiters: Waiter[];
}

/** Takes an idle session that will do out of it. */
export function takeIdle({ idle }: Destination, { keys, isFresh }: Wanted): Entry | null {
  if (isFresh) return null;
  // The one used last: the others grow old and are closed.
  const index = idle.findLastIndex((entry) => keys.includes(entry.key));
  const [entry] = index === -1 ? [] : idle.splice(index, 1);
  entry?.cancelIdle();
  return entry ?? null;
}

/** Takes this one out of it; false where it is not idle any more. */
export function removeIdle({ idle }: Destination, entry: Entry): boolean {
  const index = idle.indexOf(entry);
  if (index === -1) return false;
  idle.splice(index, 1);
  entry.cancelIdle();
  return true;
}

/** The first who waits in it and may have one more, or that of `holder` in its place. */
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

/** Whether it may have one connection more; an idle session of its own makes room too. */
export function hasRoom({ open, idle, limits }: Destination): boolean {
  return open - Math.min(1, idle.length) < limits.connections;
}
