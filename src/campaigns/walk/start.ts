// The start of a scheduled run when it is due. It is frozen since it was made
// (setup/freeze.ts); only the members of the audience are read now, before the transaction that
// moves the run.
//
//   the run                                     | then
//   --------------------------------------------+-----------------------------------------------
//   may be sent                                 | `running`
//   is refused by a check of the key: revoked,  | `cancelled`, with the reason
//   changed rights, limited to other senders    |
//   is refused by another check: sender may not | `failed`, with the reason
//   send any more                               |
//   the audience cannot be read now             | tried again
//
// Runs of versions before the freeze have no snapshots: they are frozen here, and fail if they
// cannot be.

import { openAllowances } from '../../access/admission/quota.ts';
import { campaignsRight, checksOfKey } from '../../access/keys/send-checks.ts';
import type { App } from '../../core/app.ts';
import { byService } from '../../history/events/record.ts';
import {
  type DueSend,
  openDueChecks,
  type Refusal,
} from '../../outbound/queue/schedule/send-checks.ts';
import {
  CapacityError,
  ConflictError,
  ForbiddenError,
  ResourceNotFoundError,
  type ServiceError,
  ValidationError,
} from '../../platform/errors.ts';
import { OverdueError } from '../../platform/store/aside.ts';
import { type Db, fromJson, toJson } from '../../platform/store/db.ts';
import { findRunCounts } from '../../run-ledger/counters.ts';
import {
  findRunState,
  lockRun,
  type RunRow,
  type RunState,
  runs,
} from '../../run-ledger/queries.ts';
import { lastContact } from '../audience/audience.ts';
import { countFates } from '../audience/fates.ts';
import type { FatesQuestion } from '../audience/queries.ts';
import type { AudienceSnapshot } from '../audience/schema.ts';
import type { RunMailing } from '../mail/snapshot.ts';
import {
  type FrozenCampaign,
  freezeCampaign,
  type RunPolicy,
  storeFrozen,
} from '../setup/freeze.ts';
import { moveRun } from '../setup/moves.ts';
import { factsOf, lacksUnsubscribeGroup, unsubscribeRemedy } from '../setup/present-campaign.ts';
import { campaigns } from '../setup/queries.ts';

type Leased = Pick<RunState, 'id' | 'organization_id'>;

/** Starts a due run, or ends it. Does nothing if a different daemon or a person has moved it. */
export async function startRun(
  app: App,
  worker: string,
  { id, organization_id }: Leased,
): Promise<void> {
  const run = await runs.get(app.store.db, organization_id, id);
  const by = byService(organization_id);
  try {
    const late = run.shared === null ? await freezeLate(app, run) : null;
    const members = await readMembers(app, run, late ?? frozenIn(run));
    const from = late?.drafted.mailing.from ?? fromJson<RunMailing>(run.shared)?.from;
    await inScheduled(app, worker, run, async (trx, locked) => {
      const refusal = await findRefusal(app, trx, locked, from);
      if (refusal) {
        const to = checksOfKey.includes(refusal.check) ? 'cancelled' : 'failed';
        await moveRun(app, trx, locked, to, { failure_reason: refusal.error.message }, by);
        return;
      }
      const frozen = late && (await storeFrozen(app, trx, organization_id, late));
      await moveRun(app, trx, locked, 'running', { ...frozen, ...members }, by);
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const failure_reason = error.message;
    await inScheduled(app, worker, run, async (trx, locked) => {
      await moveRun(app, trx, locked, 'failed', { failure_reason }, by);
    });
  }
}

/** Calls `change` if the run is still scheduled and leased by this worker. */
async function inScheduled(
  app: App,
  worker: string,
  { id, organization_id }: Leased,
  change: (trx: Db, locked: RunState) => Promise<void>,
): Promise<void> {
  await app.store.write(async (trx) => {
    // Locks the quota before the run, in the order of every accept.
    await openAllowances(app, trx, [organization_id]);
    const locked = await lockRun(trx, id);
    if (locked?.status === 'scheduled' && locked.worker === worker) await change(trx, locked);
  });
}

/** Returns the refusal of a run by the checks of scheduled mail: key, present rights, sender. */
async function findRefusal(
  app: App,
  trx: Db,
  { organization_id: organizationId, created_by, is_test }: RunState,
  from: DueSend['from'],
): Promise<Refusal | null> {
  const send: DueSend = {
    organizationId,
    keyId: created_by,
    isTest: is_test === 1,
    caller: null,
    right: campaignsRight,
    from,
    addresses: [],
    unsubscribeGroupId: null,
    sender: null,
  };
  const allowances = await openAllowances(app, trx, [organizationId]);
  return (await openDueChecks(app, trx, allowances, [send]))(send);
}

/** Freezes a run of an earlier version with the present campaign. */
async function freezeLate(app: App, { organization_id, campaign_id }: RunRow) {
  const facts = factsOf(await campaigns.get(app.store.db, organization_id, campaign_id));
  if (lacksUnsubscribeGroup(facts)) {
    throw ValidationError.of('email.unsubscribeGroupId', unsubscribeRemedy);
  }
  return freezeCampaign(app, organization_id, facts);
}

function frozenIn({ id, audience_snapshot, policy_snapshot }: RunRow) {
  const audience = fromJson<AudienceSnapshot>(audience_snapshot);
  const policy = fromJson<RunPolicy>(policy_snapshot);
  if (!audience || !policy) throw new Error(`the run ${id} has no snapshots`);
  return { audience, policy };
}

/**
 * Returns the columns that a start sets: the audience with the present time, from which queries
 * count days back, the last contact id, and the estimated total.
 */
async function readMembers(
  app: App,
  run: RunState,
  { audience: rule, policy }: Pick<FrozenCampaign, 'audience' | 'policy'>,
) {
  const { organization_id: organizationId } = run;
  const audience = { ...rule, at: app.clock.now() };
  return {
    audience_snapshot: toJson(audience),
    last_of_audience: await lastContact(app.store.db, organizationId),
    total_recipients: await estimateTotal(app, run, {
      organizationId,
      audience,
      unsubscribeGroupId: policy.unsubscribeGroupId,
    }),
  };
}

/**
 * Returns the number of contacts to judge, or 0 if counting takes too long. The end of the run sets
 * the exact number.
 */
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

/** Tells whether an error is about the campaign, so that trying again would not help. */
function isRefusal(error: unknown): error is ServiceError {
  return [ConflictError, ForbiddenError, ResourceNotFoundError, ValidationError].some(
    (refusal) => error instanceof refusal,
  );
}
