// Runs of campaigns, as persons make and move them. moves.ts has the table of all moves;
// src/campaigns/walk starts runs, sends their mail and ends them.
import { type CursorPage, cutPage, positionOfId, readCursor } from '../../core/api/cursor.ts';
import { noticeReplay } from '../../core/api/idempotency.ts';
import { type Caller, callerId } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { record } from '../../history/events/record.ts';
import { cancelRun as cancelMail, releaseRun } from '../../outbound/queue/desk/runs.ts';
import { fingerprint } from '../../outbound/sending/fingerprint.ts';
import { ConflictError, ResourceNotFoundError, ValidationError } from '../../platform/errors.ts';
import { orAgain } from '../../platform/store/again.ts';
import type { Db } from '../../platform/store/db.ts';
import { createdWithin } from '../../platform/store/rows/rows.ts';
import { boundsOf } from '../../platform/store/rows/time-range.ts';
import { findRunByKey, selectRuns } from '../../run-ledger/list-queries.ts';
import {
  findRunState,
  lockRun,
  type RunRow,
  type RunState,
  runs,
  updateRun,
} from '../../run-ledger/queries.ts';
import type { RunStatus } from '../../run-ledger/schema.ts';
import { assertRunnable } from './checks.ts';
import { type FrozenColumns, freezeCampaign, storeFrozen } from './freeze.ts';
import { moveRun } from './moves.ts';
import { presentRun, presentRuns, presentWholeRun } from './present.ts';
import { factsOf } from './present-campaign.ts';
import { campaigns, lockCampaigns, requireCampaign } from './queries.ts';
import type { CreateRun, DecideRun, ListRuns, RetryRun, Run, RunSummary } from './run-schema.ts';
import { runNoun } from './schema.ts';

/** Ids in the path of a run. */
export interface RunPlace {
  campaignId: string;
  runId: string;
}

/** The request for a run. */
interface Asked {
  campaignId: string;
  scheduledFor: number | null;
  idempotencyKey: string | null;
  onlyNew: boolean;
  retryOf: string | null;
  fingerprint: string;
}

function newRun(app: App, caller: Caller, asked: Asked, frozen: FrozenColumns): RunRow {
  const now = app.clock.now();
  return {
    id: app.newId(runNoun),
    organization_id: caller.organizationId,
    campaign_id: asked.campaignId,
    status: 'scheduled',
    scheduled_for: asked.scheduledFor,
    idempotency_key: asked.idempotencyKey,
    fingerprint: asked.fingerprint,
    retry_of: asked.retryOf,
    only_new: asked.onlyNew ? 1 : 0,
    started_at: null,
    completed_at: null,
    total_recipients: 0,
    dispatched_count: 0,
    failed_count: 0,
    skipped_count: 0,
    failure_reason: null,
    hold_reason: null,
    hold_domain_id: null,
    hold_detail: null,
    excluded_counts: null,
    last_contact_id: null,
    last_of_audience: null,
    wait_reason: null,
    next_dispatch_at: null,
    dispatched_at: null,
    worker: null,
    leased_until: null,
    due_at: asked.scheduledFor ?? now,
    created_by: callerId(caller),
    actor_email: caller.by.kind === 'member' ? caller.by.email : null,
    member_role: caller.by.kind === 'operator' ? null : caller.roleName,
    is_test: caller.isTest ? 1 : 0,
    created_at: now,
    updated_at: now,
    ...frozen,
  };
}

/**
 * Returns the run that an earlier call of this request made, or undefined. @throws ConflictError
 * for different content.
 */
async function replayed(
  db: Db,
  { organizationId }: Caller,
  { idempotencyKey: key, fingerprint: print }: Asked,
): Promise<RunRow | undefined> {
  const made = key === null ? undefined : await findRunByKey(db, organizationId, key);
  if (!made) return undefined;
  if (made.fingerprint === print) return runs.get(db, organizationId, made.id);
  throw new ConflictError(
    runNoun.name,
    `The idempotency key was used for another request, which made run ${made.id}: use a new key`,
  );
}

/** Stores a run unless an earlier call of this request made it. */
async function storeRun(app: App, caller: Caller, asked: Asked): Promise<Run> {
  const { organizationId } = caller;
  const { db } = app.store;
  const known = await replayed(db, caller, asked);
  if (known) {
    noticeReplay();
    return presentWholeRun(db, known);
  }
  const campaign = await campaigns.get(db, organizationId, asked.campaignId);
  const facts = factsOf(campaign);
  await assertRunnable(app, caller, facts, asked.scheduledFor ?? undefined);
  const frozen = await freezeCampaign(app, organizationId, facts);
  let isRepeat = false;
  const store = () =>
    app.store.write(async (trx) => {
      const made = await replayed(trx, caller, asked);
      isRepeat = made !== undefined;
      if (made) return presentWholeRun(trx, made);
      await lockCampaigns(trx, [asked.campaignId]);
      await requireCampaign(trx, organizationId, asked.campaignId);
      const row = newRun(app, caller, asked, await storeFrozen(app, trx, organizationId, frozen));
      await runs.insert(trx, row);
      const { campaignId, retryOf, onlyNew } = asked;
      const run = await presentWholeRun(trx, row);
      await record(app, trx, caller, {
        subject: row.id,
        action: runNoun.created,
        details: {
          campaignId,
          campaign: campaign.name,
          scheduledFor: run.scheduledFor,
          retryOf,
          ...(onlyNew && { onlyNew }),
        },
      });
      return run;
    });
  // Of concurrent requests with the same key, the first makes the run and the rest find it.
  const run = await orAgain(store);
  if (isRepeat) noticeReplay();
  return run;
}

/**
 * Makes a run of a campaign, and freezes it. A repeat with the same key returns the run of the
 * first request.
 * @throws ValidationError, ResourceNotFoundError; ForbiddenError for a sender that may not send, or
 * a paused organization; ConflictError for a key of another request, or a template that is not
 * published.
 */
export async function createRun(
  app: App,
  caller: Caller,
  campaignId: string,
  input: CreateRun,
): Promise<Run> {
  const { scheduledFor = null, idempotencyKey = null, onlyNew = false } = input;
  const body = { scheduledFor, onlyNew };
  return storeRun(app, caller, {
    campaignId,
    scheduledFor,
    idempotencyKey,
    onlyNew,
    retryOf: null,
    fingerprint: fingerprint('POST', `/v1/campaigns/${campaignId}/runs`, body),
  });
}

/** Returns the run if it belongs to the campaign. @throws ResourceNotFoundError. */
function ofCampaign<Row extends RunState>(
  run: Row | undefined,
  { organizationId }: Caller,
  { campaignId, runId }: RunPlace,
): Row {
  if (run?.organization_id === organizationId && run.campaign_id === campaignId) return run;
  throw new ResourceNotFoundError(runNoun.name, runId);
}

/** Returns the state of a run. @throws ResourceNotFoundError for an unknown campaign or run. */
export async function getRunState(db: Db, caller: Caller, place: RunPlace): Promise<RunState> {
  await requireCampaign(db, caller.organizationId, place.campaignId);
  return ofCampaign(await findRunState(db, place.runId), caller, place);
}

/**
 * Finds a run by its id alone, with the name of the campaign.
 * @throws ResourceNotFoundError.
 */
export async function findRun(
  app: App,
  { organizationId }: Caller,
  runId: string,
): Promise<{ run: RunSummary; campaign: { id: string; name: string } }> {
  const { db } = app.store;
  const row = await runs.get(db, organizationId, runId);
  const { id, name } = await campaigns.get(db, organizationId, row.campaign_id);
  return { run: await presentRun(db, row), campaign: { id, name } };
}

/** Returns a run. @throws ResourceNotFoundError. */
export async function getRun(app: App, caller: Caller, place: RunPlace): Promise<Run> {
  const { db } = app.store;
  const { id } = await getRunState(db, caller, place);
  return presentWholeRun(db, await runs.get(db, caller.organizationId, id));
}

/**
 * Lists a page of a campaign's runs, newest first. @throws ResourceNotFoundError, ValidationError
 */
export async function listRuns(
  app: App,
  { organizationId }: Caller,
  campaignId: string,
  { limit, cursor, ...times }: ListRuns,
): Promise<CursorPage<RunSummary>> {
  const { db } = app.store;
  await requireCampaign(db, organizationId, campaignId);
  const { from, to } = boundsOf(times);
  const scope = ['runs', campaignId, from, to];
  const before = cursor === undefined ? undefined : readCursor(scope, cursor).id;
  const rows = await selectRuns(db, organizationId, campaignId, {
    before,
    limit: limit + 1,
    within: createdWithin(times),
  });
  const { shown, nextCursor } = cutPage(scope, rows, limit, positionOfId);
  return { items: await presentRuns(db, shown), nextCursor };
}

/**
 * Makes a run to the contacts that failed in an ended run: contacts without a message, and contacts
 * with a failed message. Uses the present content and audience of the campaign. Leaves out contacts
 * that an earlier retry of the run has judged: a request sent twice reaches each contact once.
 * @throws as `createRun`; ConflictError while the run has not ended, or if no contact failed.
 */
export async function retryRun(
  app: App,
  caller: Caller,
  place: RunPlace,
  { idempotencyKey = null }: RetryRun,
): Promise<Run> {
  const { campaignId, runId } = place;
  const path = `/v1/campaigns/${campaignId}/runs/${runId}/retry`;
  const asked: Asked = {
    campaignId,
    scheduledFor: null,
    idempotencyKey,
    onlyNew: false,
    retryOf: runId,
    fingerprint: fingerprint('POST', path, {}),
  };
  const { db } = app.store;
  const run = await getRunState(db, caller, place);
  if (!(await replayed(db, caller, asked))) assertRetriable(await presentRun(db, run));
  return storeRun(app, caller, asked);
}

function assertRetriable({ id, status, failedCount, stats }: RunSummary): void {
  const refuse = (problem: string) => new ConflictError(runNoun.name, `Run ${id} ${problem}`);
  if (!['completed', 'failed', 'cancelled'].includes(status)) {
    throw refuse(`is ${status} and cannot be retried: wait for its end, or cancel it`);
  }
  if (failedCount + stats.failed === 0) {
    throw refuse('has nobody to retry: no message of it has failed');
  }
}

/** Locks a run and returns it after `decide`. @throws ResourceNotFoundError; errors of `decide`. */
async function decideOn(
  app: App,
  caller: Caller,
  place: RunPlace,
  decide: (trx: Db, run: RunState) => Promise<RunState>,
): Promise<Run> {
  return app.store.write(async (trx) => {
    await requireCampaign(trx, caller.organizationId, place.campaignId);
    const run = ofCampaign(await lockRun(trx, place.runId), caller, place);
    const { id } = await decide(trx, run);
    return presentWholeRun(trx, await runs.get(trx, caller.organizationId, id));
  });
}

/**
 * Pauses a running run, or a completed run with queued mail. Queued mail of the run waits. @throws
 * ResourceNotFoundError, ConflictError.
 */
export function pauseRun(
  app: App,
  caller: Caller,
  place: RunPlace,
  { note }: DecideRun,
): Promise<Run> {
  return decideOn(app, caller, place, (trx, run) =>
    moveRun(app, trx, run, 'paused', { note }, caller),
  );
}

/**
 * Lets a paused or held run continue. A run that had not started is scheduled again, and a run that
 * was completed is completed again.
 * @throws ResourceNotFoundError, ConflictError; ValidationError for a held run without a note.
 */
export async function resumeRun(
  app: App,
  caller: Caller,
  place: RunPlace,
  { note }: DecideRun,
): Promise<Run> {
  const resumed = await decideOn(app, caller, place, (trx, run) => {
    if (run.status === 'held' && note === undefined) {
      throw ValidationError.of(
        'note',
        'is required for a held run: give the findings of the review',
      );
    }
    return moveRun(app, trx, run, resumedTo(run), { note }, caller);
  });
  await releaseRun(app, place.runId);
  return resumed;
}

/** Returns the status in which a stopped run continues. */
function resumedTo({ started_at: startedAt, completed_at: completedAt }: RunState): RunStatus {
  if (completedAt !== null) return 'completed';
  return startedAt === null ? 'scheduled' : 'running';
}

/** Most deliveries of a run that a transaction cancels. */
export const cancelledAtOnce = 500;

/**
 * Ends a run for good: mail that has not left is cancelled. @throws ResourceNotFoundError,
 * ConflictError.
 */
export async function cancelRun(
  app: App,
  caller: Caller,
  place: RunPlace,
  { note }: DecideRun,
): Promise<Run> {
  const cancelled = await decideOn(app, caller, place, (trx, run) =>
    moveRun(app, trx, run, 'cancelled', { note }, caller),
  );
  // The run is due until all mail is cancelled: after a crash a daemon continues (campaigns/walk).
  const some = (trx: Db) => cancelMail(app, trx, place.runId, cancelledAtOnce);
  while ((await app.store.write(some)) === cancelledAtOnce);
  await app.store.write(async (trx) => {
    const run = await lockRun(trx, place.runId);
    if (run?.status === 'cancelled' && run.worker === null) {
      await updateRun(trx, run.id, { due_at: null });
    }
  });
  return cancelled;
}
