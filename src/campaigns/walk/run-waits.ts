// The pace of a run. A run waits, and does not fail, at each of these limits:
//
//   waitReason  | waits for                                    | checked again
//   ------------+----------------------------------------------+-----------------------------------
//   rate        | tokens of the organization's bucket, half of | at the next token, every 0.5 s
//               | which stays for requests                     |
//   daily-quota | the daily quota to allow mail                | each 15 s, for a change of plan
//   warming     | the warming window of the sending domain     | each 15 s, for a change by hand
//   queue       | the run's mail to leave the queue: 5,000 at  | each second
//               | most are in it                               |
import { findSpent } from '../../access/admission/quota.ts';
import type { App } from '../../core/app.ts';
import { type RunPlaces, runPlaces } from '../../identity/warming/run-places.ts';
import { queuedOfRun } from '../../outbound/queue/desk/runs.ts';
import type { Wait } from '../../run-ledger/next-look.ts';
import type { RunState } from '../../run-ledger/queries.ts';

/**
 * Most queued deliveries of a run. With few in the queue, a pause takes effect at once, and a large
 * run delays other mail little.
 */
const mostQueued = 5_000;

/** Returns the wait for the next warming window. */
export function waitForWarming({ opensAt }: Pick<RunPlaces, 'opensAt'>): Wait {
  return { reason: 'warming', until: opensAt };
}

/** Number of messages that the next page may make, as far as known before the transaction. */
export interface Room {
  /** Most messages of the page. */
  most: number;
  /** Deliveries that the run may still add to the queue. */
  queue: number;
  /** Reason to wait; null if a message may be made. */
  wait: Wait | null;
}

/** Returns how many messages a page of at most `pageSize` may make, and the reason to wait. */
export async function roomFor(
  app: App,
  run: RunState,
  { pageSize, domainId }: { pageSize: number; domainId: string | null },
): Promise<Room> {
  const { db } = app.store;
  const queue = Math.max(0, mostQueued - (await queuedOfRun(db, run.id)));
  const places = domainId === null ? null : await runPlaces(db, domainId);
  const most = Math.min(pageSize, queue, places?.left ?? pageSize);
  const spent = await findSpent(app, db, [run.organization_id]);
  const clearsAt = spent.get(run.organization_id);
  if (clearsAt !== undefined) {
    return { most: 0, queue, wait: { reason: 'daily-quota', until: clearsAt } };
  }
  if (places?.left === 0) return { most: 0, queue, wait: waitForWarming(places) };
  return { most, queue, wait: queue === 0 ? { reason: 'queue', until: null } : null };
}
