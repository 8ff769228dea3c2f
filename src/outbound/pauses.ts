// What a paused organization's queue does (specification 3, contract 6): it waits, each delivery put
// aside when its turn comes, until the resume makes it ready. A hold (holds.ts) is the operator's own;
// both may be on one delivery. When an organization is paused: src/usage/health.ts.
import type { App } from '../app.ts';
import { recordWorkspaceEvent } from '../events/events.ts';
import type { Postponement } from '../messages/delivery-queries.ts';
import { getOrganization, resumeOrganization } from '../organizations/organizations.ts';
import { lockPausedOrganizations } from '../organizations/queries.ts';
import type { Organization } from '../organizations/schema.ts';
import type { Db } from '../store/db.ts';
import { forgive } from '../usage/health.ts';
import { changeQueue, giveTurnsNow, type OnProgress } from './queue-walk.ts';

/** A pause has no end; should its resume be interrupted, the queue goes on within the day. */
const lookAgainMs = 24 * 60 * 60_000;

/** The lane that keeps what waits for a resume; no lane of a provider has such a name. */
function laneOfPause(organizationId: string): string {
  return `paused ${organizationId}`;
}

/** Who is paused, as long as the transaction lasts: a resume waits for it. */
export async function readPaused(trx: Db): Promise<ReadonlySet<string>> {
  return new Set(await lockPausedOrganizations(trx));
}

/** How a delivery of a paused organization waits. */
export function pausedBy(organizationId: string, id: string, now: number): Postponement {
  const lane = laneOfPause(organizationId);
  return { id, lane, dueAt: now + lookAgainMs, waitReason: 'tenant-health' };
}

/**
 * Lets a paused organization send again: what waits is ready at once, and what its mail did so far
 * counts no more against it.
 * @throws ConflictError when it is not paused, ResourceNotFoundError.
 */
export async function resumeSending(
  app: App,
  idOrName: string,
  onProgress?: OnProgress,
): Promise<Organization> {
  const { id, sendingStatus } = await getOrganization(app, idOrName);
  // Before the resume: the first outcome after it must not pause again for what was reviewed.
  if (sendingStatus === 'paused') await app.store.write((trx) => forgive(app, trx, id));
  const resumed = await resumeOrganization(app, id);
  await app.store.write((trx) =>
    recordWorkspaceEvent(app, trx, {
      organizationId: id,
      eventType: 'workspace.resumed',
      status: 'enabled',
      timestamp: app.clock.now(),
      metadata: null,
    }),
  );
  const options = { half: 'due', filter: { lane: laneOfPause(id) } } as const;
  const giveTurns = async (trx: Db, rows: Parameters<typeof giveTurnsNow>[2]) =>
    (await giveTurnsNow(app, trx, rows)).length;
  await changeQueue(app, options, giveTurns, onProgress);
  return resumed;
}
