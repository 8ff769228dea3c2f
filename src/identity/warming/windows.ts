// The windows of a plan over time (specification 3). The first opens with the plan; from then on a
// job checks each minute. A window closes and the next opens in a single transaction, so that a
// crash leaves neither a plan without a window nor a plan with two.
//
//   window     event                                            next
//   (none)     the window before opened, below the target       scheduled
//   (none)     the plan begins, or continues after a hold       open; the same allowance as before a hold
//   scheduled  the window before closed safe, the plan active   open
//   scheduled  the plan is resumed                              open, unless one is
//   open       its 24 hours are over                            closed; the plan is judged (below)
//   open       the clock was set back before its start          open, its 24 hours begin anew
//   open, scheduled   the plan is cancelled                     cancelled
//   scheduled  the plan is held                                 cancelled
//
//   plan             a window closed                            next
//   active, paused   unsafe                                     held; event warming.held
//   active, paused   safe, with the target as its allowance     completed; event warming.completed
//   active           safe, below the target                     the next window opens
//   paused           safe, below the target                     the next window waits for the resume
//
// A window that was checked late is judged by all mail sent since it began. The next window begins
// at the end of the previous window, or now if that was more than an hour ago: no allowance grows
// while no daemon runs.
import type { App } from '../../core/app.ts';
import { byService, eventToRecord, record } from '../../history/events/record.ts';
import type { Db } from '../../platform/store/db.ts';
import type { DomainEvidence } from '../reputation/domain-evidence.ts';
import { findingInWords } from '../reputation/health-finding.ts';
import { hourMs } from '../reputation/metrics.ts';
import { warmingCompleted, warmingHeld } from './events.ts';
import { evidenceOf, verdictOf, warmingRecordOf } from './present.ts';
import {
  type BatchRow,
  type DecisionRow,
  insertBatch,
  insertDecisions,
  lockPlan,
  type PlanRow,
  selectBatches,
  selectDuePlans,
  updateBatch,
  updatePlan,
  warmingChanges,
} from './queries.ts';
import { type Growth, nextAllowance, windowMs } from './ramp.ts';
import { warmedDomains } from './warmed-domains.ts';

/** Lateness above which the next window begins now, and not at the end of the previous window. */
const latenessMs = hourMs;
/**
 * Smallest jump of the clock that counts. NTP corrects in smaller steps, and the clocks of daemons
 * differ by less.
 */
const toleranceMs = 5_000;
const plansPerLook = 100;

/** Author of automatic decisions. */
const systemActor = 'system';

type Decided = Pick<DecisionRow, 'kind'> & Partial<Pick<DecisionRow, 'batch_id' | 'note'>>;

/** Stores decisions on a plan, in their order. */
export async function decide(
  app: App,
  trx: Db,
  planId: string,
  actor: string,
  decisions: readonly Decided[],
): Promise<void> {
  const rows = decisions.map(({ kind, batch_id = null, note = null }) => {
    const id = app.newId('warmingDecision');
    return { id, plan_id: planId, kind, batch_id, actor, note, created_at: app.clock.now() };
  });
  await insertDecisions(trx, rows);
}

export function growthOf(plan: PlanRow): Growth {
  return {
    initialDailyRecipients: plan.initial_daily_recipients,
    dailyGrowthPercent: plan.daily_growth_percent,
    targetDailyRecipients: plan.target_daily_recipients,
  };
}

/**
 * Windows of a plan: the open, the scheduled and the last closed window, and the window with the
 * highest number.
 */
interface Windows {
  open: BatchRow | undefined;
  scheduled: BatchRow | undefined;
  closed: BatchRow | undefined;
  last: BatchRow | undefined;
}

/**
 * Reads the windows of a plan from the two newest: an open and a scheduled window, or a closed
 * window and the next.
 */
export async function windowsOf(trx: Db, plan: PlanRow): Promise<Windows> {
  const newest = await selectBatches(trx, plan.id, 2);
  const inState = (state: BatchRow['state']) => newest.findLast((row) => row.state === state);
  const [open, scheduled, closed] = (['open', 'scheduled', 'closed'] as const).map(inState);
  return { open, scheduled, closed, last: newest.at(-1) };
}

function newBatch(
  app: App,
  plan: PlanRow,
  parts: Pick<BatchRow, 'sequence' | 'state' | 'starts_at' | 'allowance_recipients'>,
): BatchRow {
  return {
    ...parts,
    id: app.newId('warmingBatch'),
    plan_id: plan.id,
    domain_id: plan.domain_id,
    ends_at: parts.starts_at + windowMs,
    reserved_recipients: 0,
    accepted_recipients: 0,
    cancelled_at: null,
    created_at: app.clock.now(),
  };
}

/**
 * Opens a window at `startsAt`: the scheduled window, or else a new window of `allowance`. Below
 * the target it also schedules the window after it. No other window may be open.
 */
export async function openWindow(
  app: App,
  trx: Db,
  plan: PlanRow,
  { scheduled, last }: Pick<Windows, 'scheduled' | 'last'>,
  { startsAt, allowance, actor }: { startsAt: number; allowance: number; actor: string },
): Promise<void> {
  const times = { starts_at: startsAt, ends_at: startsAt + windowMs };
  const sequence = (last?.sequence ?? 0) + 1;
  const opened: BatchRow = scheduled
    ? { ...scheduled, ...times, state: 'open' }
    : newBatch(app, plan, {
        sequence,
        state: 'open',
        starts_at: startsAt,
        allowance_recipients: allowance,
      });
  if (scheduled) await updateBatch(trx, opened.id, { ...times, state: 'open' });
  else await insertBatch(trx, opened);
  const { allowance_recipients } = opened;
  const note = `allowance ${allowance_recipients.toLocaleString('en')}`;
  await decide(app, trx, plan.id, actor, [{ kind: 'window-opened', batch_id: opened.id, note }]);
  if (plan.direct === 'defer') {
    await updatePlan(trx, plan.id, { taken_recipients: 0 });
    // Marks the change: the queue notices it, and then delivers waiting mail.
    warmingChanges.note(trx);
  }
  if (allowance_recipients >= plan.target_daily_recipients) return;
  const next = newBatch(app, plan, {
    sequence: opened.sequence + 1,
    state: 'scheduled',
    starts_at: opened.ends_at,
    allowance_recipients: nextAllowance(allowance_recipients, growthOf(plan)),
  });
  await insertBatch(trx, next);
}

/** The changed plan; null if nothing is to change, as after a change by another process. */
type Moved = { plan: PlanRow; change: 'closed' | 'held' | 'completed' | 'clock' } | null;

/**
 * Closes ended windows and opens the next; for the scheduler, each minute. Returns the number of
 * changed plans. If several daemons share a store, each window still moves once.
 */
export async function moveWindows(app: App): Promise<number> {
  const now = app.clock.now();
  const due = { endedBy: now, endsAfter: now + windowMs + toleranceMs };
  let moved = 0;
  let after = '';
  for (;;) {
    const planIds = await selectDuePlans(app.store.db, { ...due, after }, plansPerLook);
    for (const planId of planIds) if (await moveOne(app, planId)) moved++;
    after = planIds.at(-1) ?? '';
    if (planIds.length < plansPerLook) return moved;
  }
}

/** Moves the window of a plan. Logs an error. Returns whether the plan changed. */
async function moveOne(app: App, planId: string): Promise<boolean> {
  try {
    const moved = await app.store.write((trx) => moveWindow(app, trx, planId));
    if (moved) reportMove(app, moved);
    return moved !== null;
  } catch (error) {
    app.log.error({ err: error, planId }, 'a warming window was not moved: trying each minute');
    return false;
  }
}

/** Logs a hold or a restart, and forgets a completed plan in the memory of this process. */
function reportMove(app: App, { plan, change }: NonNullable<Moved>): void {
  const { organization_id: organizationId, domain, hold_reason: reason } = plan;
  if (change === 'completed') warmedDomains(app).forget();
  if (change === 'held') {
    const next = `see svc warming show ${domain}, then svc warming resume`;
    app.log.warn({ organizationId, domain, reason }, `the warming of a domain is held: ${next}`);
  }
  if (change === 'clock') {
    app.log.warn({ organizationId, domain }, 'the clock was set back: a window starts again');
  }
}

async function moveWindow(app: App, trx: Db, planId: string): Promise<Moved> {
  const plan = await lockPlan(trx, planId);
  if (!plan) return null;
  const windows = await windowsOf(trx, plan);
  const { open } = windows;
  const now = app.clock.now();
  if (!open) return null;
  if (open.ends_at > now) return comeToPresent(trx, plan, windows, now);
  const evidence = await evidenceOf(app, trx, plan, open);
  await updateBatch(trx, open.id, { state: 'closed' });
  const note = inWords(app, evidence);
  await decide(app, trx, plan.id, systemActor, [
    { kind: 'window-closed', batch_id: open.id, note },
  ]);
  if (evidence.finding) return hold(app, trx, plan, windows, evidence);
  if (open.allowance_recipients >= plan.target_daily_recipients) {
    return complete(app, trx, plan, open);
  }
  if (plan.status === 'active') {
    const startsAt = now - open.ends_at <= latenessMs ? open.ends_at : now;
    const allowance = nextAllowance(open.allowance_recipients, growthOf(plan));
    await openWindow(app, trx, plan, windows, { startsAt, allowance, actor: systemActor });
  }
  return { plan, change: 'closed' };
}

/**
 * Restarts a window that begins in the future because the clock was set back. Otherwise the window
 * would last longer than a day.
 */
async function comeToPresent(
  trx: Db,
  plan: PlanRow,
  { open, scheduled }: Windows,
  now: number,
): Promise<Moved> {
  if (!open || open.starts_at <= now + toleranceMs) return null;
  const ends_at = now + windowMs;
  await updateBatch(trx, open.id, { starts_at: now, ends_at });
  if (scheduled) {
    await updateBatch(trx, scheduled.id, { starts_at: ends_at, ends_at: ends_at + windowMs });
  }
  return { plan, change: 'clock' };
}

/** Formats evidence: `healthy: 1,000 sent, 2 bounced, 0 complained`. */
function inWords(app: App, evidence: DomainEvidence): string {
  const { attempted, hard_bounced, complained } = evidence.sums;
  const [sent, bounced, reported] = [attempted, hard_bounced, complained].map((count) =>
    count.toLocaleString('en'),
  );
  return `${verdictOf(app, evidence)}: ${sent} sent, ${bounced} bounced, ${reported} complained`;
}

async function hold(
  app: App,
  trx: Db,
  plan: PlanRow,
  { open, scheduled }: Windows,
  { finding }: DomainEvidence,
): Promise<Moved> {
  if (!finding) return null;
  const now = app.clock.now();
  const reason = findingInWords(finding);
  if (scheduled) await updateBatch(trx, scheduled.id, { state: 'cancelled', cancelled_at: now });
  const held = await updatePlan(trx, plan.id, {
    status: 'held',
    hold_reason: reason,
    held_at: now,
    paused_at: null,
    updated_at: now,
  });
  const kind = 'held';
  await decide(app, trx, plan.id, systemActor, [
    { kind, batch_id: open?.id ?? null, note: reason },
  ]);
  const { of, count, attempted, limit } = finding;
  await record(app, trx, byService(plan.organization_id), {
    subject: plan.id,
    action: 'warming.held',
    details: { domain: plan.domain, reason },
    event: eventToRecord(warmingHeld, warmingRecordOf(held), { of, count, attempted, limit }),
  });
  return { plan: held, change: 'held' };
}

async function complete(app: App, trx: Db, plan: PlanRow, open: BatchRow): Promise<Moved> {
  const now = app.clock.now();
  const completed = await updatePlan(trx, plan.id, {
    status: 'completed',
    paused_at: null,
    completed_at: now,
    updated_at: now,
  });
  await decide(app, trx, plan.id, systemActor, [{ kind: 'completed', batch_id: open.id }]);
  warmingChanges.note(trx);
  await record(app, trx, byService(plan.organization_id), {
    subject: plan.id,
    action: 'warming.completed',
    details: { domain: plan.domain },
    event: eventToRecord(warmingCompleted, warmingRecordOf(completed)),
  });
  return { plan: completed, change: 'completed' };
}
