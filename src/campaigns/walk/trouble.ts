// A turn that throws puts its run off, so that the other runs continue. The run says why, until
// a turn succeeds.
//
//   waitReason | error                                                        | tried again after
//   -----------+--------------------------------------------------------------+------------------
//   audience   | a read of the audience took too long, of a single contact   | 15 s
//   capacity   | workers or searches are busy                                 | 5 s
//   error      | any other error; the log has it                              | 5 s
import type { App } from '../../core/app.ts';
import { CapacityError } from '../../platform/errors.ts';
import { OverdueError } from '../../platform/store/aside.ts';
import { lookPauseMs } from '../../run-ledger/next-look.ts';
import type { RunTrouble } from '../../run-ledger/schema.ts';
import { type DueRun, putOffRun } from '../../run-ledger/walk-queries.ts';

const pauseMs = 5_000;

function troubleOf(error: unknown): RunTrouble {
  if (error instanceof OverdueError) return 'audience';
  return error instanceof CapacityError ? 'capacity' : 'error';
}

/** Puts a run off after an error of the turn. Logs each trouble once. */
export async function waitAfter(app: App, run: DueRun, error: unknown): Promise<void> {
  const trouble = troubleOf(error);
  if (trouble !== run.wait_reason) {
    const known = { err: error, runId: run.id, waitReason: trouble };
    const message = 'a campaign run cannot go on: trying again';
    if (trouble === 'error') app.log.error(known, message);
    else app.log.warn(known, message);
  }
  const dueAt = app.clock.now() + (trouble === 'audience' ? lookPauseMs(app.clock) : pauseMs);
  const isToGoOn = run.status === 'scheduled' || run.status === 'running';
  await app.store.write((trx) => putOffRun(trx, run, dueAt, isToGoOn ? trouble : null), 'quiet');
}
