// Held sending domains. A domain is held if the mail of that domain reaches the limits that pause
// an organization, while the organization as a whole does not. Mail from a held domain is accepted
// and waits.
//
//   state   event                                                     next
//   free    the window of the domain reaches a limit,                 held; event workspace.warning, and
//           the window of the organization does not                   domain.held of a registered domain
//   held    a review by the operator                                  free: the window begins anew
//
// A hold belongs to the name: a domain that is deleted and added again is still held.

import { workspaceWarning } from '../../access/organizations/events.ts';
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';
import {
  type Finding,
  findingInWords,
  findingOf,
  recordFinding,
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

/** Returns the scope of a domain's counters and review, such as `from:example.com`. */
export function scopeOfDomain(domain: string): string {
  return `${prefix}${domain}`;
}

function domainOf(scope: string): string {
  return scope.slice(prefix.length);
}

/** A domain that is held from now on, with the reason. */
export interface NewHold {
  organizationId: string;
  domain: string;
  finding: Finding;
}

/**
 * Judges the domains of a counted batch; `reviewOf` returns the review of a scope. Returns the
 * newly held domains, so that the caller records their events in the same transaction.
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
    app.log.warn({ organizationId, domain, reason }, 'a domain is held: its mail waits');
    const facts = { domain, sendingStatus: 'held' };
    await recordFinding(app, trx, organizationId, workspaceWarning, finding, { facts });
    held.push({ organizationId, domain, finding });
  }
  return held;
}

/** Start and reason of a hold. */
export interface DomainHold {
  heldAt: number;
  reason: string;
}

/** Returns the held domains of an organization, by name. */
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

/** Returns all held domains. Until the transaction ends, no hold can end. */
export async function lockHeldDomains(
  trx: Db,
): Promise<{ organizationId: string; domain: string }[]> {
  return (await lockHeldScopes(trx)).map(({ organization_id, scope }) => ({
    organizationId: organization_id,
    domain: domainOf(scope),
  }));
}

/** Frees a held domain after a review: past results no longer count. Returns false if not held. */
export function liftDomainHold(
  app: App,
  trx: Db,
  organizationId: string,
  domain: string,
): Promise<boolean> {
  return forgiveScope(trx, organizationId, scopeOfDomain(domain), app.clock.now(), 'held');
}
