// How the connections to one origin are shared by the endpoints there: each may hold an equal part, so that
// one that hangs leaves the others theirs. Origins that nobody asks for are forgotten.
import { connectionsPerOrigin } from './post.ts';

interface Origin {
  posts: number;
  /** Endpoints with anything to post there, or under way. */
  asking: Set<string>;
}

export class OriginShares {
  readonly #origins = new Map<string, Origin>();

  /** The endpoint has something to post there. */
  ask(origin: string, endpointId: string): void {
    this.#of(origin).asking.add(endpointId);
  }

  /** It has nothing more there. */
  leave(origin: string, endpointId: string): void {
    const one = this.#origins.get(origin);
    if (!one) return;
    one.asking.delete(endpointId);
    this.#forget(origin, one);
  }

  /** How many posts an endpoint that asks may have there at once; 0 where all connections are taken. */
  shareOf(origin: string): number {
    const { posts, asking } = this.#of(origin);
    return posts < connectionsPerOrigin ? Math.ceil(connectionsPerOrigin / asking.size) : 0;
  }

  /** A post begins there. */
  take(origin: string): void {
    this.#of(origin).posts += 1;
  }

  /** It has ended. */
  free(origin: string): void {
    const one = this.#of(origin);
    one.posts -= 1;
    this.#forget(origin, one);
  }

  #of(origin: string): Origin {
    let one = this.#origins.get(origin);
    if (!one) {
      one = { posts: 0, asking: new Set() };
      this.#origins.set(origin, one);
    }
    return one;
  }

  #forget(origin: string, { posts, asking }: Origin): void {
    if (posts === 0 && asking.size === 0) this.#origins.delete(origin);
  }
}
