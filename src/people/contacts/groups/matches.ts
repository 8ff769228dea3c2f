// Finds the members of contact groups that a query defines. A page reads the newest contacts until
// it is full. If few contacts match, that can exceed the deadline: then all contacts are read in
// concurrent slices.
import { ValidationError } from '../../../platform/errors.ts';
import { unlessOverdue } from '../../../platform/store/aside.ts';
import type { Store } from '../../../platform/store/db.ts';
import { type AskedQuery, countMatches, listMatches } from '../condition-queries.ts';
import { contactNoun } from '../schema.ts';
import { readSlices } from '../slices.ts';

/** Largest `offset + limit` that is read in slices: each slice returns that many rows. */
const deepestRow = 10_000;

/** Range of all contact ids. */
const everything = { after: '', until: `${contactNoun.prefix}_~` };

interface Range {
  limit: number;
  offset: number;
}

/** Counts the contacts that match a query. Returns null if it takes too long. */
export async function countMembers(store: Store, asked: AskedQuery): Promise<number | null> {
  const counted = readSlices(store, asked.organizationId, (db, range) =>
    countMatches(db, asked, range),
  );
  return (await unlessOverdue(counted))?.reduce((sum, count) => sum + count, 0) ?? null;
}

/**
 * Returns the ids of a page of members, newest first.
 * @throws ValidationError if the page exceeds the deadline; CapacityError as `Store.aside` does.
 */
export async function listQueryMembers(
  store: Store,
  asked: AskedQuery,
  { limit, offset }: Range,
): Promise<string[]> {
  const { organizationId } = asked;
  const newest = await unlessOverdue(
    store.aside(organizationId, (db) => listMatches(db, asked, everything, { limit, offset })),
  );
  if (newest) return newest;
  const rows = offset + limit;
  const found =
    rows <= deepestRow
      ? await unlessOverdue(
          readSlices(store, organizationId, (db, range) =>
            listMatches(db, asked, range, { limit: rows, offset: 0 }),
          ),
        )
      : null;
  if (found) return found.reverse().flat().slice(offset, rows);
  throw ValidationError.of('query', 'matches too slowly: use a more specific query');
}
