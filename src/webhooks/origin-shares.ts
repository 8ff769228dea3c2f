// How the connections to one origin are shared by the organizations that post there, then by their endpoints,
// so that one that hangs leaves the others theirs. Origins that nobody asks for are forgotten.
//
//   an endpoint                           | may have at once
//   --------------------------------------+---------------------------------------------
//   quick at its last answer, or alone    | 5 posts
//   any other, of up to nine that ask     | 2: it may hang
//   any other, of more                    | 1
import { FairShare } from '../runtime/fair-share.ts';
import { connectionsPerOrigin } from './post.ts';

/** Of one endpoint. */
export const mostPostsEach = 5;
const mostUnproven = 2;

interface Origin {
  posts: number;
  /** Its connections, by organization. */
  places: FairShare;
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

  /** How many posts an endpoint that asks may have there at once; 0 where its organization has no more. */
  shareOf(origin: string, organizationId: string, isQuick: boolean): number {
    const { places, asking } = this.#of(origin);
    if (!places.mayHold(organizationId)) return 0;
    if (isQuick || asking.size <= 1) return mostPostsEach;
    return Math.min(mostUnproven, Math.ceil(connectionsPerOrigin / asking.size));
  }

  /** A post begins there. */
  take(origin: string, organizationId: string): void {
    const one = this.#of(origin);
    one.posts += 1;
    one.places.hold(organizationId);
  }

  /** It has ended. */
  free(origin: string, organizationId: string): void {
    const one = this.#of(origin);
    one.posts -= 1;
    one.places.letGo(organizationId);
    this.#forget(origin, one);
  }

  #of(origin: string): Origin {
    let one = this.#origins.get(origin);
    if (!one) {
      one = { posts: 0, places: new FairShare(connectionsPerOrigin), asking: new Set() };
      this.#origins.set(origin, one);
    }
    return one;
  }

  #forget(origin: string, { posts, asking }: Origin): void {
    if (posts === 0 && asking.size === 0) this.#origins.delete(origin);
  }
}
