// Deferral of direct sends by plans with `direct: defer`. A place is a recipient that the open
// window of the domain allows. Each first attempt takes a place, in the transaction of the claim.
// Further attempts take no place, as their mail already counts.
//
//   open window   a first attempt
//   with places   goes, and takes a place
//   full          waits until the next window opens, at the latest until the age limit
//   none          waits too: the plan is held, or paused after the end of the window
//
// A plan that has ended, or that only counts, has no places and defers nothing.
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';
import { lockPlaces, selectPlaces, takePlaces } from './queries.ts';
import { type DeferringPlans, deferringKey, warmedDomains } from './warmed-domains.ts';

interface Candidate {
  organization_id: string;
  sender_domain: string;
  attempt_count: number;
}

/** The places of the windows that a claim uses, locked until the transaction ends. */
export interface Deferral {
  /** Tells whether the delivery has to wait for a place. */
  defers(row: Candidate): boolean;
  /** Takes a place in the open window for a delivery that is about to be sent. */
  take(row: Candidate): void;
  /** Stores the number of taken places of each plan. */
  keep(trx: Db): Promise<void>;
}

function planOf(plans: DeferringPlans, row: Candidate): string | undefined {
  if (row.attempt_count > 0) return undefined;
  return plans.get(deferringKey(row.organization_id, row.sender_domain));
}

/**
 * Locks and reads the places that the candidates of a claim need. Returns null if no plan defers a
 * candidate. Hot: without deferring plans it only reads a counter every half second.
 */
export async function openDeferral(
  app: App,
  trx: Db,
  candidates: readonly Candidate[],
): Promise<Deferral | null> {
  const plans = await warmedDomains(app).deferring(trx);
  if (plans.size === 0) return null;
  const needed = new Set(candidates.flatMap((row) => planOf(plans, row) ?? []));
  if (needed.size === 0) return null;
  const left = new Map(await lockPlaces(trx, [...needed]));
  const taken = new Map<string, number>();
  return {
    defers: (row) => left.get(planOf(plans, row) ?? '') === 0,
    take(row) {
      const plan = planOf(plans, row);
      const places = left.get(plan ?? '');
      if (plan === undefined || places === undefined) return;
      left.set(plan, Math.max(0, places - 1));
      taken.set(plan, (taken.get(plan) ?? 0) + 1);
    },
    async keep(trx) {
      for (const [plan, count] of taken) await takePlaces(trx, plan, count);
    },
  };
}

/**
 * Returns the free places of a domain at this moment; infinite if no live plan defers mail of the
 * domain.
 */
export async function placesOf(
  app: App,
  trx: Db,
  organizationId: string,
  domain: string,
): Promise<number> {
  const plans = await warmedDomains(app).deferring(trx);
  const plan = plans.get(deferringKey(organizationId, domain));
  if (plan === undefined) return Number.POSITIVE_INFINITY;
  return (await selectPlaces(trx, [plan])).get(plan) ?? Number.POSITIVE_INFINITY;
}
