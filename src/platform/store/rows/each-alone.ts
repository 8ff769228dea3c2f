// Work on several rows in a transaction, in which a row that always fails does not stop the rest.
import { CapacityError } from '../../errors.ts';

/**
 * Works on all items together. After an error, works on each item alone, and calls `onFailure` for
 * items that fail again. Returns the results of successful calls.
 * @throws CapacityError if the store cannot be used now, which no item causes
 */
export async function togetherOrAlone<T, R>(
  items: readonly T[],
  work: (some: readonly T[]) => Promise<R>,
  onFailure: (item: T, error: unknown) => Promise<void> | void,
): Promise<R[]> {
  try {
    return [await work(items)];
  } catch (error) {
    if (error instanceof CapacityError) throw error;
  }
  const results: R[] = [];
  for (const item of items) {
    try {
      results.push(await work([item]));
    } catch (error) {
      if (error instanceof CapacityError) throw error;
      await onFailure(item, error);
    }
  }
  return results;
}
