// Running a transaction again that met another one.
import { isDuplicate } from './db.ts';

/**
 * Runs `work` again where another transaction took a unique value in between: then it is found. `times`: as
 * often, for what names so many values that each run may meet another one.
 */
export async function orAgain<T>(work: () => Promise<T>, times = 1): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (times === 0 || !isDuplicate(error)) throw error;
    return orAgain(work, times - 1);
  }
}
