// Who wrote a note or a draft, and who changed it last.
import type { Caller } from '../api/route.ts';
import { ForbiddenError } from '../errors.ts';
import type { Author } from './schema.ts';

type Kind = Author['kind'];

/** The columns of notes and drafts that name people and programs; no editor before the first change. */
export interface AuthoredRow {
  author_kind: Kind;
  author_id: string | null;
  author_name: string | null;
  editor_kind: Kind | null;
  editor_id: string | null;
  editor_name: string | null;
}

/** A person acts by a key of theirs, or at the command line. */
function nameOf({ keyId, keyName, owner }: Caller): Author {
  const kind = owner === 'person' ? 'user' : 'key';
  return { kind, id: keyId, displayName: keyId === null ? 'operator' : keyName };
}

/** The columns of something that the caller writes now. */
export function authoredBy(caller: Caller): AuthoredRow {
  const { kind, id, displayName } = nameOf(caller);
  return {
    ...{ author_kind: kind, author_id: id, author_name: displayName },
    ...{ editor_kind: null, editor_id: null, editor_name: null },
  };
}

/** The columns that a change by the caller sets. */
export function editedBy(caller: Caller) {
  const { kind, id, displayName } = nameOf(caller);
  return { editor_kind: kind, editor_id: id, editor_name: displayName };
}

/** Author and last editor, as the API shows them. */
export function presentAuthors(row: AuthoredRow): { author: Author; editedBy: Author | null } {
  const { author_kind, author_id, author_name, editor_kind, editor_id, editor_name } = row;
  return {
    author: { kind: author_kind, id: author_id, displayName: author_name },
    editedBy: editor_kind && { kind: editor_kind, id: editor_id, displayName: editor_name },
  };
}

/**
 * Lets a key that only proposes change what is its own alone: written by it, and changed by nobody else.
 * @throws ForbiddenError
 */
export function requireOwn(caller: Caller, row: AuthoredRow, noun: 'draft' | 'note'): void {
  if (caller.sendMode === 'send') return;
  const isOwn = row.author_id === caller.keyId && row.author_kind === 'key';
  const isItsAlone = row.editor_kind === null || row.editor_id === caller.keyId;
  if (isOwn && isItsAlone) return;
  throw new ForbiddenError(
    `A key whose mail waits for approval changes only a ${noun} of its own that nobody else has changed: make another ${noun}`,
  );
}
