// Counts the contacts of an audience by fate (a message, or the reason to skip the contact), for
// estimates and for the total of a run that starts.

import { readSlices } from '../../people/contacts/slices.ts';
import { CapacityError } from '../../platform/errors.ts';
import { OverdueError } from '../../platform/store/aside.ts';
import type { Store } from '../../platform/store/db.ts';
import { type SkipReason, skipReasons } from '../../run-ledger/schema.ts';
import { countFatesIn, type FatesQuestion } from './queries.ts';

/**
 * Most contacts of a slice of which each is judged. In a larger slice, only contacts are judged for
 * which an index shows a reason to skip: this reads the slice once more, but costs a third.
 */
const mostJudgedEach = 20_000;

/** Number of contacts by fate: `dispatch` get a message. `total` is the sum. */
export interface Fates {
  total: number;
  dispatch: number;
  skipped: Record<SkipReason, number>;
}

/**
 * Counts the contacts of an audience as they would be judged now. Finds no duplicate addresses, as
 * an address belongs to a single contact. `sizes` is for tests. @throws CapacityError if counting
 * takes too long, or as `Store.aside` does.
 */
export async function countFates(
  store: Store,
  question: FatesQuestion,
  sizes: { slice?: number; judgedEach?: number } = {},
): Promise<Fates> {
  const slices = await readSlices(
    store,
    question.organizationId,
    (db, range) => countFatesIn(db, question, range, sizes.judgedEach ?? mostJudgedEach),
    sizes.slice,
  ).catch((error: unknown) => {
    if (!(error instanceof OverdueError)) throw error;
    throw new CapacityError('Counting the audience takes too long', 5, {
      reason: 'capacity-searches',
    });
  });
  const skipped = Object.fromEntries(skipReasons.map((reason) => [reason, 0]));
  const fates: Fates = { total: 0, dispatch: 0, skipped: skipped as Fates['skipped'] };
  for (const [fate, count] of slices.flatMap((one) => [...one])) {
    fates.total += count;
    if (fate === null) fates.dispatch += count;
    else fates.skipped[fate] += count;
  }
  return fates;
}
