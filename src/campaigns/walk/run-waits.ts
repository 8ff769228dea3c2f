// The pace of a run. It waits, and does not fail, for any of these:
//
//   waitReason  | waits for                                     | looks again
//   ------------+-----------------------------------------------+---------------------------------------
//   rate        | tokens of the organization's bucket, half of  | at the next token, each half second
//               | which stays for requests                      |
//   daily-quota | room in the quota                             | each 15 s, for a change of plan
//   warming     | places in a window of the sending domain      | each 15 s, for a change by a person
//   queue       | the run's mail to leave the queue: 5,000 at   | each second
//               | most are in it                                |
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

/** Wait for places in the next window. */
export function waitForWarming({ opensAt }: Pick<RunPlaces, 'opensAt'>): Wait {
  return { reason: 'warming', until: opensAt };
}

/** Room for a page, as far as it can be known before the transaction. */
export interface Room {
  /** Most messages of the page. */
  most: number;
  /** Free places in the queue. */
  queue: number;
  /** Reason to wait; null if there is room for a message. */
  wait: Wait | null;
}

/** Returns the room for a page of at most `pageSize` messages. */
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
