// Caches that may grow large and mostly stay small.
import { LRUCache } from 'lru-cache';

/**
 * A cache of the `most` entries used last, which takes memory as it fills. With its own `max`,
 * lru-cache allots 18 bytes for each possible entry at once.
 */
export function recentlyUsed<Value extends {}>(most: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1 });
}

/**
 * As `recentlyUsed`, of at most `mostBytes` too. `bytesOf` is asked once for each entry; a small one counts
 * as the `most`th part of the bytes.
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
