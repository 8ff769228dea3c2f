// A run with the snapshots, as the walk reads it. Snapshots never change after the start, so each
// is read and parsed once while the run is walked.

import { operatorOf } from '../../access/keys/roles.ts';
import { campaignsRight, refusedRight } from '../../access/keys/send-checks.ts';
import { standingCaller } from '../../access/members/persons.ts';
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { type RunRow, type RunState, runs } from '../../run-ledger/queries.ts';
import type { AudienceSnapshot } from '../audience/schema.ts';
import type { RunMailing } from '../mail/snapshot.ts';
import type { RunPolicy } from '../setup/freeze.ts';

/** Most runs with snapshots in memory. An audience can name 10,000 contacts. */
const mostKept = 50;

/** Snapshots of a run. */
export interface Snapshots {
  /** Null for a run that repeats failed contacts of an earlier run. */
  audience: AudienceSnapshot | null;
  policy: RunPolicy;
  mailing: RunMailing;
}

const keptSnapshots = perApp((_app: App) => recentlyUsed<Snapshots>(mostKept));

function snapshotsIn(row: RunRow): Snapshots {
  const policy = fromJson<RunPolicy>(row.policy_snapshot);
  const mailing = fromJson<RunMailing>(row.shared);
  if (!policy || !mailing) throw new Error(`the run ${row.id} has no snapshots`);
  const audience = fromJson<AudienceSnapshot>(row.audience_snapshot);
  return { audience: row.retry_of === null ? audience : null, policy, mailing };
}

/** Returns the snapshots of a run that has started. */
export async function snapshotsOf(
  app: App,
  { id, organization_id }: Pick<RunState, 'id' | 'organization_id'>,
): Promise<Snapshots> {
  const kept = keptSnapshots(app);
  const known = kept.get(id);
  if (known) return known;
  const read = snapshotsIn(await runs.get(app.store.db, organization_id, id));
  kept.set(id, read);
  return read;
}

/**
 * Returns a caller with the rights of the run: the run's key, or the operator. Null if the key is
 * revoked or may no longer run campaigns.
 */
export async function callerOfRun(
  db: Db,
  { created_by, organization_id }: Pick<RunState, 'created_by' | 'organization_id'>,
): Promise<Caller | null> {
  if (created_by === null) return operatorOf(organization_id);
  const caller = await standingCaller(db, created_by);
  return caller && refusedRight(caller, campaignsRight) === null ? caller : null;
}
