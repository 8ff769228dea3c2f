// Retries a transaction that lost a race for a unique value.
import { isDuplicate } from './db.ts';

/**
 * Runs `work` again if a parallel transaction inserted the same unique value, which the next run
 * finds. `times` is the number of retries: 2 or more for work with so many values that each run may
 * meet a new conflict.
 */
export async function orAgain<T>(work: () => Promise<T>, times = 1): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (times === 0 || !isDuplicate(error)) throw error;
    return orAgain(work, times - 1);
  }
}
