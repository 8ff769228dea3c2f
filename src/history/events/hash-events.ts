// Hashes events of the log by their ids, once memory (fresh.ts) no longer has their hashes.
import type { Db } from '../../platform/store/db.ts';
import { type Hash, leafHash, leafText } from './leaf.ts';
import { countWithin, selectLogSizes, selectResourceRows, selectStepRows } from './log-queries.ts';

/**
 * Returns the hashes of events by id, without deleted events. Reads data of about `bytesAtOnce` at
 * a time.
 */
export async function hashEvents(
  db: Db,
  organizationId: string,
  ids: readonly string[],
  bytesAtOnce: number,
): Promise<Map<string, Hash>> {
  const hashes = new Map<string, Hash>();
  for (const row of await selectStepRows(db, organizationId, ids)) {
    hashes.set(row.id, leafHash(leafText(row)));
  }
  const others = ids.filter((id) => !hashes.has(id));
  if (others.length === 0) return hashes;
  let sizes = await selectLogSizes(db, organizationId, others);
  while (sizes.length > 0) {
    const some = sizes.slice(0, countWithin(sizes, bytesAtOnce)).map(({ id }) => id);
    for (const row of await selectResourceRows(db, organizationId, some)) {
      hashes.set(row.id, leafHash(leafText(row)));
    }
    sizes = sizes.slice(some.length);
  }
  return hashes;
}
