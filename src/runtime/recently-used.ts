// Caches that may grow large and mostly stay small.
import { LRUCache } from 'lru-cache';

/**
 * A cache of the `most` entries used last, which takes memory as it fills. With its own `max`,
 * lru-cache allots 18 bytes for each possible entry at once.
 */
export function recentlyUsed<Value extends {}>(most: number): LRUCache<string, Value> {
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1 });
}
