// Judges the sums of a window: healthy, a warning or a pause; in the warming of a domain, a hold. A
// limit is reached only if both the rate and the count reach it. Also describes the finding in
// words, and records the event in the caller's transaction.

import type { workspaceWarning } from '../../access/organizations/events.ts';
import { toOrganization } from '../../access/organizations/organizations.ts';
import { findOrganization } from '../../access/organizations/queries.ts';
import type { App } from '../../core/app.ts';
import type { Config } from '../../core/config/config.ts';
import { byService, type Change, eventToRecord, record } from '../../history/events/record.ts';
import type { Db } from '../../platform/store/db.ts';
import type { HealthTally } from './health-queries.ts';
import { hourMs, hourOf } from './metrics.ts';

const warnBounces = { rate: 0.02, count: 5 };
const warnComplaints = { rate: 0.001, count: 2 };
/** Rates at which the warming of a domain is held, with the minimum counts of a warning. */
export const warmingLimits = { bounces: 0.03, complaints: 0.001 };
const pauseBounceCount = 10;
const pauseComplaintCount = 5;

/** Reason why the rates of a window need attention. */
export interface Finding {
  level: 'warning' | 'hold' | 'pause';
  of: 'bounces' | 'complaints';
  count: number;
  attempted: number;
  limit: number;
}

type Limits = Config['health'];

/**
 * Returns the start of the window: `windowHours` whole hours before the running hour, but not
 * before `since`.
 */
export function windowStart({ windowHours }: Limits, now: number, since: number): number {
  return Math.max(hourOf(now) - windowHours * hourMs, since);
}

/** Returns a function that tells whether a count reaches a limit, by rate and by count. */
function reachedBy(attempted: number) {
  return (count: number, limit: { rate: number; count: number }) =>
    count >= limit.count && count / attempted >= limit.rate;
}

/** Returns the worst finding about these sums. Null if they are healthy, or too small to judge. */
export function findingOf(limits: Limits, sums: HealthTally): Finding | null {
  const { attempted, hard_bounced: bounces, complained: complaints } = sums;
  if (attempted < limits.minimumSends) return null;
  const reaches = reachedBy(attempted);
  const { maxBounceRate, maxComplaintRate } = limits;
  const finding = (level: Finding['level'], of: Finding['of']): Finding => {
    const isBounces = of === 'bounces';
    const limit = isBounces ? maxBounceRate : maxComplaintRate;
    return { level, of, count: isBounces ? bounces : complaints, attempted, limit };
  };
  if (reaches(bounces, { rate: maxBounceRate, count: pauseBounceCount })) {
    return finding('pause', 'bounces');
  }
  if (reaches(complaints, { rate: maxComplaintRate, count: pauseComplaintCount })) {
    return finding('pause', 'complaints');
  }
  if (reaches(bounces, warnBounces)) return finding('warning', 'bounces');
  return reaches(complaints, warnComplaints) ? finding('warning', 'complaints') : null;
}

/**
 * Returns the reason why a warming window is unsafe, bounces first. Null if it is safe, or if too
 * little was sent to judge.
 */
export function warmingFindingOf({ minimumSends }: Limits, sums: HealthTally): Finding | null {
  const { attempted, hard_bounced: bounces, complained: complaints } = sums;
  if (attempted < minimumSends) return null;
  const reaches = reachedBy(attempted);
  const level = 'hold';
  if (reaches(bounces, { ...warnBounces, rate: warmingLimits.bounces })) {
    return { level, of: 'bounces', count: bounces, attempted, limit: warmingLimits.bounces };
  }
  if (reaches(complaints, { ...warnComplaints, rate: warmingLimits.complaints })) {
    return {
      level,
      of: 'complaints',
      count: complaints,
      attempted,
      limit: warmingLimits.complaints,
    };
  }
  return null;
}

/**
 * Tells whether the count of bounces or complaints is high enough for a pause. Ignores the rates.
 */
export function canHoldPause({ hard_bounced, complained }: HealthTally): boolean {
  return hard_bounced >= pauseBounceCount || complained >= pauseComplaintCount;
}

/** Formats a finding: "12.4% of the last 1,250 messages bounced (limit 5%)." */
export function findingInWords({ of, count, attempted, limit }: Finding): string {
  const did = of === 'bounces' ? 'bounced' : 'were reported as spam';
  const total = attempted.toLocaleString('en');
  return `${percent(count / attempted)} of the last ${total} messages ${did} (limit ${percent(limit)}).`;
}

/** Formats a rate in percent, with at most 1 decimal, or 2 for a rate below 1%. */
function percent(rate: number): string {
  const decimals = rate < 0.01 ? 2 : 1;
  return `${Number((rate * 100).toFixed(decimals))}%`;
}

type Besides = Pick<Change, 'action' | 'details'> & { facts?: Record<string, unknown> };

/** Records a finding, with the numbers, as an event. `facts` are further fields of the event. */
export async function recordFinding(
  app: App,
  trx: Db,
  organizationId: string,
  kind: typeof workspaceWarning,
  finding: Finding,
  { facts, ...audited }: Besides = {},
): Promise<void> {
  const organization = await findOrganization(trx, organizationId);
  if (!organization) return;
  const { of, count, attempted, limit } = finding;
  const text = findingInWords(finding);
  await record(app, trx, byService(organizationId), {
    ...audited,
    subject: organizationId,
    event: eventToRecord(kind, toOrganization(organization), {
      ...facts,
      of,
      count,
      attempted,
      limit,
      text,
    }),
  });
}
