// Posts the deliveries that this daemon has claimed, organizations in turn, within the limits of
// places.ts; then settles several in a transaction. Claims nothing itself.
import type { App } from '../../core/app.ts';
import { keepLease } from '../../platform/store/changes/lease.ts';
import { groupWrites } from '../../platform/store/group.ts';
import {
  type EndpointWork,
  releaseDeliveries,
  renewDeliveries,
} from '../deliveries/delivery-queries.ts';
import { knownEndpoints } from '../endpoints/known-endpoints.ts';
import { AnswerLimits, mostHeldEach } from './answer-limits.ts';
import { bodiesOf } from './body.ts';
import type { Claimed, Wish } from './claim.ts';
import { EndpointQueues, heldBy, type Queue, type Task } from './endpoint-queues.ts';
import { type Holder, Places } from './places.ts';
import type { Poster } from './post.ts';
import { attempt } from './post-attempt.ts';
import { RoundRobin, type Step } from './round-robin.ts';
import { type ClaimedAttempt, settle } from './settle.ts';

/**
 * Bytes of bodies kept in memory for waiting deliveries. Further bodies are read when they are
 * posted.
 */
const mostBytesWaiting = 16 * 1024 * 1024;
const mostSettled = 128;

interface UnderWayParts {
  worker: string;
  leaseMs: number;
  poster: Poster;
  /**
   * Called when a post or a batch ends: more deliveries may be claimed, or a due time has changed.
   */
  onEnd: () => void;
}

/** Posts and settles the claimed deliveries of a daemon. */
export class UnderWay {
  readonly #app: App;
  readonly #parts: UnderWayParts;
  readonly #posts = new Set<Promise<void>>();
  readonly #turns = new RoundRobin<Queue>();
  readonly #places = new Places();
  readonly #queues: EndpointQueues;
  readonly #settle;
  readonly #settling = new Set<Promise<void>>();
  /** Deliveries in memory: their leases are renewed. */
  readonly #ids = new Set<string>();
  readonly #endLeases: () => void;
  #isStopping = false;

  constructor(app: App, parts: UnderWayParts) {
    this.#app = app;
    this.#parts = parts;
    this.#queues = new EndpointQueues(app, this.#places);
    this.#settle = groupWrites(
      app.store,
      mostSettled,
      async (trx, attempts: ClaimedAttempt[]) => {
        const disabled = await settle(app, trx, attempts);
        return attempts.map((_one, index) => (index === 0 ? disabled : []));
      },
      'quiet',
    );
    this.#endLeases = keepLease(app, {
      leaseMs: parts.leaseMs,
      renew: async (until) => {
        if (this.#ids.size === 0) return;
        const ids = [...this.#ids];
        await app.store.write((trx) => renewDeliveries(trx, parts.worker, ids, until), 'quiet');
      },
      trouble: 'leases of webhook deliveries were not renewed',
    });
  }

  /** Removes a delivery from memory, and frees the place. */
  #drop(deliveryId: string, holder: Holder): void {
    this.#ids.delete(deliveryId);
    this.#places.giveBack(holder, 1);
  }

  /** Number of deliveries that are claimed and not settled. */
  get held(): number {
    return this.#places.claimed;
  }

  get isFull(): boolean {
    return this.#places.freeClaims <= 0;
  }

  /** Reserves places for deliveries of an endpoint, up to the limits; null if no place is free. */
  reserve(work: EndpointWork, isReplay: boolean): (Holder & { limit: number }) | null {
    const queue = this.#queues.find(work.id);
    const limits = queue?.limits ?? new AnswerLimits();
    const isReluctant = work.failing_since !== null || limits.isSlow;
    const holder = { organizationId: work.organization_id, isReluctant };
    const room = limits.roomBeside(queue ? heldBy(queue) : 0, isReluctant, isReplay);
    const limit = Math.min(room, this.#places.roomFor(holder));
    if (limit <= 0) return null;
    this.#places.hold(holder, limit);
    return { ...holder, limit };
  }

  /**
   * Queues the claimed deliveries, frees reserved places that the claim left unused, and starts
   * posts. Frees all places if the claim fails. Returns the number of claimed deliveries.
   */
  async launch(wishes: readonly Wish[], claiming: Promise<readonly Claimed[]>): Promise<number> {
    let claimed: readonly Claimed[] = [];
    let bodies: Map<string, string>;
    try {
      claimed = await claiming;
      const budget = mostBytesWaiting - this.#queues.bytesWaiting;
      const deliveries = claimed.map(({ delivery }) => delivery);
      bodies = await bodiesOf(this.#app, deliveries, budget);
    } catch (error) {
      for (const wish of wishes) this.#places.giveBack(wish, wish.limit);
      throw error;
    }
    const byEndpoint = Map.groupBy(claimed, ({ endpoint }) => endpoint.id);
    for (const wish of wishes) {
      const own = byEndpoint.get(wish.endpointId) ?? [];
      this.#places.giveBack(wish, wish.limit - own.length);
      if (own[0]) this.#enqueue(this.#queues.of(own[0].endpoint), own, wish, bodies);
    }
    this.#pump();
    return claimed.length;
  }

  #enqueue(
    queue: Queue,
    claimed: readonly Claimed[],
    { organizationId, isReluctant }: Holder,
    bodies: ReadonlyMap<string, string>,
  ): void {
    const holder = { organizationId, isReluctant };
    const tasks = claimed.map((one) => {
      this.#ids.add(one.delivery.id);
      return { claimed: one, holder, body: bodies.get(one.delivery.event_id) ?? null };
    });
    this.#queues.add(queue, tasks);
    this.#turns.add(queue);
  }

  /** Starts all posts that the limits allow. */
  #pump(): void {
    this.#turns.walk((queue) => this.#postNext(queue));
  }

  #postNext(queue: Queue): Step {
    if (!this.#places.hasFreePosts) return 'full';
    const giveBack = this.#places.takePost(queue);
    if (!giveBack) return 'blocked';
    const [task] = this.#queues.takeOut(queue, 1);
    if (task) this.#launchOne(queue, task, giveBack);
    else giveBack();
    return 'posted';
  }

  #launchOne(queue: Queue, task: Task, giveBack: () => void): void {
    const post = this.#postOne(queue, task, giveBack).finally(() => {
      this.#posts.delete(post);
      this.#pump();
    });
    this.#posts.add(post);
    void post.then(() => this.#queues.forget(queue));
  }

  /**
   * Tells whether an endpoint may still be posted to: disabling an installation stops posts at
   * once.
   */
  async #mayPost({ endpoint }: Claimed): Promise<boolean> {
    if (endpoint.installation_id === null) return true;
    const known = await knownEndpoints(this.#app).find(
      this.#app.store.db,
      endpoint.organization_id,
    );
    return known.find(endpoint.id) !== undefined;
  }

  /**
   * Posts a delivery. Returns null after an error of ours, and `withdrawn` if the installation of
   * the endpoint was disabled or removed.
   */
  async #attempt(
    queue: Queue,
    { claimed, body }: Task,
  ): Promise<ClaimedAttempt | 'withdrawn' | null> {
    const { clock, log } = this.#app;
    const { poster, worker } = this.#parts;
    const { delivery } = claimed;
    try {
      if (!(await this.#mayPost(claimed))) return 'withdrawn';
      const text = body ?? undefined;
      const attempted = await attempt(this.#app, poster, queue.opened, delivery, text);
      return { ...attempted, worker, endedAt: clock.now() };
    } catch (error) {
      log.error({ err: error, deliveryId: delivery.id }, 'a webhook could not be posted');
      return null;
    }
  }

  /** Posts a delivery, and frees the places of the post. The delivery stays held until settled. */
  async #postOne(queue: Queue, task: Task, giveBack: () => void): Promise<void> {
    const ended = await this.#attempt(queue, task);
    // Frees the place and records the answer without a wait in between, in which a failing endpoint
    // could get a second post.
    giveBack();
    const { holder } = task;
    const { delivery } = task.claimed;
    if (ended === 'withdrawn') {
      await this.#release([delivery.id]);
      this.#drop(delivery.id, holder);
      this.#handBack(queue);
      return;
    }
    if (ended === null) {
      this.#drop(delivery.id, holder);
      return;
    }
    const { isSuccess } = ended.outcome;
    queue.limits.record(ended.outcome);
    if (this.#isStopping && !isSuccess) {
      this.#drop(delivery.id, holder);
      return;
    }
    const isHopeless = !isSuccess && !queue.limits.failsAtOnce;
    if (isHopeless || queue.limits.isSlow) this.#handBack(queue);
    const settling = this.#settleOne(queue, ended, holder);
    this.#settling.add(settling);
    void settling.then(() => this.#settling.delete(settling));
  }

  async #settleOne(queue: Queue, ended: ClaimedAttempt, holder: Holder): Promise<void> {
    const { log } = this.#app;
    try {
      const disabled = await this.#settle(ended);
      if (disabled.length > 0) knownEndpoints(this.#app).forget();
      for (const { endpoint, reason } of disabled) {
        const of = this.#queues.find(endpoint.id);
        if (of) this.#handBack(of);
        const { id: endpointId, organization_id: organizationId, url } = endpoint;
        const { host } = new URL(url);
        log.warn({ endpointId, organizationId, host, reason }, 'a webhook endpoint was disabled');
      }
    } catch (error) {
      const { id: deliveryId } = ended.delivery;
      const text = 'the end of a webhook attempt could not be stored: it will be repeated';
      log.error({ err: error, deliveryId }, text);
    }
    this.#drop(ended.delivery.id, holder);
    // Does not wake the loop after each post: that would cost as much as a post.
    const isSupplied = queue.limits.isQuick && heldBy(queue) > mostHeldEach / 2;
    if (!isSupplied || this.#places.freeClaims <= mostHeldEach) this.#parts.onEnd();
  }

  /**
   * Releases the waiting deliveries of a slow, failing or disabled endpoint, so that any daemon can
   * claim them later.
   */
  #handBack(queue: Queue): void {
    const tasks = this.#queues.takeOut(queue, queue.waiting.length);
    const ids = tasks.map(({ claimed }) => claimed.delivery.id);
    this.#turns.delete(queue);
    this.#places.leaveIfIdle(queue);
    if (ids.length === 0) return;
    void this.#release(ids).then(() => {
      for (const { claimed, holder } of tasks) this.#drop(claimed.delivery.id, holder);
      this.#parts.onEnd();
    });
  }

  async #release(ids: readonly string[] | null): Promise<void> {
    const { store, clock, log } = this.#app;
    const { worker } = this.#parts;
    try {
      await store.write((trx) => releaseDeliveries(trx, worker, ids, clock.now()), 'quiet');
    } catch (error) {
      log.error({ err: error }, 'webhook deliveries were not handed back: their leases run out');
    }
  }

  /**
   * Lets posts end for `graceMs`, aborts the rest, and releases deliveries that were not posted.
   */
  async end(graceMs: number): Promise<void> {
    for (const queue of this.#turns.drain()) {
      for (const { claimed, holder } of this.#queues.takeOut(queue, queue.waiting.length)) {
        this.#drop(claimed.delivery.id, holder);
      }
    }
    const ended = Promise.all(this.#posts);
    if (graceMs > 0) {
      const late = Promise.withResolvers<void>();
      const cancel = this.#app.clock.after(graceMs, late.resolve);
      await Promise.race([ended, late.promise]);
      cancel();
    }
    this.#isStopping = true;
    await this.#parts.poster.close();
    await ended;
    await Promise.all(this.#settling);
    this.#endLeases();
    await this.#release(null);
  }
}
