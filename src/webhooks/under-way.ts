// What this daemon has claimed: posted at most 5 at a time to one endpoint and 200 in all, in turn, then
// settled together. Claims nothing itself.
//
//   of an endpoint                    | places that a claim may fill
//   ----------------------------------+--------------------------------------------------
//   nothing known yet, or slow        | 5
//   quick: its last answer was a 2xx  | 64, once half of them are free: the next are at hand
//   within half a second              | as soon as a post ends
//   failing, slowly at the last time  | 1, and of all that fail together 100
//   failing, each time at once        | 16, posted one by one; of all that fail together 100
//   its replays                       | 2, while it has nothing else
import type { App } from '../app.ts';
import { groupWrites } from '../store/group.ts';
import { attempt, type OpenedEndpoint, openEndpoint } from './attempt.ts';
import { bodiesOf } from './body.ts';
import type { Claimed } from './claim.ts';
import { type EndpointWork, releaseDeliveries } from './delivery-queries.ts';
import { knownEndpoints } from './known-endpoints.ts';
import { mostPostsEach, OriginShares } from './origin-shares.ts';
import type { Poster } from './post.ts';
import type { EndpointRow } from './rows.ts';
import { type ClaimedAttempt, gone, settle } from './settle.ts';

const mostPosts = 200;
/** With those that are being posted. Their bodies are in memory. */
const mostHeld = 456;
const mostHeldEach = 64;
/** So many endpoints that were quick are known to be so when they are posted to again. */
const mostRemembered = 10_000;
const mostReplaysEach = 2;
const mostFailing = 100;
const mostFailingEach = 16;
const quickMs = 500;
const mostSettled = 128;

interface Task {
  claimed: Claimed;
  body: string;
}

/** One endpoint's. */
interface Queue {
  /** Of the endpoint. */
  id: string;
  waiting: Task[];
  posting: number;
  isQuick: boolean;
  isFailing: boolean;
  /** It answers at once that it does not take it. */
  failsAtOnce: boolean;
  origin: string;
  opened: OpenedEndpoint;
}

function heldBy({ waiting, posting }: Queue): number {
  return waiting.length + posting;
}

function isIdle(queue: Queue): boolean {
  return heldBy(queue) === 0;
}

interface UnderWayParts {
  worker: string;
  poster: Poster;
  /** Something ended: there is room, or something is due at another time. */
  onEnd: () => void;
}

/** What is under way in one daemon. */
export class UnderWay {
  readonly #app: App;
  readonly #parts: UnderWayParts;
  readonly #queues = new Map<string, Queue>();
  readonly #posts = new Set<Promise<void>>();
  /** Those in which something waits, in the order of their turns. */
  readonly #turns = new Set<Queue>();
  /** Of what waited there for a connection the time would run. */
  readonly #origins = new OriginShares();
  readonly #settle;
  readonly #settling = new Set<Promise<void>>();
  #held = 0;
  #isStopping = false;

  constructor(app: App, parts: UnderWayParts) {
    this.#app = app;
    this.#parts = parts;
    this.#settle = groupWrites(
      app.store,
      mostSettled,
      async (trx, attempts: ClaimedAttempt[]) => {
        const disabled = await settle(app, trx, attempts);
        return attempts.map((_one, index) => (index === 0 ? disabled : []));
      },
      'quiet',
    );
  }

  /** How many deliveries are claimed and not settled. */
  get held(): number {
    return this.#held;
  }

  /** How many more may be claimed. */
  get room(): number {
    return mostHeld - this.#held;
  }

  /** How many more of this endpoint. */
  roomOf({ id, failing_since }: EndpointWork, isReplay: boolean): number {
    const queue = this.#queues.get(id);
    const held = queue ? heldBy(queue) : 0;
    if (failing_since !== null) {
      const most = queue?.failsAtOnce ? mostFailingEach : 1;
      if (held > most / 2) return 0;
      return Math.max(0, Math.min(most - held, mostFailing - this.#heldByFailing()));
    }
    if (isReplay) return mostReplaysEach - held;
    if (!queue?.isQuick) return mostPostsEach - held;
    return held <= mostHeldEach / 2 ? mostHeldEach - held : 0;
  }

  #heldByFailing(): number {
    const failing = [...this.#queues.values()].filter(({ isFailing }) => isFailing);
    return failing.reduce((sum, queue) => sum + heldBy(queue), 0);
  }

  /** Takes over what was claimed. */
  async launch(claimed: readonly Claimed[]): Promise<void> {
    this.#held += claimed.length;
    let bodies: Map<string, string>;
    try {
      bodies = await bodiesOf(
        this.#app,
        claimed.map(({ delivery }) => delivery),
      );
    } catch (error) {
      this.#held -= claimed.length;
      throw error;
    }
    for (const [endpoint, own] of Map.groupBy(claimed, (one) => one.endpoint)) {
      const queue = this.#queueOf(endpoint);
      for (const one of own) {
        const body = bodies.get(one.delivery.event_id) ?? '';
        queue.waiting.push({ claimed: one, body });
      }
      this.#turns.add(queue);
      this.#origins.ask(queue.origin, queue.id);
    }
    this.#pump();
  }

  #queueOf(endpoint: EndpointRow): Queue {
    // As it is now: address, secrets and headers may have changed since.
    const { id } = endpoint;
    const known = this.#queues.get(id);
    const opened = openEndpoint(this.#app, endpoint, known?.opened);
    const { origin } = new URL(endpoint.url);
    const now = { opened, origin, isFailing: endpoint.failing_since !== null };
    if (known) {
      if (known.origin !== origin) this.#origins.leave(known.origin, id);
      return Object.assign(known, now);
    }
    const queue = { id, waiting: [], posting: 0, isQuick: false, failsAtOnce: false, ...now };
    this.#queues.set(id, queue);
    return queue;
  }

  /** Posts what may be posted, one of each endpoint in turn. */
  #pump(): void {
    for (const queue of this.#turns) {
      if (this.#posts.size >= mostPosts) return;
      const share = this.#origins.shareOf(queue.origin, queue.isQuick);
      if (queue.posting >= (queue.isFailing ? Math.min(share, 1) : share)) continue;
      const task = queue.waiting.shift();
      // Behind all others from now on: this walk comes to it again.
      this.#turns.delete(queue);
      if (queue.waiting.length > 0) this.#turns.add(queue);
      if (task) this.#launchOne(queue, task);
    }
  }

  #launchOne(queue: Queue, task: Task): void {
    const { origin } = queue;
    queue.posting += 1;
    this.#origins.take(origin);
    const post = this.#postOne(queue, task).finally(() => {
      this.#posts.delete(post);
      this.#origins.free(origin);
      this.#leaveIfIdle(queue);
      this.#pump();
    });
    this.#posts.add(post);
    void post.then(() => this.#forget(queue));
  }

  /** Its place is free when it has been posted; it is held until it is settled. */
  async #postOne(queue: Queue, { claimed, body }: Task): Promise<void> {
    const { app, parts } = { app: this.#app, parts: this.#parts };
    const { delivery, leaseUntil } = claimed;
    let ended: ClaimedAttempt;
    try {
      const attempted = await attempt(app, parts.poster, queue.opened, delivery, body);
      const { worker } = parts;
      ended = { ...attempted, worker, leaseUntil, endedAt: app.clock.now() };
    } catch (error) {
      app.log.error({ err: error, deliveryId: delivery.id }, 'a webhook could not be posted');
      queue.posting -= 1;
      this.#held -= 1;
      return;
    }
    queue.posting -= 1;
    const { isSuccess, durationMs, statusCode } = ended.outcome;
    queue.isQuick = isSuccess && durationMs < quickMs;
    queue.failsAtOnce =
      queue.isFailing && !isSuccess && durationMs < quickMs && statusCode !== gone;
    if (this.#isStopping && !isSuccess) {
      this.#held -= 1;
      return;
    }
    if (!isSuccess && !queue.failsAtOnce) this.#handBack(queue);
    const settling = this.#settleOne(queue, ended);
    this.#settling.add(settling);
    void settling.then(() => this.#settling.delete(settling));
  }

  async #settleOne(queue: Queue, ended: ClaimedAttempt): Promise<void> {
    const { log } = this.#app;
    try {
      const disabled = await this.#settle(ended);
      if (disabled.length > 0) knownEndpoints(this.#app).forget();
      for (const { endpoint, reason } of disabled) {
        const of = this.#queues.get(endpoint.id);
        if (of) this.#handBack(of);
        const { id: endpointId, organization_id: organizationId, url } = endpoint;
        const { host } = new URL(url);
        log.warn({ endpointId, organizationId, host, reason }, 'a webhook endpoint was disabled');
      }
    } catch (error) {
      const { id: deliveryId } = ended.delivery;
      const text = 'the end of a webhook attempt could not be stored: it is made again';
      log.error({ err: error, deliveryId }, text);
    }
    this.#held -= 1;
    // A look for each of the next at hand would cost as much as a post.
    const isSupplied = queue.isQuick && heldBy(queue) > mostHeldEach / 2;
    if (!isSupplied || this.room <= mostHeldEach) this.#parts.onEnd();
  }

  /** What waits for an endpoint that has begun to fail may go another time, or from another daemon. */
  #handBack(queue: Queue): void {
    const ids = queue.waiting.splice(0).map(({ claimed }) => claimed.delivery.id);
    this.#turns.delete(queue);
    this.#leaveIfIdle(queue);
    if (ids.length === 0) return;
    void this.#release(ids).then(() => {
      this.#held -= ids.length;
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

  #leaveIfIdle(queue: Queue): void {
    if (isIdle(queue)) this.#origins.leave(queue.origin, queue.id);
  }

  #forget(queue: Queue): void {
    if (!isIdle(queue) || (queue.isQuick && this.#queues.size <= mostRemembered)) return;
    if (this.#queues.get(queue.id) === queue) this.#queues.delete(queue.id);
  }

  /** Lets posts end for `graceMs`, cuts off the rest, and hands back what was not posted. */
  async end(graceMs: number): Promise<void> {
    for (const queue of this.#turns) this.#held -= queue.waiting.splice(0).length;
    this.#turns.clear();
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
    await this.#release(null);
  }
}
