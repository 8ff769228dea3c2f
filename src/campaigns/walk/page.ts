// A page of a running run. The contacts are read, and their messages prepared, before the
// transaction that judges them again and stores everything (store-page.ts). A crash before the
// commit costs tokens, and the same page is prepared again, so each contact is judged exactly once.
import { admissionOf } from '../../access/admission/admission.ts';
import type { App } from '../../core/app.ts';
import { findRunState, type RunState } from '../../run-ledger/queries.ts';
import type { PreparationEnds } from '../mail/dispatch.ts';
import { findHold } from './holds.ts';
import { preparePage } from './prepare-page.ts';
import { roomFor } from './run-waits.ts';
import { holdOrWait, storePage } from './store-page.ts';
import { snapshotsOf } from './walked-run.ts';

/**
 * Judges and stores the next page of contacts of a leased run, up to the contact at which the turn
 * ends. If a hold or a limit applies, the run is held or waits.
 */
export async function walkPage(
  app: App,
  worker: string,
  { id, organization_id: organizationId }: Pick<RunState, 'id' | 'organization_id'>,
  turn: PreparationEnds,
): Promise<void> {
  const { db } = app.store;
  const run = await findRunState(db, id);
  if (run?.status !== 'running') return;
  const snapshots = await snapshotsOf(app, run);
  const going = await findHold(app, db, run, snapshots);
  if (going.hold) return holdOrWait(app, worker, run, snapshots, null);
  const { pageSize } = snapshots.policy;
  const room = await roomFor(app, run, { pageSize, domainId: going.sender.domainId });
  if (room.wait) return holdOrWait(app, worker, run, snapshots, room.wait);
  const page = await preparePage(app, run, snapshots, { room, turn });
  let used = 0;
  try {
    used = await app.store.write((trx) => storePage(app, trx, worker, page));
  } finally {
    const unused = page.tokens.drawn - used;
    await admissionOf(app).giveBack({ organizationId, keyId: null }, unused);
  }
}
