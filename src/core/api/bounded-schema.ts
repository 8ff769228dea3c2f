// Maps whose size is checked before their entries. zod checks every entry first: 250,000 bad
// entries blocked the event loop for a second. For a list with a `max`, zod itself checks the size
// first.
import { z } from 'zod';

/** Limits `map` to `most` keys; a larger map is refused as a whole. */
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

/** Largest size of a stored map as JSON, so that a page of 100 rows stays small. */
const mostMapBytes = 32_768;

/** Limits a map to `most` keys and 32 KB of JSON. */
export function storedMap<Map extends z.ZodRecord>(map: Map, most: number) {
  return boundedMap(map, most).refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= mostMapBytes,
    { message: 'is longer than 32 KB of JSON' },
  );
}

/** Tells whether a map has more keys than `most`, without counting all of them. */
function hasMoreKeys(map: object, most: number): boolean {
  let count = 0;
  for (const _key in map) {
    count += 1;
    if (count > most) return true;
  }
  return false;
}
