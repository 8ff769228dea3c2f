// Queues of claimed deliveries, a queue for each endpoint, with limits, origin and secrets. An idle
// queue is evicted, unless this daemon has learned the speed of the endpoint.
import type { App } from '../../core/app.ts';
import type { EndpointRow } from '../rows.ts';
import { AnswerLimits } from './answer-limits.ts';
import type { Claimed } from './claim.ts';
import type { Holder, Places } from './places.ts';
import { type OpenedEndpoint, openEndpoint } from './post-attempt.ts';

/** Number of idle endpoints that keep limits in memory. */
const mostRemembered = 10_000;

export interface Task {
  claimed: Claimed;
  holder: Holder;
  /** The body; null if it is read at the post, because too many bodies wait in memory. */
  body: string | null;
}

/** Claimed deliveries of an endpoint, with limits, address and secrets. */
export interface Queue {
  /** Id of the endpoint. */
  id: string;
  organizationId: string;
  waiting: Task[];
  posting: number;
  limits: AnswerLimits;
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
  readonly #places: Places;
  readonly #queues = new Map<string, Queue>();
  #bytesWaiting = 0;

  constructor(app: App, places: Places) {
    this.#app = app;
    this.#places = places;
  }

  /** Bytes of the bodies of all waiting tasks. */
  get bytesWaiting(): number {
    return this.#bytesWaiting;
  }

  find(endpointId: string): Queue | undefined {
    return this.#queues.get(endpointId);
  }

  /** Returns the queue of an endpoint, with the address, secrets and headers of the current row. */
  of(endpoint: EndpointRow): Queue {
    const { id, organization_id: organizationId } = endpoint;
    const known = this.#queues.get(id);
    const opened = openEndpoint(this.#app, endpoint, known?.opened);
    const { origin } = new URL(endpoint.url);
    const limits = known?.limits ?? new AnswerLimits();
    limits.isFailing = endpoint.failing_since !== null;
    if (known) {
      if (known.origin !== origin) this.#places.leave(known);
      return Object.assign(known, { opened, origin });
    }
    const queue = { id, organizationId, waiting: [], posting: 0, limits, opened, origin };
    this.#queues.set(id, queue);
    return queue;
  }

  add(queue: Queue, tasks: readonly Task[]): void {
    for (const { body } of tasks) this.#bytesWaiting += bytesOf(body);
    queue.waiting.push(...tasks);
    this.#places.ask(queue);
  }

  /** Removes and returns the first `count` tasks. */
  takeOut({ waiting }: Queue, count: number): Task[] {
    const tasks = waiting.splice(0, count);
    for (const { body } of tasks) this.#bytesWaiting -= bytesOf(body);
    return tasks;
  }

  forget(queue: Queue): void {
    const isKept = queue.limits.isKnown && this.#queues.size <= mostRemembered;
    if (heldBy(queue) > 0 || isKept) return;
    if (this.#queues.get(queue.id) === queue) this.#queues.delete(queue.id);
  }
}
