// Shares the connections to an origin among organizations, then among their endpoints, so that an
// endpoint that hangs does not block the rest. Unused origins are evicted.
//
// an endpoint                            | posts at once
// ---------------------------------------+---------------
// quick at the last answer, or alone     | 5
// else, if up to nine ask                | 2: it may hang
// else, if more ask                      | 1
import { FairShare } from '../../platform/runtime/fairness/fair-share.ts';
import { connectionsPerOrigin } from './post.ts';

/** Most posts at once to an endpoint. */
export const mostPostsEach = 5;
const mostUnproven = 2;

interface Origin {
  posts: number;
  /** Connections of the origin, by organization. */
  places: FairShare;
  /** Endpoints with posts that wait or run. */
  asking: Set<string>;
}

export class OriginShares {
  readonly #origins = new Map<string, Origin>();

  /** Registers an endpoint that has posts for the origin. */
  ask(origin: string, endpointId: string): void {
    this.#of(origin).asking.add(endpointId);
  }

  /** Unregisters an endpoint without further posts. */
  leave(origin: string, endpointId: string): void {
    const one = this.#origins.get(origin);
    if (!one) return;
    one.asking.delete(endpointId);
    this.#forget(origin, one);
  }

  /**
   * Returns how many posts an endpoint may have at once; 0 if the organization's share is used up.
   */
  shareOf(origin: string, organizationId: string, isQuick: boolean): number {
    const { places, asking } = this.#of(origin);
    if (!places.mayHold(organizationId)) return 0;
    if (isQuick || asking.size <= 1) return mostPostsEach;
    return Math.min(mostUnproven, Math.ceil(connectionsPerOrigin / asking.size));
  }

  /** Takes a place for a post. */
  take(origin: string, organizationId: string): void {
    const one = this.#of(origin);
    one.posts += 1;
    one.places.hold(organizationId);
  }

  /** Frees the place of an ended post. */
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
