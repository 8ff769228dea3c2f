// Held sending domains : one whose own mail reaches the limits that pause a
// workspace, while the workspace as a whole does not. What is sent from it is accepted and waits.
//
//   state   by                                                      then
//   free    its window reaches a limit, the workspace's does not    held; event workspace.warning,
//                                                                   and domain.held of who knows it
//   held    a review (the operator's)                               free: its window begins anew
//
// A hold is on the name: a domain that is deleted and added again is still held.
import type { App } from '../app.ts';
import { workspaceWarning } from '../organizations/events.ts';
import type { Db } from '../store/db.ts';
import {
  type Finding,
  findingInWords,
  findingOf,
  tellFinding,
  windowStart,
} from './health-finding.ts';
import {
  forgiveScope,
  lockHeldScopes,
  markHeld,
  type ReviewRow,
  selectHeldScopes,
  sumHealth,
} from './health-queries.ts';

const prefix = 'from:';

/** The scope of the counters of a domain. */
export function scopeOfDomain(domain: string): string {
  return `${prefix}${domain}`;
}

function domainOf(scope: string): string {
  return scope.slice(prefix.length);
}

/** A domain that is held from now on, and why. */
export interface NewHold {
  organizationId: string;
  domain: string;
  finding: Finding;
}

/**
 * Judges the domains of a batch that was counted; `reviewOf` gives what is known of a scope. Returns
 * those that are held from now on: whoever has their resource tells of it, in the same transaction.
 */
export async function judgeDomains(
  app: App,
  trx: Db,
  organizationId: string,
  domains: readonly string[],
  reviewOf: (scope: string) => ReviewRow | undefined,
): Promise<NewHold[]> {
  const { health } = app.config;
  const now = app.clock.now();
  const held: NewHold[] = [];
  const organizationSince = reviewOf('')?.since ?? 0;
  for (const domain of domains) {
    const scope = scopeOfDomain(domain);
    const review = reviewOf(scope);
    if (review && review.held_at !== null) continue;
    const since = review?.since ?? 0;
    const from = windowStart(health, now, Math.max(since, organizationSince));
    const finding = findingOf(health, await sumHealth(trx, { organizationId, scope, from }));
    if (finding?.level !== 'pause') continue;
    const reason = findingInWords(finding);
    const hold = { organization_id: organizationId, scope, since, held_at: now };
    if (!(await markHeld(trx, { ...hold, hold_reason: reason }))) continue;
    app.log.warn({ organizationId, domain, reason }, 'sending from a domain is held');
    const facts = { domain, sendingStatus: 'held' };
    await tellFinding(app, trx, organizationId, workspaceWarning, finding, { facts });
    held.push({ organizationId, domain, finding });
  }
  return held;
}

/** Since when a domain is held, and why. */
export interface DomainHold {
  heldAt: number;
  reason: string;
}

/** The held domains of an organization, by name. */
export async function findDomainHolds(
  db: Db,
  organizationId: string,
): Promise<ReadonlyMap<string, DomainHold>> {
  const rows = await selectHeldScopes(db, organizationId);
  return new Map(
    rows.map(({ scope, held_at, hold_reason }) => [
      domainOf(scope),
      { heldAt: held_at ?? 0, reason: hold_reason ?? '' },
    ]),
  );
}

/** All held domains, as long as the transaction lasts. */
export async function lockHeldDomains(
  trx: Db,
): Promise<{ organizationId: string; domain: string }[]> {
  return (await lockHeldScopes(trx)).map(({ organization_id, scope }) => ({
    organizationId: organization_id,
    domain: domainOf(scope),
  }));
}

/** After a review: the domain is free, and what it did until now counts no more. False where it is not held. */
export function liftDomainHold(
  app: App,
  trx: Db,
  organizationId: string,
  domain: string,
): Promise<boolean> {
  return forgiveScope(trx, organizationId, scopeOfDomain(domain), app.clock.now(), 'held');
}
