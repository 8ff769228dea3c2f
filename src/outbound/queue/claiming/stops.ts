// Stops: reasons to keep mail back that do not depend on the lane of the provider. A stopped
// delivery waits in a lane with the name of the stop, into which it moves at the next turn. No
// provider's lane has such a name.
//
//   stop        | lane                | waits for                           | wait reason
//   ------------+---------------------+-------------------------------------+--------------------------
//   hold        | held HOLD           | the operator's release              | tenant-health, or
//               |                     |                                     | provider-unavailable
//   pause       | paused ORG          | the resume of the organization      | tenant-health
//   domain hold | paused ORG DOMAIN   | the resume of the sending domain    | domain-health
//   quota       | quota ORG           | the next day, or a larger plan      | daily-quota
//   share       | share ORG           | free places of the organization     | rate
//   warming     | warming ORG DOMAIN  | a place in a window of the plan     | rate
//   run         | run RUN             | the resume of the campaign run      | campaign-paused
//
// Mail of a cancelled run ends at the next turn (end-unsent.ts). Only mail of runs reads runs.
//
// Several stops may apply to a delivery. They are checked in this order, and again at the next
// turn. Holds and resumes, of runs too: desk/; quotas: scheduled.ts; shares: lanes/shares.ts;
// warming: deferred.ts. Reasons to pause an organization or hold a domain:
// src/identity/reputation/health.ts, src/identity/reputation/domain-holds.ts.

import { lockPausedOrganizations } from '../../../access/organizations/queries.ts';
import { lockHeldDomains } from '../../../identity/reputation/domain-holds.ts';
import type { Db } from '../../../platform/store/db.ts';
import { lockStoppedRuns } from '../../../run-ledger/queries.ts';
import type { Postponement } from '../../deliveries/claim-queries.ts';
import type { HoldRow } from '../../deliveries/hold-queries.ts';
import { type Holdable, readHolds } from '../../deliveries/holds-in-force.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';
import type { WaitReason } from '../../deliveries/status.ts';

/**
 * Longest wait in a stop without a known end. So the queue continues within a day, even after an
 * interrupted release.
 */
const lookAgainMs = 24 * 60 * 60_000;

export function stopOfHold(holdId: string): string {
  return `held ${holdId}`;
}

export function stopOfPause(organizationId: string, domain?: string): string {
  return domain === undefined ? `paused ${organizationId}` : `paused ${organizationId} ${domain}`;
}

export function stopOfQuota(organizationId: string): string {
  return `quota ${organizationId}`;
}

export function stopOfShare(organizationId: string): string {
  return `share ${organizationId}`;
}

export function stopOfRun(runId: string): string {
  return `run ${runId}`;
}

/** Returns the hold in the name of a hold lane; null for any other lane. */
export function holdOfStop(lane: string | null): string | null {
  return lane?.startsWith(stopOfHold('')) ? lane.slice(stopOfHold('').length) : null;
}

/** Returns the organization in the name of a share lane; null for any other lane. */
export function organizationOfShare(lane: string | null): string | null {
  return lane?.startsWith(stopOfShare('')) ? lane.slice(stopOfShare('').length) : null;
}

function stopOfWarming(organizationId: string, domain: string): string {
  return `warming ${organizationId} ${domain}`;
}

/** Returns the sending domain in the name of a warming lane; null for any other lane. */
export function domainOfWarming(
  lane: string | null,
): { organizationId: string; domain: string } | null {
  const [kind, organizationId, domain] = lane?.split(' ') ?? [];
  if (kind !== 'warming' || organizationId === undefined || domain === undefined) return null;
  return { organizationId, domain };
}

/**
 * Returns the postponement of a delivery without a place in the window of the warming domain. The
 * lane orders deliveries by their age limit, at which a delivery is attempted anyway.
 */
export function deferredByWarming(
  row: Pick<DeliveryRow, 'id' | 'organization_id' | 'sender_domain' | 'expires_at'>,
): Postponement {
  const lane = stopOfWarming(row.organization_id, row.sender_domain);
  return { id: row.id, lane, dueAt: row.expires_at, waitReason: 'rate' };
}

type Pausable = Pick<DeliveryRow, 'id' | 'organization_id' | 'sender_domain'>;

/** Returns the postponement of a held delivery. */
export function heldBy(hold: HoldRow, id: string, now: number): Postponement {
  // The specification's wait reasons: `tenant-health` for a hold on an organization, else
  // `provider-unavailable`.
  const waitReason: WaitReason =
    hold.organization_id === null ? 'provider-unavailable' : 'tenant-health';
  return { id, lane: stopOfHold(hold.id), dueAt: now + lookAgainMs, waitReason };
}

/** Paused organizations and held sending domains, as read in a transaction. */
export interface Pauses {
  /** Returns the postponement of a paused delivery, or null without a pause. */
  on(row: Pausable, now: number): Postponement | null;
}

/**
 * Reads pauses and held domains. A resume waits for this transaction, so they stay in force until
 * it ends.
 */
export async function readPauses(trx: Db): Promise<Pauses> {
  const paused = new Set(await lockPausedOrganizations(trx));
  const held = new Set(
    (await lockHeldDomains(trx)).map(({ organizationId, domain }) =>
      stopOfPause(organizationId, domain),
    ),
  );
  return {
    on({ id, organization_id, sender_domain }, now) {
      const dueAt = now + lookAgainMs;
      if (paused.has(organization_id)) {
        return { id, lane: stopOfPause(organization_id), dueAt, waitReason: 'tenant-health' };
      }
      if (held.size === 0) return null;
      const lane = stopOfPause(organization_id, sender_domain);
      return held.has(lane) ? { id, lane, dueAt, waitReason: 'domain-health' } : null;
    },
  };
}

type OfRun = Pick<DeliveryRow, 'id' | 'campaign_run_id'>;

/** Stopped campaign runs, as read in a transaction. */
export interface RunStops {
  /** Returns the postponement of mail of a paused or held run, or null for any other mail. */
  on(row: OfRun, now: number): Postponement | null;
  /** Tells whether the run of the mail is cancelled. */
  isCancelled(row: OfRun): boolean;
}

/**
 * Reads the stopped runs of these deliveries. A resume waits for this transaction, so they stay
 * stopped until it ends. Reads nothing for mail without a run.
 */
export async function readRunStops(trx: Db, rows: readonly OfRun[]): Promise<RunStops> {
  const ids = new Set(rows.flatMap(({ campaign_run_id }) => campaign_run_id ?? []));
  const stopped = ids.size === 0 ? [] : await lockStoppedRuns(trx, [...ids]);
  const statuses = new Map(stopped.map(({ id, status }) => [id, status]));
  return {
    on({ id, campaign_run_id: runId }, now) {
      const status = statuses.get(runId ?? '');
      if (runId === null || status === undefined || status === 'cancelled') return null;
      const dueAt = now + lookAgainMs;
      return { id, lane: stopOfRun(runId), dueAt, waitReason: 'campaign-paused' };
    },
    isCancelled: ({ campaign_run_id }) => statuses.get(campaign_run_id ?? '') === 'cancelled',
  };
}

/**
 * All holds, pauses and stopped runs, as read in one transaction. A claim checks them first, and
 * then the limits of the provider (lane) and of the organization (share).
 */
export interface Stops {
  /** Returns the postponement of a stopped delivery, or null without a stop. */
  on(row: Holdable & Pausable & OfRun, now: number): Postponement | null;
  isCancelled: RunStops['isCancelled'];
}

/**
 * Reads holds, pauses, and the runs of these deliveries. They stay in force until the transaction
 * ends.
 */
export async function readStops(trx: Db, rows: readonly OfRun[]): Promise<Stops> {
  const holds = await readHolds(trx);
  const pauses = await readPauses(trx);
  const runs = await readRunStops(trx, rows);
  return {
    on(row, now) {
      const hold = holds.of(row);
      if (hold) return heldBy(hold, row.id, now);
      return pauses.on(row, now) ?? runs.on(row, now);
    },
    isCancelled: runs.isCancelled,
  };
}
