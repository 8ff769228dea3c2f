// Warming a sending domain (specification 2.11, 3, 4.7): starting a plan, showing it, and decisions
// by a person. Windows open and close in windows.ts.
//
//   status              event    to         also
//   (none)              start    active     the first window opens; the domain has to be verified
//   active              pause    paused     the open window continues; no further window opens
//   paused              resume   active     the next window opens, unless one is open
//   held                resume   active     with a note: the unsafe window is repeated, and mail sent
//                                           before does not count any more
//   active, paused,     cancel   cancelled  the windows too
//   held
//
// Any other event answers 409. A plan is deleted with the domain.
import { type Caller, callerId } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { AuditAction } from '../../history/audit/schema.ts';
import { record } from '../../history/events/record.ts';
import { ConflictError, ResourceNotFoundError, ValidationError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { domains } from '../domains/queries.ts';
import { presentWarming } from './present.ts';
import {
  findPlanOf,
  insertPlan,
  lockPlan,
  type PlanRow,
  updateBatch,
  updatePlan,
  warmingChanges,
} from './queries.ts';
import { firstAllowance } from './ramp.ts';
import type { DecideWarming, DecisionKind, StartWarming, Warming } from './schema.ts';
import { warmedDomains } from './warmed-domains.ts';
import { decide, growthOf, openWindow, windowsOf } from './windows.ts';

/** Returns the stored author of a decision: the id of the key, or `svc` for the operator. */
function actorOf(caller: Caller): string {
  return callerId(caller) ?? 'svc';
}

/**
 * Creates a plan and opens the first window.
 * @throws ResourceNotFoundError; ConflictError for a domain that is not verified, or that has a
 * live plan.
 */
export async function startWarming(
  app: App,
  caller: Caller,
  domainId: string,
  input: StartWarming,
): Promise<Warming> {
  const { organizationId } = caller;
  const started = await app.store.write(async (trx) => {
    const { domain, status } = await domains.get(trx, organizationId, domainId);
    if (status !== 'verified') {
      const text = `${domain} is ${status}, not verified: see svc domains verify`;
      throw new ConflictError('domain', text);
    }
    const plan = newPlan(app, { organizationId, domainId, domain }, input);
    if (!(await insertPlan(trx, plan))) {
      throw new ConflictError(
        'warming',
        `${domain} has a plan that has not ended: cancel it first`,
      );
    }
    const actor = actorOf(caller);
    await decide(app, trx, plan.id, actor, [{ kind: 'plan-created' }]);
    const growth = growthOf(plan);
    const opening = { startsAt: plan.created_at, allowance: firstAllowance(growth), actor };
    await openWindow(app, trx, plan, await windowsOf(trx, plan), opening);
    warmingChanges.note(trx);
    const details = { domain, identity: plan.identity, direct: plan.direct, ...growth };
    await record(app, trx, caller, { subject: plan.id, action: 'warming.started', details });
    return presentWarming(app, trx, plan);
  });
  warmedDomains(app).forget();
  return started;
}

function newPlan(
  app: App,
  { organizationId, domainId, domain }: Record<'organizationId' | 'domainId' | 'domain', string>,
  input: StartWarming,
): PlanRow {
  const now = app.clock.now();
  return {
    id: app.newId('warmingPlan'),
    organization_id: organizationId,
    domain_id: domainId,
    domain,
    status: 'active',
    identity: input.identity,
    initial_daily_recipients: input.initialDailyRecipients,
    daily_growth_percent: input.dailyGrowthPercent,
    target_daily_recipients: input.targetDailyRecipients,
    direct: input.direct ?? 'count',
    taken_recipients: 0,
    evidence_since: 0,
    hold_reason: null,
    held_at: null,
    paused_at: null,
    completed_at: null,
    created_at: now,
    updated_at: now,
  };
}

/**
 * Returns the plan of a domain. @throws ResourceNotFoundError for an unknown domain, or a domain
 * without a plan.
 */
async function getPlan(db: Db, organizationId: string, domainId: string): Promise<PlanRow> {
  await domains.get(db, organizationId, domainId);
  const plan = await findPlanOf(db, domainId);
  if (!plan) throw new ResourceNotFoundError('warming', domainId);
  return plan;
}

/** Returns the live plan of a domain, or the newest plan. @throws ResourceNotFoundError. */
export async function getWarming(app: App, caller: Caller, domainId: string): Promise<Warming> {
  const { db } = app.store;
  return presentWarming(app, db, await getPlan(db, caller.organizationId, domainId));
}

/** A kind of decision by a person on a plan: pause, resume or cancel. */
interface Verb {
  /** Statuses in which the decision is allowed; any further status is refused with 409. */
  from: readonly PlanRow['status'][];
  action: AuditAction;
  kind: DecisionKind;
  /** Changes the locked plan and its windows. */
  run(trx: Db, plan: PlanRow, now: number): Promise<PlanRow>;
}

/** Applies a decision. @throws ResourceNotFoundError; ConflictError; errors of `run`. */
async function decideOf(
  app: App,
  caller: Caller,
  domainId: string,
  { note }: DecideWarming,
  { from, action, kind, run }: Verb,
): Promise<Warming> {
  const decided = await app.store.write(async (trx) => {
    const { id } = await getPlan(trx, caller.organizationId, domainId);
    const plan = await lockPlan(trx, id);
    if (!plan) throw new ResourceNotFoundError('warming', domainId);
    if (!from.includes(plan.status)) {
      const may = `only one that is ${from.join(' or ')} can be ${kind}`;
      throw new ConflictError('warming', `The plan of ${plan.domain} is ${plan.status}: ${may}`);
    }
    const notes = { ...(note !== undefined && { note }) };
    await decide(app, trx, id, actorOf(caller), [{ kind, ...notes }]);
    const changed = await run(trx, plan, app.clock.now());
    const details = { domain: plan.domain, ...notes };
    await record(app, trx, caller, { subject: id, action, details });
    return presentWarming(app, trx, changed);
  });
  warmedDomains(app).forget();
  return decided;
}

/**
 * Pauses a plan: no further window opens until it is resumed. @throws ResourceNotFoundError,
 * ConflictError.
 */
export function pauseWarming(
  app: App,
  caller: Caller,
  domainId: string,
  input: DecideWarming,
): Promise<Warming> {
  return decideOf(app, caller, domainId, input, {
    from: ['active'],
    action: 'warming.paused',
    kind: 'paused',
    run: (trx, { id }, now) =>
      updatePlan(trx, id, { status: 'paused', paused_at: now, updated_at: now }),
  });
}

/**
 * Resumes a paused plan, or a held plan after a review.
 * @throws ValidationError for a held plan without `note`; ResourceNotFoundError, ConflictError.
 */
export function resumeWarming(
  app: App,
  caller: Caller,
  domainId: string,
  input: DecideWarming,
): Promise<Warming> {
  return decideOf(app, caller, domainId, input, {
    from: ['paused', 'held'],
    action: 'warming.resumed',
    kind: 'resumed',
    run(trx, plan, now) {
      if (plan.status === 'held' && input.note === undefined) {
        throw ValidationError.of(
          'note',
          'is required if the plan is held: give the findings of the review',
        );
      }
      return goOn(app, trx, plan, now, actorOf(caller));
    },
  });
}

async function goOn(
  app: App,
  trx: Db,
  plan: PlanRow,
  now: number,
  actor: string,
): Promise<PlanRow> {
  const changed = await updatePlan(trx, plan.id, {
    status: 'active',
    hold_reason: null,
    held_at: null,
    paused_at: null,
    ...(plan.status === 'held' && { evidence_since: now }),
    updated_at: now,
  });
  const windows = await windowsOf(trx, changed);
  if (windows.open) return changed;
  // After a hold no window is scheduled: an unsafe window never increases the allowance.
  const allowance = windows.closed?.allowance_recipients ?? firstAllowance(growthOf(changed));
  await openWindow(app, trx, changed, windows, { startsAt: now, allowance, actor });
  return changed;
}

/** Ends the plan and all windows for good. @throws ResourceNotFoundError, ConflictError. */
export function cancelWarming(
  app: App,
  caller: Caller,
  domainId: string,
  input: DecideWarming,
): Promise<Warming> {
  return decideOf(app, caller, domainId, input, {
    from: ['active', 'paused', 'held'],
    action: 'warming.cancelled',
    kind: 'cancelled',
    async run(trx, plan, now) {
      const { open, scheduled } = await windowsOf(trx, plan);
      for (const batch of [open, scheduled]) {
        if (batch) await updateBatch(trx, batch.id, { state: 'cancelled', cancelled_at: now });
      }
      warmingChanges.note(trx);
      const ended = { held_at: null, paused_at: null, hold_reason: null };
      return updatePlan(trx, plan.id, { ...ended, status: 'cancelled', updated_at: now });
    },
  });
}
