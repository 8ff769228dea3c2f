// Stops: what keeps mail back whatever its provider's lane says. What a stop keeps waits in a lane of the
// stop's name, put there when its turn comes; no lane of a provider has such a name.
//
//   stop        | lane                | waits for                           | wait reason
//   ------------+---------------------+-------------------------------------+--------------------------
//   hold        | held HOLD           | the operator's release              | tenant-health, or
//               |                     |                                     | provider-unavailable
//   pause       | paused ORG          | the resume of the organization      | tenant-health
//   domain hold | paused ORG DOMAIN   | the resume of the sending domain    | domain-health
//   quota       | quota ORG           | the next day, or a larger plan      | daily-quota
//   share       | share ORG           | places of its own to get free       | rate
//
// Several may be on one delivery; they are asked in this order, and again at its next turn. Holds and
// resumes: desk/; quotas: scheduled.ts; shares: lanes/shares.ts. When an organization is paused or a
// domain held: src/usage/health.ts, src/usage/domain-holds.ts.

import type { Postponement } from '../deliveries/claim-queries.ts';
import type { DeliveryRow } from '../deliveries/queries.ts';
import type { WaitReason } from '../deliveries/status.ts';
import { lockPausedOrganizations } from '../organizations/queries.ts';
import type { Db } from '../store/db.ts';
import { lockHeldDomains } from '../usage/domain-holds.ts';
import { type HoldRow, lockActiveHolds, selectHolds } from './hold-queries.ts';

/** A stop has no end; should its release be interrupted, the queue goes on within the day. */
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

/** The hold that keeps what waits in this lane, or null. */
export function holdOfStop(lane: string | null): string | null {
  return lane?.startsWith(stopOfHold('')) ? lane.slice(stopOfHold('').length) : null;
}

/** The organization for whose share waits what is in this lane, or null. */
export function organizationOfShare(lane: string | null): string | null {
  return lane?.startsWith(stopOfShare('')) ? lane.slice(stopOfShare('').length) : null;
}

/** What a hold names; what is null in it is anything. */
export type HoldScope = Pick<HoldRow, 'organization_id' | 'domain' | 'message_id' | 'delivery_id'>;

const anything: HoldScope = {
  organization_id: null,
  domain: null,
  message_id: null,
  delivery_id: null,
};

/** As the column `scope` has it. */
export function scopeOf(scope: HoldScope): string {
  const { organization_id, domain, message_id, delivery_id } = scope;
  return [organization_id, domain, message_id, delivery_id].map((part) => part ?? '').join(' ');
}

type Holdable = Pick<DeliveryRow, 'id' | 'message_id' | 'organization_id' | 'domain'>;
type Pausable = Pick<DeliveryRow, 'id' | 'organization_id' | 'sender_domain'>;

/** The holds of one moment. */
export interface Holds {
  /** The narrowest hold on a delivery, or null. */
  of(row: Holdable): HoldRow | null;
}

/** The holds that hold, as long as the transaction lasts. */
export async function readHolds(trx: Db): Promise<Holds> {
  return holdsOver(await lockActiveHolds(trx));
}

/** The hold on a delivery at this moment, for those who only look. */
export async function findHoldOn(db: Db, row: Holdable): Promise<HoldRow | null> {
  const active = (await selectHolds(db)).filter(({ released_at }) => released_at === null);
  return holdsOver(active).of(row);
}

function holdsOver(rows: readonly HoldRow[]): Holds {
  const byScope = new Map(rows.map((row) => [row.scope, row]));
  return {
    of({ id, message_id, organization_id, domain }) {
      if (byScope.size === 0) return null;
      const scopes: Partial<HoldScope>[] = [
        { delivery_id: id },
        { message_id },
        { organization_id, domain },
        { domain },
        { organization_id },
      ];
      const found = scopes.map((scope) => byScope.get(scopeOf({ ...anything, ...scope })));
      return found.find((hold) => hold !== undefined) ?? null;
    },
  };
}

/** How a delivery waits that a hold keeps aside. */
export function heldBy(hold: HoldRow, id: string, now: number): Postponement {
  // In the words of the specification: an organization's trouble, or that of where mail goes.
  const waitReason: WaitReason =
    hold.organization_id === null ? 'provider-unavailable' : 'tenant-health';
  return { id, lane: stopOfHold(hold.id), dueAt: now + lookAgainMs, waitReason };
}

/** The pauses and the held domains of one moment. */
export interface Pauses {
  /** How a delivery waits that must not go now; null for one that may. */
  on(row: Pausable, now: number): Postponement | null;
}

/** Who is paused and what is held, as long as the transaction lasts: a resume waits for it. */
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

/** The holds and pauses of one moment: what a claim asks before lane and share. */
export interface Stops {
  /** How a delivery waits that one of them keeps; null for one that may go. */
  on(row: Holdable & Pausable, now: number): Postponement | null;
}

/** As long as the transaction lasts. */
export async function readStops(trx: Db): Promise<Stops> {
  const holds = await readHolds(trx);
  const pauses = await readPauses(trx);
  return {
    on(row, now) {
      const hold = holds.of(row);
      return hold ? heldBy(hold, row.id, now) : pauses.on(row, now);
    },
  };
}
