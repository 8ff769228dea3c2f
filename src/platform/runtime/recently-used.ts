// Caches over lru-cache with a high limit, which usually hold few entries.
import { LRUCache } from 'lru-cache';

/**
 * Creates a cache of the `most` entries used last, whose memory grows as it fills. With its own `max`,
 * lru-cache allots 18 bytes for each possible entry at once.
 */
export function recentlyUsed<Value extends {}>(most: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1 });
}

/**
 * Creates a cache like `recentlyUsed`, also bounded by `mostBytes`. Calls `bytesOf` once per entry; a small
 * entry counts as the `most`th part of the bytes.
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
