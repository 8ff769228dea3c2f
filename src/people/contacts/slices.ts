// Reads all contacts of an organization in slices (ranges of ids), three at once, outside of the
// event loop. Each slice has the deadline of the store, so a large organization does not exceed it.
import type { Db, Store } from '../../platform/store/db.ts';
import type { ContactRange } from './condition-queries.ts';
import { countOfTag } from './count-queries.ts';
import { findIdFurther, findLastId } from './queries.ts';

const contactsPerSlice = 100_000;
/** Most slices that are read at once. */
const mostAtOnce = 3;

/** Returns the id ranges of slices, oldest first. They cover all contacts up to the newest. */
async function slicesOf(db: Db, organizationId: string, size: number): Promise<ContactRange[]> {
  const last = await findLastId(db, organizationId);
  if (last === null) return [];
  const slices: ContactRange[] = [];
  let left = await countOfTag(db, organizationId);
  let after = '';
  for (; left > size; left -= size) {
    const until = await findIdFurther(db, organizationId, after, last, size - 1);
    if (until === undefined) break;
    slices.push({ after, until });
    after = until;
  }
  return after < last ? [...slices, { after, until: last }] : slices;
}

/** Returns a result for each slice. @throws OverdueError; CapacityError as `Store.aside`. */
export async function readSlices<T>(
  store: Store,
  organizationId: string,
  read: (db: Db, range: ContactRange) => Promise<T>,
  size = contactsPerSlice,
): Promise<T[]> {
  const slices = await store.aside(organizationId, (db) => slicesOf(db, organizationId, size));
  const results: T[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < slices.length; index = next++) {
      const range = slices[index] as ContactRange;
      const reading = store.aside(organizationId, (db) => read(db, range));
      reading.catch(() => {
        next = slices.length;
      });
      results[index] = await reading;
    }
  };
  await Promise.all(Array.from({ length: mostAtOnce }, work));
  return results;
}
