// Caches over lru-cache with a high limit. They usually hold few entries.
import { LRUCache } from 'lru-cache';

/**
 * Creates a cache that keeps the `most` entries used last. Memory grows as the cache fills; with
 * its own `max`, lru-cache would allot 18 bytes for each possible entry at once.
 */
export function recentlyUsed<Value extends {}>(most: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1 });
}

/**
 * Creates a cache like `recentlyUsed` that is also bounded by `mostBytes`. Calls `bytesOf` once per
 * entry. An entry counts at least `mostBytes / most`.
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
