// Which bodies were stored lately, so that a body is stored once however many messages share it. In
// memory rather than by a unique index on a digest: random index keys halve the accept rate
// (architecture.md, "Speed"). What a restart forgets is stored once more, nothing else.
import { LRUCache } from 'lru-cache';
import { contentStays } from '../../messages/queries.ts';
import type { Db } from '../../store/db.ts';

/** Bodies recur within a mailing; ten times as many would crowd the caches of the processor. */
const mostRemembered = 2_000;

/** Content ids by digest, as one transaction may use them. */
export interface RecentContents {
  /** The id of the stored content with this digest, or null. */
  find(digest: string): Promise<string | null>;
  /** The transaction itself stores this content. */
  remember(digest: string, contentId: string): void;
}

/** Returns the view of one transaction; what it remembers after a rollback is found missing. */
export function recentContents(): (trx: Db) => RecentContents {
  const ids = new LRUCache<string, string>({ max: mostRemembered });
  return (trx) => {
    const own = new Set<string>();
    return {
      async find(digest) {
        const id = ids.get(digest);
        if (!id) return null;
        if (own.has(id) || (await contentStays(trx, id))) return id;
        ids.delete(digest);
        return null;
      },
      remember(digest, contentId) {
        ids.set(digest, contentId);
        own.add(contentId);
      },
    };
  };
}
