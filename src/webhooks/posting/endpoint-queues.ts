// Queues of claimed deliveries, a queue for each endpoint, with pace, origin and decrypted secrets.
// An idle queue is evicted, unless this daemon has learned the pace of the endpoint.
import type { App } from '../../core/app.ts';
import type { EndpointRow } from '../rows.ts';
import type { Claimed } from './claim.ts';
import type { Holder } from './held-places.ts';
import type { OriginShares } from './origin-shares.ts';
import { Pace } from './pace.ts';
import { type OpenedEndpoint, openEndpoint } from './post-attempt.ts';

/** Number of idle endpoints for which the pace stays in memory. */
const mostRemembered = 10_000;

export interface Task {
  claimed: Claimed;
  holder: Holder;
  /** The body, or null if it is read only when it is posted. */
  body: string | null;
}

/** Queue of an endpoint. */
export interface Queue {
  /** Id of the endpoint. */
  id: string;
  organizationId: string;
  waiting: Task[];
  posting: number;
  pace: Pace;
  origin: string;
  opened: OpenedEndpoint;
}

/** Number of deliveries held: waiting for a post, or being posted. */
export function heldBy({ waiting, posting }: Queue): number {
  return waiting.length + posting;
}

function bytesOf(body: string | null): number {
  return body === null ? 0 : Buffer.byteLength(body);
}

export class EndpointQueues {
  readonly #app: App;
  readonly #origins: OriginShares;
  readonly #queues = new Map<string, Queue>();
  #bytesWaiting = 0;

  constructor(app: App, origins: OriginShares) {
    this.#app = app;
    this.#origins = origins;
  }

  /** Bytes of the bodies of all waiting tasks. */
  get bytesWaiting(): number {
    return this.#bytesWaiting;
  }

  find(endpointId: string): Queue | undefined {
    return this.#queues.get(endpointId);
  }

  /**
   * Returns the queue of an endpoint as it is now: address, secrets and headers may have changed.
   */
  of(endpoint: EndpointRow): Queue {
    const { id, organization_id: organizationId } = endpoint;
    const known = this.#queues.get(id);
    const opened = openEndpoint(this.#app, endpoint, known?.opened);
    const { origin } = new URL(endpoint.url);
    const pace = known?.pace ?? new Pace();
    pace.isFailing = endpoint.failing_since !== null;
    if (known) {
      if (known.origin !== origin) this.#origins.leave(known.origin, id);
      return Object.assign(known, { opened, origin });
    }
    const queue = { id, organizationId, waiting: [], posting: 0, pace, opened, origin };
    this.#queues.set(id, queue);
    return queue;
  }

  add(queue: Queue, tasks: readonly Task[]): void {
    for (const { body } of tasks) this.#bytesWaiting += bytesOf(body);
    queue.waiting.push(...tasks);
    this.#origins.ask(queue.origin, queue.id);
  }

  /** Removes and returns the first tasks. */
  takeOut({ waiting }: Queue, count: number): Task[] {
    const tasks = waiting.splice(0, count);
    for (const { body } of tasks) this.#bytesWaiting -= bytesOf(body);
    return tasks;
  }

  leaveOrigin(queue: Queue): void {
    if (heldBy(queue) === 0) this.#origins.leave(queue.origin, queue.id);
  }

  forget(queue: Queue): void {
    const isKept = queue.pace.isKnown && this.#queues.size <= mostRemembered;
    if (heldBy(queue) > 0 || isKept) return;
    if (this.#queues.get(queue.id) === queue) this.#queues.delete(queue.id);
  }
}
