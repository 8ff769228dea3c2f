// The health of an organization's mail (contract 6, specification 3 and 7 rule 4), judged whenever
// outcomes are settled. Only hard bounces that the recipient's address caused and complaints count;
// what is one is src/outbound/outcome-counts.ts.
//
//   state     by                                            then
//   healthy   bounces or complaints reach the warning       warned; event workspace.warning, once
//   warned    both are below it again, or a resume          healthy
//   any       bounces or complaints reach the limit         paused; event workspace.paused
//   paused    a resume (the operator's)                     healthy: the window begins anew
//
// The window is made of whole hours and the one that runs: 24 to 25 hours with `windowHours` 24.
import type { App } from '../app.ts';
import type { Config } from '../config.ts';
import { recordWorkspaceEvent } from '../events/events.ts';
import { findOrganization, updateOrganization } from '../organizations/queries.ts';
import type { Db } from '../store/db.ts';
import {
  addHealth,
  deleteHealthBefore,
  findReviews,
  type HealthRow,
  type HealthTally,
  type ReviewRow,
  sumAttemptedByDay,
  sumHealth,
  sumHealthOf,
  upsertReview,
} from './health-queries.ts';
import { dayMs, dayOf, hourMs, hourOf } from './metrics.ts';

const warnBounces = { rate: 0.02, count: 5 };
const warnComplaints = { rate: 0.001, count: 2 };
const pauseBounceCount = 10;
const pauseComplaintCount = 5;

/** Of a sender: its rates are those of a day, its series is of two weeks (specification 2.10). */
const senderWindowMs = dayMs;
const seriesDays = 14;

/** An outcome as far as it tells of health. */
export interface HealthObservation {
  organizationId: string;
  /** Address of a sender identity, folded; null where it is of none. */
  sender: string | null;
  /** Domain of the From address. */
  fromDomain: string;
  counts: Readonly<Partial<HealthTally>>;
}

/** Why the rates of a window need attention. */
export interface Finding {
  level: 'warning' | 'pause';
  of: 'bounces' | 'complaints';
  count: number;
  attempted: number;
  limit: number;
}

type Limits = Config['health'];

/** What these sums come to, the worst first; null where they are healthy or prove nothing. */
export function findingOf(limits: Limits, sums: HealthTally): Finding | null {
  const { attempted, hard_bounced: bounces, complained: complaints } = sums;
  if (attempted < limits.minimumSends) return null;
  const reaches = (count: number, limit: { rate: number; count: number }) =>
    count >= limit.count && count / attempted >= limit.rate;
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

/** "12.4% of the last 1,250 messages bounced (limit 5%)." */
export function findingInWords({ of, count, attempted, limit }: Finding): string {
  const did = of === 'bounces' ? 'bounced' : 'were reported as spam';
  const total = attempted.toLocaleString('en');
  return `${percent(count / attempted)} of the last ${total} messages ${did} (limit ${percent(limit)}).`;
}

/** One decimal, or two where one would hide most of it. */
function percent(rate: number): string {
  const decimals = rate < 0.01 ? 2 : 1;
  return `${Number((rate * 100).toFixed(decimals))}%`;
}

/** Counts a batch inside the caller's transaction and judges; to be called last. */
export async function countHealth(
  app: App,
  trx: Db,
  observations: readonly HealthObservation[],
): Promise<void> {
  if (observations.length === 0) return;
  const now = app.clock.now();
  const ids = [...new Set(observations.map((one) => one.organizationId))].sort();
  const reviews = new Map((await findReviews(trx, ids)).map((row) => [row.organization_id, row]));
  const rows = new Map<string, HealthRow>();
  const add = (organizationId: string, scope: string, sums: HealthTally) => {
    // An hour that a resume cut in two has two buckets.
    const start = Math.max(hourOf(now), reviews.get(organizationId)?.since ?? 0);
    const key = `${organizationId} ${scope}`;
    const row = rows.get(key) ?? newRow(organizationId, scope, start);
    rows.set(key, row);
    grow(row, sums);
  };
  for (const { organizationId, sender, fromDomain, ...sums } of summedUp(observations)) {
    add(organizationId, '', sums);
    add(organizationId, `from:${fromDomain}`, sums);
    if (sender !== null) add(organizationId, `sender:${sender}`, sums);
  }
  const sorted = [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  await addHealth(trx, sorted);
  for (const id of ids) await judge(app, trx, id, reviews.get(id), now);
}

type Summed = Omit<HealthObservation, 'counts'> & HealthTally;

/** One for each sender: most batches are of one. */
function summedUp(observations: readonly HealthObservation[]): Iterable<Summed> {
  const sums = new Map<string, Summed>();
  for (const { organizationId, sender, fromDomain, counts } of observations) {
    const key = `${organizationId} ${fromDomain} ${sender ?? ''}`;
    let sum = sums.get(key);
    if (!sum) {
      const nothing = { attempted: 0, hard_bounced: 0, complained: 0 };
      sum = { organizationId, sender, fromDomain, ...nothing };
      sums.set(key, sum);
    }
    grow(sum, counts);
  }
  return sums.values();
}

function grow(sum: HealthTally, counts: Readonly<Partial<HealthTally>>): void {
  sum.attempted += counts.attempted ?? 0;
  sum.hard_bounced += counts.hard_bounced ?? 0;
  sum.complained += counts.complained ?? 0;
}

function newRow(organizationId: string, scope: string, bucketStart: number): HealthRow {
  const counts = { attempted: 0, hard_bounced: 0, complained: 0 };
  return { organization_id: organizationId, scope, bucket_start: bucketStart, ...counts };
}

async function judge(
  app: App,
  trx: Db,
  organizationId: string,
  review: ReviewRow | undefined,
  now: number,
): Promise<void> {
  const { health } = app.config;
  const from = Math.max(hourOf(now) - health.windowHours * hourMs, review?.since ?? 0);
  const finding = findingOf(health, await sumHealth(trx, { organizationId, scope: '', from }));
  const wasWarned = review !== undefined && review.warned_at !== null;
  if (finding === null) {
    if (wasWarned) await upsertReview(trx, { ...review, warned_at: null });
    return;
  }
  if (!wasWarned) {
    const since = review?.since ?? 0;
    await upsertReview(trx, { organization_id: organizationId, since, warned_at: now });
    await tell(app, trx, organizationId, 'workspace.warning', finding);
  }
  if (finding.level === 'pause') await pause(app, trx, organizationId, finding);
}

async function pause(app: App, trx: Db, organizationId: string, finding: Finding): Promise<void> {
  const now = app.clock.now();
  const reason = findingInWords(finding);
  const set = { sending_status: 'paused', paused_at: now, pause_reason: reason } as const;
  const paused = await updateOrganization(
    trx,
    organizationId,
    { ...set, updated_at: now },
    'enabled',
  );
  if (!paused) return;
  app.log.warn({ organizationId, reason }, 'sending is paused');
  await tell(app, trx, organizationId, 'workspace.paused', finding);
}

async function tell(
  app: App,
  trx: Db,
  organizationId: string,
  eventType: 'workspace.warning' | 'workspace.paused',
  finding: Finding,
): Promise<void> {
  const organization = await findOrganization(trx, organizationId);
  const { of, count, attempted, limit } = finding;
  await recordWorkspaceEvent(app, trx, {
    organizationId,
    eventType,
    status: organization?.sending_status ?? 'enabled',
    timestamp: app.clock.now(),
    metadata: { of, count, attempted, limit, text: findingInWords(finding) },
  });
}

/** After a review by the operator: what happened until now counts no more. */
export async function forgive(app: App, trx: Db, organizationId: string): Promise<void> {
  const [review] = await findReviews(trx, [organizationId]);
  // A bucket of its own, also within the millisecond.
  const since = Math.max(app.clock.now(), review?.since ?? 0) + 1;
  await upsertReview(trx, { organization_id: organizationId, since, warned_at: null });
}

/** What a sender's resource says of its mail (specification 2.10). */
export interface SenderHealth {
  bounceRate: number;
  complaintRate: number;
  windowSends: number;
  /** Sends by day (UTC), today last. */
  series: number[];
}

/** The health of these senders, by folded address. */
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

/** Forgets what no window reaches any more. */
export async function sweepHealth(app: App): Promise<void> {
  const keptMs = Math.max((seriesDays + 1) * dayMs, (app.config.health.windowHours + 1) * hourMs);
  await app.store.write((trx) => deleteHealthBefore(trx, hourOf(app.clock.now()) - keptMs));
}
