// The start of a scheduled run when its time has come. Content and audience are read before the transaction that
// moves the run; a campaign that was changed meanwhile is read again.
//
//   the campaign                                | the run
//   --------------------------------------------+-----------------------------------------------
//   can be sent                                 | `running`, with its snapshots
//   is gone, or its content cannot be sent:     | `failed`, with the reason
//   sender not verified, template gone, a wide  |
//   audience that lost its unsubscribe group    |
//   cannot be read now (store or workers busy)  | tried again

import type { App } from '../../core/app.ts';
import { byService } from '../../history/events/record.ts';
import { stageContent } from '../../outbound/sending/store-content.ts';
import { countRun, findRunCounts } from '../../people/runs/counters.ts';
import { findRunState, lockRun, type RunState, runs } from '../../people/runs/queries.ts';
import {
  CapacityError,
  ConflictError,
  ForbiddenError,
  ResourceNotFoundError,
  type ServiceError,
  ValidationError,
} from '../../platform/errors.ts';
import { OverdueError } from '../../platform/store/aside.ts';
import { type Db, toJson } from '../../platform/store/db.ts';
import { lastContact, snapshotAudience } from '../audience/audience.ts';
import { countFates } from '../audience/fates.ts';
import type { FatesQuestion } from '../audience/queries.ts';
import { moveRun } from '../campaigns/moves.ts';
import {
  factsOf,
  lacksUnsubscribeGroup,
  unsubscribeRemedy,
} from '../campaigns/present-campaign.ts';
import { type CampaignRow, campaigns } from '../campaigns/queries.ts';
import { draftRunContent, storeMailing } from '../content/snapshot.ts';
import type { RunPolicy } from './walked-run.ts';

/** Contacts that one transaction judges. */
const pageSize = 500;

/** Starts a due run, or fails it. Does nothing if another daemon, or a person, has moved it. */
export async function startRun(
  app: App,
  worker: string,
  { id, organization_id }: Pick<RunState, 'id' | 'organization_id'>,
): Promise<void> {
  const { db } = app.store;
  const run = await runs.get(db, organization_id, id);
  const campaign = await campaigns.find(db, organization_id, run.campaign_id);
  try {
    if (!campaign) throw new ResourceNotFoundError('campaign', run.campaign_id);
    const snapshots = await readSnapshots(app, run, campaign);
    await inScheduled(app, worker, run, async (trx, locked) => {
      if (!(await isUnchanged(trx, campaign))) return;
      const { drafted, ...columns } = snapshots;
      const mailing = await storeMailing(app, trx, organization_id, drafted);
      countRun(trx, id, {});
      const change = { ...columns, shared: toJson(mailing) };
      await moveRun(app, trx, locked, 'running', change, byService(organization_id));
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const failure_reason = error.message;
    await inScheduled(app, worker, run, async (trx, locked) => {
      await moveRun(app, trx, locked, 'failed', { failure_reason }, byService(organization_id));
    });
  }
}

/** Runs a change of a run that is still scheduled and leased by this worker. */
async function inScheduled(
  app: App,
  worker: string,
  { id }: Pick<RunState, 'id'>,
  change: (trx: Db, locked: RunState) => Promise<void>,
): Promise<void> {
  await app.store.write(async (trx) => {
    const locked = await lockRun(trx, id);
    if (locked?.status === 'scheduled' && locked.worker === worker) await change(trx, locked);
  });
}

async function readSnapshots(app: App, run: RunState, campaign: CampaignRow) {
  const { organization_id: organizationId } = run;
  const { db } = app.store;
  const facts = factsOf(campaign);
  if (lacksUnsubscribeGroup(facts)) {
    throw ValidationError.of('email.unsubscribeGroupId', unsubscribeRemedy);
  }
  const drafted = await draftRunContent(app, organizationId, facts);
  await stageContent(app, organizationId, drafted.content);
  const at = app.clock.now();
  const audience = await snapshotAudience(db, organizationId, facts.audience, at);
  const policy: RunPolicy = {
    unsubscribeGroupId: drafted.mailing.unsubscribeGroupId,
    pageSize,
  };
  return {
    drafted,
    audience_snapshot: toJson(audience),
    policy_snapshot: toJson(policy),
    content_snapshot: toJson(drafted.snapshot),
    last_of_audience: await lastContact(db, organizationId),
    total_recipients: await estimateTotal(app, run, {
      organizationId,
      audience,
      unsubscribeGroupId: policy.unsubscribeGroupId,
    }),
  };
}

/** Returns the number of contacts to judge, or 0 if it cannot be counted in time: the end of the run corrects it. */
async function estimateTotal(app: App, run: RunState, question: FatesQuestion): Promise<number> {
  try {
    if (run.retry_of === null) return (await countFates(app.store, question)).total;
    const { db } = app.store;
    const repeated = await findRunState(db, run.retry_of);
    const counts = await findRunCounts(db, [run.retry_of]);
    return (repeated?.failed_count ?? 0) + counts(run.retry_of).failed;
  } catch (error) {
    if (error instanceof OverdueError || error instanceof CapacityError) return 0;
    throw error;
  }
}

async function isUnchanged(trx: Db, read: CampaignRow): Promise<boolean> {
  const now = await campaigns.find(trx, read.organization_id, read.id);
  const columns = Object.keys(read) as (keyof CampaignRow)[];
  return now !== undefined && columns.every((column) => now[column] === read[column]);
}

/** Tells whether an error is about the campaign, so that trying again would not help. */
function isRefusal(error: unknown): error is ServiceError {
  return [ConflictError, ForbiddenError, ResourceNotFoundError, ValidationError].some(
    (refusal) => error instanceof refusal,
  );
}
