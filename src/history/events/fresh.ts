// Events as they are recorded, for the sealer (src/receipts/sealer.ts): their number in each
// organization, and their hashes, so that the sealer need not read the events again. Events of a
// transaction that is rolled back stay too: a hash is used only for an event in the store.
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { type Hash, leafHash, leafText } from './leaf.ts';
import type { LogRow } from './log-queries.ts';

/** Most hashes kept: a few seconds at the highest rate. Further events are read again. */
export const mostHashes = 50_000;

class FreshEvents {
  /**
   * Called after each event with the number of fresh events of the organization; null without a
   * sealer.
   */
  onCount: ((count: number) => void) | null = null;
  #counts = new Map<string, number>();
  readonly #hashes = new Map<string, Hash>();

  note(row: LogRow): void {
    if (this.onCount === null) return;
    if (this.#hashes.size >= mostHashes) this.#hashes.clear();
    this.#hashes.set(row.id, leafHash(leafText(row)));
    this.count(row.organization_id, 1);
  }

  /** Adds newly recorded events to the count of an organization. */
  count(organizationId: string, added: number): void {
    const sum = (this.#counts.get(organizationId) ?? 0) + added;
    this.#counts.set(organizationId, sum);
    this.onCount?.(sum);
  }

  /** Number of events whose hashes are kept. */
  get size(): number {
    return this.#hashes.size;
  }

  /** Returns the counts of organizations, and starts counting from zero. */
  takeCounts(): ReadonlyMap<string, number> {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }

  /** Returns the hashes of these events, in their order; null if a hash is missing. */
  hashesOf(ids: readonly string[]): Hash[] | null {
    const found: Hash[] = [];
    for (const id of ids) {
      const one = this.#hashes.get(id);
      if (one === undefined) return null;
      found.push(one);
    }
    return found;
  }

  /** Drops the hashes of sealed events. */
  drop(ids: readonly string[]): void {
    for (const id of ids) this.#hashes.delete(id);
  }
}

const freshOf = perApp<App, FreshEvents>(() => new FreshEvents());

/** Returns the fresh events of this process. */
export function freshEvents(app: App): FreshEvents {
  return freshOf(app);
}
