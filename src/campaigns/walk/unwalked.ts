// Turns of runs that are not walked: held runs, until their cause has ended, and cancelled runs,
// until all of their queued mail is cancelled.
import type { App } from '../../core/app.ts';
import { byService } from '../../history/events/record.ts';
import { cancelRun } from '../../outbound/queue/desk/runs.ts';
import { lookPauseMs } from '../../run-ledger/next-look.ts';
import { lockRun, type RunState, updateRun } from '../../run-ledger/queries.ts';
import { moveRun } from '../setup/moves.ts';
import { cancelledAtOnce } from '../setup/runs.ts';
import { endsByItself, findHold } from './holds.ts';
import { snapshotsOf } from './walked-run.ts';

type Leased = Pick<RunState, 'id' | 'organization_id'>;

/**
 * Resumes a held run if the cause has ended, or checks again later. A second cause replaces
 * an ended cause.
 */
export async function inspectHeld(app: App, worker: string, leased: Leased): Promise<void> {
  const { id } = leased;
  const snapshots = await snapshotsOf(app, leased);
  await app.store.write(async (trx) => {
    const run = await lockRun(trx, id);
    if (run?.status !== 'held' || run.worker !== worker) return;
    const { hold } = await findHold(app, trx, run, snapshots);
    if (!hold) {
      await moveRun(app, trx, run, 'running', {}, byService(run.organization_id));
      return;
    }
    const due_at = endsByItself(hold.hold_reason) ? app.clock.now() + lookPauseMs(app.clock) : null;
    await updateRun(trx, id, { ...hold, due_at });
  });
}

/** Cancels some of the mail of a cancelled run that has not left. */
export async function cancelSome(app: App, worker: string, { id }: Leased): Promise<void> {
  await app.store.write(async (trx) => {
    const run = await lockRun(trx, id);
    if (run?.status !== 'cancelled' || run.worker !== worker) return;
    const isDone = (await cancelRun(app, trx, id, cancelledAtOnce)) < cancelledAtOnce;
    if (isDone) await updateRun(trx, id, { due_at: null, worker: null, leased_until: null });
  });
}
