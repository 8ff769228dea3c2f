// The order in which deliveries are posted: a delivery of an organization, then of the next
// organization; within an organization, each endpoint in turn.

interface Queued {
  organizationId: string;
  waiting: readonly unknown[];
}

export type Step = 'posted' | 'blocked' | 'full';

/** Queues with deliveries that wait for a post. */
export class RoundRobin<T extends Queued> {
  readonly #organizations = new Map<string, Set<T>>();

  add(queue: T): void {
    const { organizationId } = queue;
    const own = this.#organizations.get(organizationId);
    if (own) own.add(queue);
    else this.#organizations.set(organizationId, new Set([queue]));
  }

  delete(queue: T): void {
    const own = this.#organizations.get(queue.organizationId);
    if (own?.delete(queue) && own.size === 0) this.#organizations.delete(queue.organizationId);
  }

  /** Yields all queues, and then removes them. */
  *drain(): Iterable<T> {
    for (const own of this.#organizations.values()) yield* own;
    this.#organizations.clear();
  }

  /**
   * Calls `post` for each queue, and again after each post, until all queues are blocked or a post
   * is `full`.
   */
  walk(post: (queue: T) => Step): void {
    for (const [organizationId, own] of this.#organizations) {
      for (const queue of own) {
        const step = post(queue);
        if (step === 'full') return;
        if (step === 'blocked') continue;
        // Moves the queue behind all queues of the organization: this walk reaches it again.
        own.delete(queue);
        if (queue.waiting.length > 0) own.add(queue);
        this.#organizations.delete(organizationId);
        if (own.size > 0) this.#organizations.set(organizationId, own);
        break;
      }
    }
  }
}
