// Reads for searches, and for lists by a filter that has no counter. They run outside of the event
// loop, until the deadline of the store (src/platform/store/aside.ts).
import { ValidationError } from '../../platform/errors.ts';
import { unlessOverdue } from '../../platform/store/aside.ts';
import type { Db, Store } from '../../platform/store/db.ts';

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
