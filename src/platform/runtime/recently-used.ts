// Caches over lru-cache for a high limit that is seldom reached.
import { LRUCache } from 'lru-cache';

/**
 * Creates a cache of the `most` entries used last. Memory grows with the entries; the option `max`
 * of lru-cache would allocate 18 bytes for each possible entry at once.
 */
export function recentlyUsed<Value extends {}>(most: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1 });
}

/**
 * Creates a cache like `recentlyUsed` that `mostBytes` also bounds. Calls `bytesOf` once per entry.
 * An entry counts at least `mostBytes / most`.
 */
export function recentlyUsedBytes<Value extends {}>(
  most: number,
  mostBytes: number,
  bytesOf: (value: Value, key: string) => number,
): LRUCache<string, Value> {
  const least = Math.ceil(mostBytes / most);
  const sizeCalculation = (value: Value, key: string) => Math.max(bytesOf(value, key), least);
  return new LRUCache({ maxSize: mostBytes, sizeCalculation });
}
