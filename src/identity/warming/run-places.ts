// Places of campaign runs in the open window of a warming domain. A place is a recipient of the
// allowance. A run takes at most the places that direct sends and further runs have left. It takes
// the places when it makes a message, even if the message is sent in a later window.
//
//   plan of the domain              | a run
//   --------------------------------+------------------------------------------
//   none, or ended                  | has no limit
//   active, paused: window open     | takes its places, then waits for the next
//   active, paused: no window open  | waits
//   held                            | is held
import type { Db } from '../../platform/store/db.ts';
import { findPlanOf, lockPlan, type PlanRow, reserved } from './queries.ts';
import { windowsOf } from './windows.ts';

/** Places of a domain for a run. */
export interface RunPlaces {
  /** Recipients that a run may take now; 0 without an open window, infinite without a live plan. */
  left: number;
  isHeld: boolean;
  /** Time of the next window, ms since 1970; null if none is planned. */
  opensAt: number | null;
}

const unlimited: RunPlaces = { left: Number.POSITIVE_INFINITY, isHeld: false, opensAt: null };

/** Returns the places of a domain, unlimited without a live plan. */
export async function runPlaces(db: Db, domainId: string): Promise<RunPlaces> {
  const plan = await findPlanOf(db, domainId);
  return plan ? placesOf(db, plan) : unlimited;
}

/**
 * Locks and returns the places of a domain. Until the transaction ends, no other run takes any of
 * them, and the window stays open. Direct sends are not delayed, so they may exceed the window.
 */
export async function lockRunPlaces(trx: Db, domainId: string): Promise<RunPlaces> {
  const found = await findPlanOf(trx, domainId);
  const plan = found && isLive(found) ? await lockPlan(trx, found.id) : undefined;
  return plan ? placesOf(trx, plan) : unlimited;
}

function isLive({ status }: PlanRow): boolean {
  return status === 'active' || status === 'paused' || status === 'held';
}

async function placesOf(db: Db, plan: PlanRow): Promise<RunPlaces> {
  if (!isLive(plan)) return unlimited;
  const { open, scheduled } = await windowsOf(db, plan);
  const free = open ? open.allowance_recipients - open.accepted_recipients : 0;
  const isHeld = plan.status === 'held';
  const nextAt = open ? open.ends_at : (scheduled?.starts_at ?? null);
  return {
    left: isHeld ? 0 : Math.max(0, free),
    isHeld,
    opensAt: plan.status === 'active' ? nextAt : null,
  };
}

/** Counts recipients of a run in the open window, at the end of the transaction. */
export function takeRunPlaces(trx: Db, domainId: string, count: number): void {
  reserved.add(trx, { domainId }, { count });
}
