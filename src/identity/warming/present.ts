// Presents a plan in the API: with the domain, windows, decisions, evidence, and further reasons
// that hold the mail of the domain (specification 2.11).

import { findOrganization } from '../../access/organizations/queries.ts';
import type { App } from '../../core/app.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import type { Db } from '../../platform/store/db.ts';
import { type DomainEvidence, domainEvidence } from '../reputation/domain-evidence.ts';
import { findDomainHolds } from '../reputation/domain-holds.ts';
import { findingInWords, warmingLimits } from '../reputation/health-finding.ts';
import { hourMs } from '../reputation/metrics.ts';
import {
  type BatchRow,
  type DecisionRow,
  type PlanRow,
  selectBatches,
  selectDecisions,
} from './queries.ts';
import { windowMs } from './ramp.ts';
import type { Warming, WarmingPlan, WarmingRecord } from './schema.ts';

const mostBatches = 100;
const mostDecisions = 200;

function toPlan(row: PlanRow): WarmingPlan {
  return {
    id: row.id,
    status: row.status,
    identity: row.identity,
    initialDailyRecipients: row.initial_daily_recipients,
    dailyGrowthPercent: row.daily_growth_percent,
    targetDailyRecipients: row.target_daily_recipients,
    direct: row.direct,
    holdReason: row.hold_reason,
    heldAt: isoTime(row.held_at),
    pausedAt: isoTime(row.paused_at),
    completedAt: isoTime(row.completed_at),
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

/** Presents a plan as in events. */
export function warmingRecordOf(row: PlanRow): WarmingRecord {
  return { ...toPlan(row), domain: { id: row.domain_id, domain: row.domain } };
}

function toBatch(row: BatchRow, plan: PlanRow): Warming['batches'][number] {
  return {
    id: row.id,
    sequence: row.sequence,
    state: row.state,
    startsAt: isoTime(row.starts_at),
    endsAt: isoTime(row.ends_at),
    allowanceRecipients: row.allowance_recipients,
    dailyGrowthPercent: plan.daily_growth_percent,
    targetDailyRecipients: plan.target_daily_recipients,
    reservedRecipients: row.reserved_recipients,
    acceptedRecipients: row.accepted_recipients,
    cancelledAt: isoTime(row.cancelled_at),
    createdAt: isoTime(row.created_at),
  };
}

function toDecision(row: DecisionRow): Warming['decisions'][number] {
  const { id, kind, batch_id: batchId, actor, note, created_at } = row;
  return { id, kind, batchId, actor, note, createdAt: isoTime(created_at) };
}

/** Returns the hours of evidence: `health.windowHours`, but at least the 24 hours of a window. */
function evidenceHours({ config }: App): number {
  return Math.max(config.health.windowHours, windowMs / hourMs);
}

/**
 * Returns the results of a plan's mail within `evidenceHours`, or since the open window began if
 * that is longer.
 */
export async function evidenceOf(
  app: App,
  db: Db,
  plan: PlanRow,
  open: BatchRow | undefined,
): Promise<DomainEvidence> {
  const { organization_id: organizationId, domain } = plan;
  const lately = app.clock.now() - evidenceHours(app) * hourMs;
  const from = Math.min(lately, open?.starts_at ?? lately);
  return domainEvidence(app, db, { organizationId, domain }, { from, since: plan.evidence_since });
}

/** Returns the verdict on the evidence in the word that the API shows. */
export function verdictOf(app: App, { sums, finding }: DomainEvidence) {
  if (finding) return 'unhealthy';
  return sums.attempted < app.config.health.minimumSends ? 'insufficient-evidence' : 'healthy';
}

type Tally = DomainEvidence['sums'];

function toTally({ attempted, hard_bounced, complained }: Tally) {
  return { sent: attempted, bounced: hard_bounced, complained };
}

function toEvidence(app: App, evidence: DomainEvidence): Warming['evidence'] {
  const { finding, hourly, sums } = evidence;
  return {
    observedAt: isoTime(app.clock.now()),
    windowHours: evidenceHours(app),
    minimumSends: app.config.health.minimumSends,
    ...toTally(sums),
    hourly: hourly.map(toTally),
    bounceThreshold: warmingLimits.bounces,
    complaintThreshold: warmingLimits.complaints,
    verdict: verdictOf(app, evidence),
    thresholdReason: finding && findingInWords(finding),
  };
}

async function holdsOf(db: Db, plan: PlanRow): Promise<Warming['holds']> {
  const organization = await findOrganization(db, plan.organization_id);
  const isPaused = organization?.sending_status === 'paused';
  const isHeld = (await findDomainHolds(db, plan.organization_id)).has(plan.domain);
  return {
    workspacePausedAt: isoTime(organization?.paused_at ?? null),
    workspacePauseReason: organization?.pause_reason ?? null,
    sendingStatus: isPaused ? 'paused' : isHeld ? 'held' : 'enabled',
  };
}

/** Presents a plan as in the API. */
export async function presentWarming(app: App, db: Db, plan: PlanRow): Promise<Warming> {
  const batches = await selectBatches(db, plan.id, mostBatches);
  const open = batches.find(({ state }) => state === 'open');
  const { domain, ...shown } = warmingRecordOf(plan);
  return {
    domain,
    plan: shown,
    batches: batches.map((row) => toBatch(row, plan)),
    decisions: (await selectDecisions(db, plan.id, mostDecisions)).map(toDecision),
    evidence: toEvidence(app, await evidenceOf(app, db, plan, open)),
    holds: await holdsOf(db, plan),
  };
}
