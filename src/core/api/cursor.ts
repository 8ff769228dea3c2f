// Cursor lists (specification 2.3): newest first; the next page begins after the last row of the
// previous page. A cursor is opaque and belongs to a list with filters; a cursor of a different
// list is refused.
import { createHash } from 'node:crypto';
import { ValidationError } from '../../platform/errors.ts';
import { anyIdPattern, timeOfId } from '../../platform/runtime/ids.ts';

/** A page of a cursor list; `nextCursor` is null on the last page. */
export interface CursorPage<T> {
  items: T[];
  nextCursor: string | null;
}

/** Position of the last row of a page. */
export interface CursorPosition {
  /** Time of the row, ms since 1970. */
  at: number;
  id: string;
}

/**
 * Cuts rows to a page of `limit`. An extra row shows that a page follows; `positionOf` returns the
 * position of the last row on the page.
 */
export function cutPage<Row>(
  scope: readonly unknown[],
  rows: readonly Row[],
  limit: number,
  positionOf: (row: Row) => CursorPosition,
): { shown: Row[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { shown, nextCursor: last ? cursorAfter(scope, positionOf(last)) : null };
}

/** Returns the position of a row in a list by id. */
export const positionOfId = ({ id }: { id: string }): CursorPosition => ({ at: timeOfId(id), id });

/** Returns a digest of the list and the filters. `scope` has them in a fixed order. */
function bindingOf(scope: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(scope)).digest('base64url').slice(0, 12);
}

export function cursorAfter(scope: readonly unknown[], { at, id }: CursorPosition): string {
  return Buffer.from(`${bindingOf(scope)} ${at} ${id}`).toString('base64url');
}

/**
 * Reads a cursor.
 * @throws ValidationError on `cursor` if it is malformed, or of a different list or different
 * filters.
 */
export function readCursor(scope: readonly unknown[], cursor: string): CursorPosition {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const [binding, at = '', id = ''] = text.split(' ');
  if (!/^\d{1,15}$/.test(at) || !anyIdPattern.test(id)) {
    throw ValidationError.of('cursor', 'is not a cursor: pass `nextCursor` back unchanged');
  }
  if (binding !== bindingOf(scope)) {
    throw ValidationError.of(
      'cursor',
      'belongs to a list with other filters: use the same filters',
    );
  }
  return { at: Number(at), id };
}
