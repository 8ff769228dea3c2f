// Every move of a run from status to status, by a person or by the service. Each is audited, and
// published where a kind of event exists.
//
//   status                 event     to         also
//   (none)                 created   scheduled  due at the planned time; frozen in the same transaction
//   scheduled              service   running    starts: the members of the audience are read
//   scheduled              service   cancelled  the key may not run campaigns any more
//   scheduled, running     service   failed     the content cannot be sent, or no message could be made
//   scheduled, running     service   paused     the store was restored from a backup
//   running                person    paused     queued mail of the run waits
//   running                service   held       with a reason
//   running                service   completed  every contact was judged
//   paused                 person    running    resumed
//   paused                 person    scheduled  resumed, if it had not started: due at the planned time
//   completed              person    paused     if mail of the run is queued: that mail waits
//   completed              person    cancelled  if mail of the run is queued: that mail is cancelled
//   paused                 person    completed  resumed, if it had been completed
//   held                   both      running    resumed, or the cause has ended
//   scheduled, running,    person    cancelled  due until all mail that has not left is cancelled
//   paused, held
//
// A move that is not in the table answers 409.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import type { AuditAction } from '../../history/audit/schema.ts';
import { type ChangeAuthor, eventToRecord, record } from '../../history/events/record.ts';
import { queuedOfRun } from '../../outbound/queue/desk/runs.ts';
import { ConflictError } from '../../platform/errors.ts';
import type { Db } from '../../platform/store/db.ts';
import { type RunRow, type RunState, updateRun } from '../../run-ledger/queries.ts';
import type { RunStatus } from '../../run-ledger/schema.ts';
import {
  campaignRunCompleted,
  campaignRunFailed,
  campaignRunHeld,
  campaignRunStarted,
} from './events.ts';
import { presentRun } from './present.ts';
import { runNoun } from './schema.ts';

/** Author of a move: a person (by key, or as the operator) or the service itself. */
export type Author = 'person' | 'service';

/** The authors of each possible move, by the status before and after it. */
const runMoves: Readonly<
  Record<RunStatus, Readonly<Partial<Record<RunStatus, readonly Author[]>>>>
> = {
  scheduled: {
    running: ['service'],
    failed: ['service'],
    paused: ['service'],
    cancelled: ['person', 'service'],
  },
  running: {
    paused: ['person', 'service'],
    held: ['service'],
    completed: ['service'],
    failed: ['service'],
    cancelled: ['person'],
  },
  paused: {
    running: ['person'],
    scheduled: ['person'],
    completed: ['person'],
    cancelled: ['person'],
  },
  held: { running: ['person', 'service'], cancelled: ['person'] },
  completed: { paused: ['person'], cancelled: ['person'] },
  failed: {},
  cancelled: {},
};

const participles: Readonly<Record<RunStatus, string>> = {
  scheduled: 'resumed',
  running: 'resumed',
  paused: 'paused',
  held: 'held',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
};

/** Returns the statuses to which `author` may move a run; `hasQueued`: the run has queued mail. */
function movesOf(run: RunState, author: Author, hasQueued: boolean): RunStatus[] {
  if (run.status === 'completed' && !hasQueued) return [];
  const moves = Object.entries(runMoves[run.status]) as [RunStatus, readonly Author[]][];
  const wasCompleted = run.completed_at !== null;
  return moves.flatMap(([to, authors]) => {
    const isResume = run.status === 'paused' && to !== 'cancelled';
    const fits = !isResume || wasCompleted === (to === 'completed');
    return fits && authors.includes(author) ? [to] : [];
  });
}

/** Returns the conflict of a move that is not in the table; it names the possible moves. */
function refusal(
  { id, status }: RunState,
  to: RunStatus,
  moves: readonly RunStatus[],
): ConflictError {
  const isPaused = status === 'paused';
  const named = moves.map((each) =>
    isPaused && each !== 'cancelled' ? 'resumed' : participles[each],
  );
  const possible = [...new Set(named)];
  const only =
    possible.length > 0 ? `it can be ${possible.join(' or ')}` : 'it has ended and can be retried';
  const text = `Run ${id} is ${status} and cannot be ${participles[to]}: ${only}`;
  return new ConflictError(runNoun.name, text);
}

/** Columns of a run that a move changes besides its status. */
export type RunChange = Partial<Omit<RunRow, 'id' | 'organization_id' | 'status'>> & {
  /** Reason of a person, for the audit. */
  note?: string | undefined;
};

const idle = {
  worker: null,
  leased_until: null,
  wait_reason: null,
  next_dispatch_at: null,
  hold_reason: null,
  hold_domain_id: null,
  hold_detail: null,
};

/** Returns the columns that follow from the new status. */
function columnsOf(run: RunState, to: RunStatus, now: number): Partial<RunRow> {
  switch (to) {
    case 'scheduled':
      return { ...idle, due_at: Math.max(now, run.scheduled_for ?? now) };
    case 'running':
      return { ...idle, due_at: now, started_at: run.started_at ?? now };
    case 'cancelled':
      return { ...idle, due_at: now };
    case 'completed':
      return { ...idle, due_at: null, completed_at: run.completed_at ?? now };
    case 'paused':
    case 'held':
    case 'failed':
      return { ...idle, due_at: null };
  }
}

function actionOf(from: RunStatus, to: RunStatus): AuditAction {
  if (to === 'running' && from === 'scheduled') return 'campaign-run.started';
  const isCompletedAgain = to === 'completed' && from === 'paused';
  if (to === 'running' || to === 'scheduled' || isCompletedAgain) return 'campaign-run.resumed';
  return `campaign-run.${to}`;
}

function kindOf(from: RunStatus, to: RunStatus, author: Author) {
  if (to === 'running' && from === 'scheduled') return campaignRunStarted;
  if (to === 'completed') return from === 'paused' ? null : campaignRunCompleted;
  if (to === 'held') return campaignRunHeld;
  if (to === 'failed' || (to === 'cancelled' && author === 'service')) return campaignRunFailed;
  return null;
}

/**
 * Moves a run that the caller locked and read by `lockRun`. `change` overrides columns that follow
 * from the status, such as `due_at` (table above). @throws ConflictError that names the status and
 * the possible moves.
 */
export async function moveRun(
  app: App,
  trx: Db,
  run: RunState,
  to: RunStatus,
  change: RunChange,
  by: Caller | ChangeAuthor,
): Promise<RunState> {
  const author = 'actor' in by && by.actor.type === 'service' ? 'service' : 'person';
  const hasQueued = run.status === 'completed' && (await queuedOfRun(trx, run.id)) > 0;
  const moves = movesOf(run, author, hasQueued);
  if (!moves.includes(to)) throw refusal(run, to, moves);
  const { note, ...columns } = change;
  const now = app.clock.now();
  const moved = await updateRun(trx, run.id, {
    ...columnsOf(run, to, now),
    ...columns,
    status: to,
    updated_at: now,
  });
  const kind = kindOf(run.status, to, author);
  await record(app, trx, by, {
    subject: run.id,
    action: actionOf(run.status, to),
    details: {
      campaignId: run.campaign_id,
      note,
      holdReason: moved.hold_reason,
      holdDomainId: moved.hold_domain_id,
      holdDetail: moved.hold_detail,
      failureReason: moved.failure_reason,
    },
    event: kind && eventToRecord(kind, await presentRun(trx, moved)),
  });
  return moved;
}
