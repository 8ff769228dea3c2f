// Reads for searches, and for lists with filters that have no stored count. They run outside of the
// event loop, until the deadline of the store (src/platform/store/aside.ts).
import { ValidationError } from '../../platform/errors.ts';
import { unlessOverdue } from '../../platform/store/aside.ts';
import type { Db, Store } from '../../platform/store/db.ts';
import { boundsOf, type TimeRange } from '../../platform/store/rows/time-range.ts';

type Read<T> = (db: Db) => Promise<T>;

/**
 * Runs the read of a search; errors name the parameter `field`.
 * @throws ValidationError on `field` if the read is overdue; CapacityError as `Store.aside` does.
 */
export async function searchInTime<T extends object>(
  store: Store,
  organizationId: string,
  field: string,
  read: Read<T>,
): Promise<T> {
  const found = await unlessOverdue(store.aside(organizationId, read));
  if (found !== null) return found;
  throw ValidationError.of(field, 'matches too slowly: use a more specific filter');
}

/**
 * Returns the name for errors about a range: `after` if given, else `before`; null without a range.
 */
export function boundNamed(times: TimeRange): 'after' | 'before' | null {
  const { from, to } = boundsOf(times);
  if (from !== undefined) return 'after';
  return to === undefined ? null : 'before';
}

/**
 * Reads a long list. With a range of times the read runs as a search, because it may skip any
 * number of rows; else it runs on the event loop.
 * @throws as `searchInTime`
 */
export function readByTime<T extends object>(
  store: Store,
  organizationId: string,
  times: TimeRange,
  read: Read<T>,
): Promise<T> {
  const field = boundNamed(times);
  return field === null ? read(store.db) : searchInTime(store, organizationId, field, read);
}

interface FilteredPage<Row> {
  organizationId: string;
  field: string;
  rows: Read<Row[]>;
  total: Read<number>;
}

/**
 * Reads and counts a page; `total` is null if counting takes too long.
 * @throws as `searchInTime`.
 */
export async function readFilteredPage<Row>(
  store: Store,
  { organizationId, field, rows, total }: FilteredPage<Row>,
): Promise<{ rows: Row[]; total: number | null }> {
  const [found, counted] = await Promise.all([
    searchInTime(store, organizationId, field, rows),
    unlessOverdue(store.aside(organizationId, total)),
  ]);
  return { rows: found, total: counted };
}
