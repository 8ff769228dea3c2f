// Which bodies were stored lately, so that a body is stored once however many messages share it. In
// memory rather than by a unique index on a digest: random index keys halve the accept rate
// (docs/decisions.md, "Store"). What a restart forgets is stored once more, nothing else.
import { keepContents } from '../messages/content-queries.ts';
import { recentlyUsed } from '../runtime/recently-used.ts';
import type { Db } from '../store/db.ts';

/** Bodies recur within a mailing; ten times as many would crowd the caches of the processor. */
const mostRemembered = 2_000;

/** Content ids by digest, as one transaction may use them. */
export interface RecentContents {
  /** Looks for the contents with these digests, all at once: those that are stored stay. */
  keep(digests: readonly string[]): Promise<void>;
  /** The id of the content with this digest that is kept or the transaction stores, or null. */
  find(digest: string): string | null;
  /** The transaction itself stores this content. */
  remember(digest: string, contentId: string): void;
}

/**
 * Returns the view of one run of a transaction; what it remembers after a rollback is found missing.
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
