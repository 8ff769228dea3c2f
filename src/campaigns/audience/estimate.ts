// The estimate of a run: how many contacts would get a message, and when.
import { dailyCaps, endOfDay, limitsOf, startOfDay } from '../../access/admission/plans.ts';
import { findUsage } from '../../access/admission/queries.ts';
import { findOrganization, type OrganizationRow } from '../../access/organizations/queries.ts';
import type { App } from '../../core/app.ts';
import { findPlanOf } from '../../identity/warming/queries.ts';
import { nextAllowance, windowMs } from '../../identity/warming/ramp.ts';
import { growthOf, windowsOf } from '../../identity/warming/windows.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { isoTime } from '../../platform/runtime/clock.ts';
import { snapshotAudience } from './audience.ts';
import { countFates, type Fates } from './fates.ts';
import { type AllowanceAt, forecastOf, unlimited } from './forecast.ts';
import type { Audience } from './schema.ts';

/** The run to estimate. */
export interface PlannedRun {
  organizationId: string;
  audience: Audience;
  unsubscribeGroupId: string | null;
  /** Domain of the sender; null if the organization has none. */
  domainId: string | null;
  /** Planned start, ms since 1970; null for now. */
  scheduledFor: number | null;
}

export interface RunEstimate extends Fates {
  /** Times of the first and the last message; null without messages, or if a limit stops them. */
  firstAt: string | null;
  lastAt: string | null;
  limitedBy: ReturnType<typeof forecastOf>['limitedBy'];
}

/** Returns the daily quota over time. Mail already sent today is subtracted. */
async function quotaOf(app: App, organization: OrganizationRow): Promise<AllowanceAt> {
  const limits = limitsOf(app.config, organization.plan);
  const today = startOfDay(app.clock.now());
  const [usage] = await findUsage(app.store.db, [organization.id], today);
  return (time) => {
    const [cap] = dailyCaps(limits, organization, time);
    if (!cap) return { left: Infinity, endsAt: Infinity };
    const used = startOfDay(time) === today ? (usage?.emails ?? 0) : 0;
    const endsAt = Math.min(endOfDay(time), cap.endsAtMs ?? Infinity);
    return { left: Math.max(0, cap.emails - used), endsAt };
  };
}

/** Returns the warming windows of a domain over time, assuming that the plan grows each time. */
async function warmingOf(app: App, domainId: string | null): Promise<AllowanceAt> {
  const { db } = app.store;
  const plan = domainId === null ? undefined : await findPlanOf(db, domainId);
  if (!plan || plan.status === 'completed' || plan.status === 'cancelled') return unlimited;
  const { open } = await windowsOf(db, plan);
  const never = { left: 0, endsAt: Infinity };
  if (!open || plan.status === 'held') return () => never;
  const used = open.accepted_recipients;
  return (time) => {
    let [allowance, endsAt] = [open.allowance_recipients, open.ends_at];
    if (time < endsAt) return { left: Math.max(0, allowance - used), endsAt };
    if (plan.status !== 'active') return never;
    for (; time >= endsAt; endsAt += windowMs) {
      if (allowance >= plan.target_daily_recipients) return unlimited(time);
      allowance = nextAllowance(allowance, growthOf(plan));
    }
    return { left: allowance, endsAt };
  };
}

/**
 * Estimates a run at the pace of plan, quota and warming.
 * @throws CapacityError as `countFates` does.
 */
export async function estimateRun(app: App, run: PlannedRun): Promise<RunEstimate> {
  const { organizationId, unsubscribeGroupId, scheduledFor } = run;
  const now = app.clock.now();
  const start = Math.max(now, scheduledFor ?? now);
  const audience = await snapshotAudience(app.store.db, organizationId, run.audience, start);
  const fates = await countFates(app.store, { organizationId, unsubscribeGroupId, audience });
  const organization = await findOrganization(app.store.db, organizationId);
  if (!organization) throw new ResourceNotFoundError('organization', organizationId);
  const pace = forecastOf(fates.dispatch, start, {
    ratePerSecond: limitsOf(app.config, organization.plan).ratePerSecond,
    quotaAt: await quotaOf(app, organization),
    warmingAt: await warmingOf(app, run.domainId),
  });
  const { firstAt, lastAt, limitedBy } = pace;
  return { ...fates, firstAt: isoTime(firstAt), lastAt: isoTime(lastAt), limitedBy };
}
