// The states of a conversation.
//
//   status            | event                 | next
//   ------------------+-----------------------+-----------------------------------------
//   (none)            | made                  | active
//   active            | an outbound message   | waiting
//   waiting, resolved | an inbound message    | active
//   active, waiting   | resolve               | resolved
//   any but archived  | archive               | archived
//   resolved, archived| reopen                | active
//
// A message outside the table changes nothing: an archived conversation stays archived, and our own
// mail leaves a resolved one resolved. A move by hand outside the table answers 409. An active
// conversation has neither resolution nor archive time.
import { ConflictError } from '../../platform/errors.ts';
import type { ConversationRow } from './queries.ts';
import type { ConversationStatus, Move, Resolve } from './schema.ts';

type State = Pick<
  ConversationRow,
  | 'status'
  | 'status_reason'
  | 'resolved_at'
  | 'resolution_type'
  | 'resolution_notes'
  | 'archived_at'
>;

const open = {
  resolved_at: null,
  resolution_type: null,
  resolution_notes: null,
  archived_at: null,
};

/**
 * Returns the columns that a message changes; empty if the status stays. The new status is always
 * active or waiting, on which `countMessages` (queries.ts) relies.
 */
export function stateAfterMessage(
  { status }: Pick<ConversationRow, 'status'>,
  { id, direction }: { id: string; direction: 'outbound' | 'inbound' },
): Partial<Pick<State, 'status' | 'status_reason'>> {
  if (direction === 'outbound') {
    if (status !== 'active') return {};
    return { status: 'waiting', status_reason: `${id} was sent` };
  }
  if (status !== 'waiting' && status !== 'resolved') return {};
  return { status: 'active', status_reason: `${id} was received` };
}

const froms = {
  resolve: ['active', 'waiting'],
  archive: ['active', 'waiting', 'resolved'],
  reopen: ['resolved', 'archived'],
} as const satisfies Record<string, readonly ConversationStatus[]>;

export type MoveName = keyof typeof froms;

/**
 * Returns the columns that a move by the caller changes.
 * @throws ConflictError if the present status does not allow the move.
 */
export function stateAfterMove(
  { id, status }: Pick<ConversationRow, 'id' | 'status'>,
  move: MoveName,
  { statusReason = null, ...input }: Move | Resolve,
  now: number,
): Partial<State> {
  const from: readonly ConversationStatus[] = froms[move];
  if (!from.includes(status)) {
    const text = `${id} is ${status}: ${move} needs one that is ${from.join(' or ')}`;
    throw new ConflictError('conversation', text);
  }
  const reason = { status_reason: statusReason };
  if (move === 'archive') return { ...reason, status: 'archived', archived_at: now };
  if (move === 'reopen') return { ...open, ...reason, status: 'active' };
  const { resolutionType = 'manual', resolutionNotes = null }: Resolve = input;
  return {
    ...reason,
    status: 'resolved',
    resolved_at: now,
    resolution_type: resolutionType,
    resolution_notes: resolutionNotes,
  };
}
