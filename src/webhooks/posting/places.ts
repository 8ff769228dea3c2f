// Limits of the webhooks of this daemon, counted in places. Every organization has a fair share of
// each pool, so that an endpoint that hangs holds back no other organization.
//
//   pool                                    | places | a place is held
//   ----------------------------------------+--------+---------------------------------
//   claimed deliveries                      | 456    | until the delivery is settled
//   claimed for slow or failing endpoints   | 100    | until the delivery is settled
//   posts                                   | 200    | until the answer
//   connections of an origin                | 10     | until the answer
//
// Within the share of its organization, an endpoint has at most as many posts at once:
//
//   an endpoint                            | posts at once
//   ---------------------------------------+---------------
//   quick at the last answer, or alone     | 5
//   else, up to nine endpoints at a host   | 2: it may hang
//   else, more endpoints at a host         | 1
//   slow or failing                        | 1 (answer-limits.ts)
//
// A post gets a place only with a connection: waiting for a connection would use up the time limit.
import { FairShare } from '../../platform/runtime/fairness/fair-share.ts';
import { type AnswerLimits, mostPostsEach } from './answer-limits.ts';
import { connectionsPerOrigin } from './post.ts';

const mostClaimed = 456;
const mostReluctant = 100;
const mostPosts = 200;
const mostUnproven = 2;

/** Holder of a place: the organization of a claimed delivery. */
export interface Holder {
  organizationId: string;
  /** Whether the endpoint was slow or failing when the delivery was claimed. */
  isReluctant: boolean;
}

/** An endpoint with claimed deliveries, such as a queue of endpoint-queues.ts. */
interface BusyEndpoint {
  /** Id of the endpoint. */
  readonly id: string;
  readonly organizationId: string;
  readonly origin: string;
  readonly waiting: readonly unknown[];
  readonly limits: Pick<AnswerLimits, 'isQuick' | 'mostPosts'>;
  /** Number of posts under way. */
  posting: number;
}

interface Origin {
  connections: FairShare;
  /** Endpoints with posts that wait or run, by id. */
  asking: Set<string>;
}

export class Places {
  readonly #claimed = new FairShare(mostClaimed);
  readonly #reluctant = new FairShare(mostReluctant);
  readonly #posts = new FairShare(mostPosts);
  /** Origins of endpoints with posts that wait or run. */
  readonly #origins = new Map<string, Origin>();

  /** Number of claimed deliveries. */
  get claimed(): number {
    return this.#claimed.heldInAll;
  }

  /** Number of deliveries that this daemon may still claim. */
  get freeClaims(): number {
    return mostClaimed - this.#claimed.heldInAll;
  }

  get hasFreePosts(): boolean {
    return this.#posts.heldInAll < mostPosts;
  }

  /** Returns how many more deliveries may be claimed for the holder. */
  roomFor({ organizationId, isReluctant }: Holder): number {
    const room = this.#claimed.roomFor(organizationId);
    return isReluctant ? Math.min(room, this.#reluctant.roomFor(organizationId)) : room;
  }

  /** Reserves places for claimed deliveries. */
  hold({ organizationId, isReluctant }: Holder, count: number): void {
    this.#claimed.hold(organizationId, count);
    if (isReluctant) this.#reluctant.hold(organizationId, count);
  }

  /** Frees places of claimed deliveries. */
  giveBack({ organizationId, isReluctant }: Holder, count: number): void {
    this.#claimed.letGo(organizationId, count);
    if (isReluctant) this.#reluctant.letGo(organizationId, count);
  }

  /** Counts the endpoint among the endpoints that share the origin's connections. */
  ask({ id, origin }: BusyEndpoint): void {
    this.#originOf(origin).asking.add(id);
  }

  /** Stops counting an endpoint at this origin. */
  leave({ id, origin }: Pick<BusyEndpoint, 'id' | 'origin'>): void {
    this.#origins.get(origin)?.asking.delete(id);
    this.#forget(origin);
  }

  /**
   * Reserves places for a post: of the organization, the origin and the endpoint. Returns the
   * function that frees them, to be called once; null if a limit is reached.
   */
  takePost(endpoint: BusyEndpoint): (() => void) | null {
    const { organizationId, origin, limits } = endpoint;
    if (!this.#posts.mayHold(organizationId)) return null;
    const { connections, asking } = this.#originOf(origin);
    if (!connections.mayHold(organizationId)) return null;
    const share = limits.isQuick || asking.size <= 1 ? mostPostsEach : unprovenShare(asking.size);
    if (endpoint.posting >= limits.mostPosts(share)) return null;
    endpoint.posting += 1;
    this.#posts.hold(organizationId);
    connections.hold(organizationId);
    return () => {
      endpoint.posting -= 1;
      this.#posts.letGo(organizationId);
      connections.letGo(organizationId);
      this.#forget(origin);
      this.leaveIfIdle(endpoint);
    };
  }

  /** Stops counting an endpoint at the origin if no post of it waits or runs. */
  leaveIfIdle(endpoint: BusyEndpoint): void {
    if (endpoint.posting === 0 && endpoint.waiting.length === 0) this.leave(endpoint);
  }

  #originOf(origin: string): Origin {
    let known = this.#origins.get(origin);
    if (!known) {
      known = { connections: new FairShare(connectionsPerOrigin), asking: new Set() };
      this.#origins.set(origin, known);
    }
    return known;
  }

  #forget(origin: string): void {
    const known = this.#origins.get(origin);
    if (known?.asking.size === 0 && known.connections.heldInAll === 0) this.#origins.delete(origin);
  }
}

function unprovenShare(asking: number): number {
  return Math.min(mostUnproven, Math.ceil(connectionsPerOrigin / asking));
}
