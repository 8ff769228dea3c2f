// The health of an organization's mail (specification 3 and 7 rule 4), judged whenever outcomes are
// settled. Only complaints and hard bounces caused by the recipient's address count;
// src/outbound/queue/settling/outcome-counts.ts decides whether an outcome is caused by the
// address.
//
//   state     event                                         next
//   healthy   bounces or complaints reach the warning       warned; event workspace.warning, once
//   warned    both are below it again, or a resume          healthy
//   any       bounces or complaints reach the limit         paused; event workspace.paused
//   paused    a resume by the operator                      healthy: the window begins anew
//
// The window is made of whole hours and the running hour: 24 to 25 hours with `windowHours` 24.

import { workspacePaused, workspaceWarning } from '../../access/organizations/events.ts';
import { organizationChanges, updateOrganization } from '../../access/organizations/queries.ts';
import type { App } from '../../core/app.ts';
import { timeOfAge } from '../../core/clock/age.ts';
import type { Db } from '../../platform/store/db.ts';
import { commonShard, shardOfProcess } from '../../platform/store/shards.ts';
import { judgeDomains, type NewHold, scopeOfDomain } from './domain-holds.ts';
import {
  canHoldPause,
  type Finding,
  findingInWords,
  findingOf,
  recordFinding,
  windowStart,
} from './health-finding.ts';
import {
  clearWarning,
  deleteHealthBefore,
  findReviews,
  forgiveScope,
  type HealthTally,
  healthCounts,
  markWarned,
  type ReviewRow,
  sumAttemptedByDay,
  sumHealth,
  sumHealthOf,
} from './health-queries.ts';
import { dayMs, dayOf, hourMs, hourOf } from './metrics.ts';

/** Window of a sender's rates: a day. The series has two weeks (specification 2.10). */
const senderWindowMs = dayMs;
const seriesDays = 14;

/** Hard bounces, complaints and attempts of mail to count for the health of the senders. */
export interface HealthObservation {
  organizationId: string;
  /** Address of a sender identity, folded; null if the From has no identity. */
  sender: string | null;
  /** Domain of the From address. */
  fromDomain: string;
  counts: Readonly<Partial<HealthTally>>;
}

/**
 * Counts outcomes inside the caller's transaction, and judges their organizations and domains. Call
 * it last in the transaction. Returns the newly held domains; the caller records their events
 * (`recordHolds` of src/identity/domains).
 */
export async function countHealth(
  app: App,
  trx: Db,
  observations: readonly HealthObservation[],
): Promise<NewHold[]> {
  if (observations.length === 0) return [];
  const now = app.clock.now();
  const ids = [...new Set(observations.map((one) => one.organizationId))].sort();
  const reviews = new Map(
    (await findReviews(trx, ids)).map((row) => [nameOf(row.organization_id, row.scope), row]),
  );
  const reviewOf = (organizationId: string, scope: string) =>
    reviews.get(nameOf(organizationId, scope));
  const sinceOf = (organizationId: string, scope: string) =>
    reviewOf(organizationId, scope)?.since ?? 0;
  const counts = healthCounts.gather();
  const ownShard = shardOfProcess(trx);
  const domains = new Map(ids.map((id) => [id, new Set<string>()]));
  const add = (organizationId: string, scope: string, sums: HealthObservation['counts']) => {
    // A review in the middle of an hour splits that hour into two buckets.
    const since = Math.max(sinceOf(organizationId, ''), sinceOf(organizationId, scope));
    const bucket_start = Math.max(hourOf(now), since);
    // Counts bounces and complaints in a shard that all daemons share. The lock of the shared row
    // makes the transactions run in sequence, so that each judges all earlier bounces and
    // complaints. Further mail is counted in separate shards.
    const shard = sums.hard_bounced || sums.complained ? commonShard : ownShard;
    counts.add({ organization_id: organizationId, scope, bucket_start, shard }, sums);
  };
  for (const { organizationId, sender, fromDomain, counts: sums } of observations) {
    add(organizationId, '', sums);
    add(organizationId, scopeOfDomain(fromDomain), sums);
    if (sender !== null) add(organizationId, `sender:${sender}`, sums);
    domains.get(organizationId)?.add(fromDomain);
  }
  await counts.write(trx);
  let hasPaused = false;
  const held: NewHold[] = [];
  for (const id of ids) {
    const names = [...(domains.get(id) ?? [])].sort();
    const judged = await judge(app, trx, id, names, (scope) => reviewOf(id, scope));
    if (judged === 'paused') hasPaused = true;
    else held.push(...judged);
  }
  if (hasPaused) organizationChanges.note(trx);
  return held;
}

function nameOf(organizationId: string, scope: string): string {
  return `${organizationId} ${scope}`;
}

/** Judges an organization. Returns the newly held domains, or 'paused' if it paused all sending. */
async function judge(
  app: App,
  trx: Db,
  organizationId: string,
  domains: readonly string[],
  reviewOf: (scope: string) => ReviewRow | undefined,
): Promise<NewHold[] | 'paused'> {
  const { health } = app.config;
  const now = app.clock.now();
  const review = reviewOf('');
  const from = windowStart(health, now, review?.since ?? 0);
  const sums = await sumHealth(trx, { organizationId, scope: '', from });
  const finding = findingOf(health, sums);
  const wasWarned = review !== undefined && review.warned_at !== null;
  if (finding === null) {
    if (wasWarned) await clearWarning(trx, organizationId);
  } else if (!wasWarned && (await markWarned(trx, organizationId, now))) {
    await recordFinding(app, trx, organizationId, workspaceWarning, finding);
  }
  if (finding?.level === 'pause') {
    return (await pause(app, trx, organizationId, finding)) ? 'paused' : [];
  }
  // Most counts are too small to hold a domain. Then the domains need no check.
  return canHoldPause(sums) ? judgeDomains(app, trx, organizationId, domains, reviewOf) : [];
}

/** Pauses an organization. Returns false if it is paused already. */
async function pause(
  app: App,
  trx: Db,
  organizationId: string,
  finding: Finding,
): Promise<boolean> {
  const now = app.clock.now();
  const reason = findingInWords(finding);
  const set = { sending_status: 'paused', paused_at: now, pause_reason: reason } as const;
  const paused = await updateOrganization(
    trx,
    organizationId,
    { ...set, updated_at: now },
    'enabled',
  );
  if (!paused) return false;
  app.log.warn({ organizationId, reason }, 'an organization is paused: it may not send');
  const audited = { action: 'organization.paused', details: { reason } } as const;
  await recordFinding(app, trx, organizationId, workspacePaused, finding, audited);
  return true;
}

/** Begins the window anew after a review by the operator: past results no longer count. */
export async function forgive(app: App, trx: Db, organizationId: string): Promise<void> {
  await forgiveScope(trx, organizationId, '', app.clock.now());
}

/** Health shown with a sender (specification 2.10). */
export interface SenderHealth {
  bounceRate: number;
  complaintRate: number;
  windowSends: number;
  /** Sends by day (UTC), today last. */
  series: number[];
}

/** Reads the health of senders. Returns a function from folded address to health. */
export async function senderHealth(
  db: Db,
  organizationId: string,
  senders: readonly string[],
  now: number,
): Promise<(sender: string) => SenderHealth> {
  const scopes = senders.map((sender) => `sender:${sender}`);
  const firstDay = dayOf(now) / dayMs - seriesDays + 1;
  const from = hourOf(now) - senderWindowMs;
  const sums = await sumHealthOf(db, organizationId, scopes, from);
  const days = await sumAttemptedByDay(db, organizationId, scopes, firstDay * dayMs);
  const byScope = new Map(sums.map((row) => [row.scope, row]));
  const byDay = Map.groupBy(days, ({ scope }) => scope);
  return (sender) => {
    const {
      attempted = 0,
      hard_bounced = 0,
      complained = 0,
    } = byScope.get(`sender:${sender}`) ?? {};
    const series = Array.from({ length: seriesDays }, () => 0);
    for (const one of byDay.get(`sender:${sender}`) ?? []) {
      series[one.day - firstDay] = one.attempted;
    }
    const rate = (count: number) => (attempted === 0 ? 0 : count / attempted);
    return {
      bounceRate: rate(hard_bounced),
      complaintRate: rate(complained),
      windowSends: attempted,
      series,
    };
  };
}

/** Deletes counters and reviews that no window reads any more, for the scheduler. */
export async function sweepHealth(app: App): Promise<void> {
  const keptMs = Math.max((seriesDays + 1) * dayMs, (app.config.health.windowHours + 1) * hourMs);
  const before = hourOf(await timeOfAge(app, keptMs));
  await app.store.write((trx) => deleteHealthBefore(trx, before));
}
