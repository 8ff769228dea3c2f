// Authors and last editors of notes and drafts.
import { type Caller, callerId } from '../../core/api/route.ts';
import { ForbiddenError } from '../../platform/errors.ts';
import type { Author } from './schema.ts';

type Kind = Author['kind'];

/**
 * Columns for author and editor in notes and drafts. The editor is null before the first change.
 */
export interface AuthoredRow {
  author_kind: Kind;
  author_id: string | null;
  author_name: string | null;
  editor_kind: Kind | null;
  editor_id: string | null;
  editor_name: string | null;
}

/**
 * Returns the caller as the author of an act. A person acts by a personal key or at the command
 * line.
 */
export function authorOf(caller: Caller): Author {
  const { by, keyName, owner, installation } = caller;
  if (installation !== null) {
    return { kind: 'installation', id: installation.id, displayName: keyName };
  }
  const kind = owner === 'person' ? 'user' : 'key';
  const displayName = by.kind === 'operator' ? 'operator' : keyName;
  return { kind, id: callerId(caller), displayName };
}

/** Returns the author and editor columns for a row that the caller creates: no editor yet. */
export function authoredBy(caller: Caller): AuthoredRow {
  const { kind, id, displayName } = authorOf(caller);
  return {
    author_kind: kind,
    author_id: id,
    author_name: displayName,
    editor_kind: null,
    editor_id: null,
    editor_name: null,
  };
}

/** Returns the editor columns for a change by the caller. */
export function editedBy(caller: Caller) {
  const { kind, id, displayName } = authorOf(caller);
  return { editor_kind: kind, editor_id: id, editor_name: displayName };
}

/** Returns author and last editor in the form of the API. */
export function presentAuthors(row: AuthoredRow): { author: Author; editedBy: Author | null } {
  const { author_kind, author_id, author_name, editor_kind, editor_id, editor_name } = row;
  return {
    author: { kind: author_kind, id: author_id, displayName: author_name },
    editedBy: editor_kind && { kind: editor_kind, id: editor_id, displayName: editor_name },
  };
}

/**
 * Restricts a key that may only propose to rows that the key wrote and that nobody else changed.
 * @throws ForbiddenError
 */
export function requireOwn(caller: Caller, row: AuthoredRow, noun: 'draft' | 'note'): void {
  if (caller.sendMode === 'send') return;
  const { kind, id } = authorOf(caller);
  const isOwn = row.author_id === id && row.author_kind === kind;
  const isItsAlone = row.editor_kind === null || row.editor_id === id;
  if (isOwn && isItsAlone) return;
  throw new ForbiddenError(
    `A key whose mail waits for approval changes only its own ${noun}s that nobody ` +
      `else has changed: create another ${noun}`,
  );
}
