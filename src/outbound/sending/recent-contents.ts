// Contents that were stored a short time ago, so that a content is stored once for any number of
// messages. In memory, because a unique index on random digests would halve the accept rate
// (docs/making/decisions.md, "Store"). After a restart, contents may be stored once more.

import { recentlyUsed } from '../../platform/runtime/recently-used.ts';
import type { Db } from '../../platform/store/db.ts';
import { keepContents } from '../messages/contents/content-queries.ts';

/**
 * Most contents in memory. Contents recur within a mailing, and ten times as many would crowd the
 * caches of the processor.
 */
const mostRemembered = 2_000;

/** Content ids by digest, for the use of a single transaction. */
export interface RecentContents {
  /**
   * Looks up the contents with these digests together. Found contents cannot be deleted until the
   * transaction ends.
   */
  keep(digests: readonly string[]): Promise<void>;
  /**
   * Returns the id of a content with this digest that `keep` found or that the transaction stores;
   * else null.
   */
  find(digest: string): string | null;
  /** Records that the transaction itself stores this content. */
  remember(digest: string, contentId: string): void;
}

/**
 * Returns a function that creates a view for each run of a transaction. A rollback leaves ids of
 * contents that were not stored; the next `keep` finds them missing and forgets them.
 */
export function recentContents(): (trx: Db) => RecentContents {
  const ids = recentlyUsed<string>(mostRemembered);
  return (trx) => {
    const usable = new Map<string, string>();
    return {
      async keep(digests) {
        const wanted = new Map<string, string>();
        for (const digest of digests) {
          const id = usable.has(digest) ? undefined : ids.get(digest);
          if (id !== undefined) wanted.set(digest, id);
        }
        if (wanted.size === 0) return;
        const kept = new Set(await keepContents(trx, [...wanted.values()]));
        for (const [digest, id] of wanted) {
          if (kept.has(id)) usable.set(digest, id);
          else if (ids.get(digest) === id) ids.delete(digest);
        }
      },
      find: (digest) => usable.get(digest) ?? null,
      remember(digest, contentId) {
        ids.set(digest, contentId);
        usable.set(digest, contentId);
      },
    };
  };
}
