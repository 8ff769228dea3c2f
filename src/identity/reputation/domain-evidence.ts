// Results of the mail of a sending domain by the hour: the evidence for warming (specification
// 2.11). Sums the counts of src/identity/reputation/health.ts; decides nothing.
import type { App } from '../../core/app.ts';
import type { Db } from '../../platform/store/db.ts';
import { scopeOfDomain } from './domain-holds.ts';
import { type Finding, warmingFindingOf } from './health-finding.ts';
import { findReviews, type HealthTally, selectHealth } from './health-queries.ts';
import { hourMs, hourOf } from './metrics.ts';

/** Most hours of evidence. After a longer outage of all daemons, earlier hours are left out. */
const mostHours = 14 * 24;

export interface DomainEvidence {
  sums: HealthTally;
  /** An entry for each hour, including zeros, the oldest first and the running hour last. */
  hourly: HealthTally[];
  /** Reason why the domain is unsafe; null for a safe domain, or for too little mail to decide. */
  finding: Finding | null;
}

/**
 * Returns the hourly results of mail from `domain`, from the hour of `from` on. Mail counts as zero
 * in hours that began before `since`, or before the last review of the domain or the organization.
 * Times are in ms since 1970.
 */
export async function domainEvidence(
  app: App,
  db: Db,
  { organizationId, domain }: { organizationId: string; domain: string },
  { from, since }: { from: number; since: number },
): Promise<DomainEvidence> {
  const scope = scopeOfDomain(domain);
  const reviews = await findReviews(db, [organizationId]);
  const reviewed = reviews.map((row) => (['', scope].includes(row.scope) ? row.since : 0));
  const lastHour = hourOf(app.clock.now());
  const firstHour = Math.max(Math.min(hourOf(from), lastHour), lastHour - mostHours * hourMs);
  const begin = Math.max(firstHour, since, ...reviewed);
  const hourly = Array.from({ length: (lastHour - firstHour) / hourMs + 1 }, nothing);
  const sums = nothing();
  for (const row of await selectHealth(db, { organizationId, scope, from: begin })) {
    // After the clock was set back, counts may lie in the future: they are added to the last hour.
    const hour = (Math.min(hourOf(row.bucket_start), lastHour) - firstHour) / hourMs;
    const ofHour = hourly[hour];
    if (ofHour) grow(ofHour, row);
    grow(sums, row);
  }
  return { sums, hourly, finding: warmingFindingOf(app.config.health, sums) };
}

function grow(sum: HealthTally, counts: HealthTally): void {
  sum.attempted += counts.attempted;
  sum.hard_bounced += counts.hard_bounced;
  sum.complained += counts.complained;
}

function nothing(): HealthTally {
  return { attempted: 0, hard_bounced: 0, complained: 0 };
}
