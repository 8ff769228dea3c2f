// Lists and maps whose size is looked at before what is in them: 250,000 bad entries held the event loop
// for a second. Of a map zod looks at every entry first.
import { z } from 'zod';

/**
 * `list`, but one longer than `most` is refused as a whole: none of its entries is looked at, as zod asks
 * first for the size of a list that has a bound.
 */
export function boundedList<List extends z.ZodArray>(
  list: List,
  most: number,
  message = `Too big: expected array to have <=${most} items`,
) {
  return list.max(most, message);
}

/** `map`, but one of more than `most` keys is refused as a whole. */
export function boundedMap<Map extends z.ZodRecord>(
  map: Map,
  most: number,
  message = `at most ${most} keys`,
) {
  return z.preprocess((value, context) => {
    if (typeof value !== 'object' || value === null || !hasMoreKeys(value, most)) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }, map);
}

/** Counts no further than it has to. */
function hasMoreKeys(map: object, most: number): boolean {
  let count = 0;
  for (const _key in map) {
    count += 1;
    if (count > most) return true;
  }
  return false;
}
