// Pool of open SMTP sessions, reused for further messages. Counts connections per destination, per
// organization and in total. Callers open the sessions and deliver over them. pool-destination.ts
// has the state of a destination, pool-destinations.ts compares destinations.
import type { Clock } from '../../platform/runtime/clock.ts';
import { FairShare } from '../../platform/runtime/fairness/fair-share.ts';
import {
  type Destination,
  type Entry,
  entryOf,
  firstWaiter,
  removeIdle,
  removeWaiter,
  staying,
  takeIdle,
  type Wanted,
} from './pool-destination.ts';
import {
  destinationWithOldestIdle,
  isAnyHeldBack,
  nextWaiter,
  surplusOf,
} from './pool-destinations.ts';
import type {
  DestinationLimits,
  Late,
  Lease,
  PoolOptions,
  SessionRequest,
  Unopened,
} from './pool-request.ts';

const defaultIdleCloseMs = 10_000;

/*
 * The slot of a connection is counted for the destination, in total, and (unless idle) for the
 * organization that sends mail over the connection:
 *
 *   free → opening (acquire) → busy (opened)
 *     → idle (all leases released, session good, no request waits)
 *   idle → busy (acquire with the same destination and key)
 *   busy → busy, with two leases (lendOn, if a request waits for the session)
 *   opening, busy, idle → free (opening failed, session spent or dead, idle too long, evicted, closed)
 *
 * A session that ends with QUIT counts for the destination until the server has closed it, because
 * the server counts it that long. In the total, the slot is free at once. A freed slot goes to the
 * longest waiting request that limits and shares permit.
 */
export class SmtpPool {
  readonly #clock: Clock;
  readonly #maxConnections: number;
  readonly #idleCloseMs: number;
  readonly #destinations = new Map<string, Destination>();
  readonly #inUse: FairShare;
  readonly #busy = new Set<Entry>();
  readonly #quitting = new Set<Promise<void>>();
  #open = 0;
  #waiting = 0;
  /** Next ticket; 0 is reserved for requests with precedence. */
  #tickets = 1;
  #isClosing: boolean = false;
  #onEmpty: (() => void) | null = null;

  constructor(options: PoolOptions) {
    this.#clock = options.clock;
    this.#maxConnections = options.maxConnections;
    this.#idleCloseMs = options.idleCloseMs ?? defaultIdleCloseMs;
    this.#inUse = new FairShare(options.maxConnections);
  }

  /** Number of connections open or being opened, including idle connections. */
  get connections(): number {
    return this.#open;
  }

  /**
   * True if a request waits although its destination has a free connection: the total limit, or the
   * share of the organization, prevents it.
   */
  get isPressed(): boolean {
    return this.#waiting > 0 && isAnyHeldBack(this.#destinations.values());
  }

  /**
   * Returns a session: idle if possible, else new. At a limit, requests wait in order of arrival.
   * Returns the result of `open` unchanged if it has no session, `isLate` if the wait takes too
   * long, and null once the pool closes.
   */
  async acquire<Failure extends object>(
    request: SessionRequest<Failure>,
  ): Promise<Lease | Failure | Unopened | Late | null> {
    if (this.#isClosing) return null;
    const destination = this.#destinationOf(request.destination, request.limits);
    const granted = this.#takeNow(destination, request) ?? (await this.#wait(destination, request));
    if (granted === 'closing') return null;
    if (granted === 'late') return { isLate: true };
    return granted === 'slot' ? this.#openInto(destination, request) : this.#lend(granted, true);
  }

  /**
   * Changes the limits of each open destination for which `connectionsOf` returns a number. Closes
   * idle sessions above the limit at once, busy sessions after their message.
   */
  changeLimits(connectionsOf: (destination: string) => number | undefined): void {
    for (const destination of [...this.#destinations.values()]) {
      const connections = connectionsOf(destination.name);
      if (connections === undefined) continue;
      destination.limits = { ...destination.limits, connections };
      while (staying(destination) > connections && this.#evict(destination));
    }
    this.#grantFree();
  }

  /** Returns the number of excess connections by name, for destinations above the limit. */
  surplus(): Record<string, number> {
    return surplusOf(this.#destinations.values());
  }

  /**
   * Sends QUIT on idle sessions and refuses waiting requests. Resolves once the busy sessions are
   * released and closed too.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const destination of this.#destinations.values()) {
      for (const entry of destination.idle.splice(0)) this.#retire(entry);
      for (const waiter of destination.waiters.splice(0)) waiter.refuse();
    }
    if (this.#open > 0) {
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
    }
    await Promise.all(this.#quitting);
  }

  /** Aborts every busy session, which ends the delivery with a fault. */
  abort(): void {
    for (const { session } of this.#busy) session.abort('given up at our shutdown');
  }

  #destinationOf(name: string, limits: DestinationLimits): Destination {
    const known = this.#destinations.get(name);
    if (known) {
      const isRaised = limits.connections > known.limits.connections;
      known.limits = limits;
      if (isRaised) this.#grantFree();
      return known;
    }
    const destination: Destination = { name, limits, open: 0, quitting: 0, idle: [], waiters: [] };
    this.#destinations.set(name, destination);
    return destination;
  }

  /**
   * Reserves an idle session or a slot for the organization. Returns null if none is free, or if
   * the organization already has the full share.
   */
  #takeNow(destination: Destination, wanted: Wanted): Entry | 'slot' | null {
    const { organizationId } = wanted;
    if (!this.#inUse.mayHold(organizationId)) return null;
    const idle = takeIdle(destination, wanted);
    if (!idle && !this.#takeSlot(destination)) return null;
    this.#inUse.hold(organizationId);
    if (!idle) return 'slot';
    idle.holder = organizationId;
    return idle;
  }

  /**
   * Counts a slot; returns false at a limit. At the total limit, first closes an idle session,
   * which frees a slot at once. At the limit of the destination also closes an idle session, but
   * returns false: the slot is free once the server has closed the session.
   */
  #takeSlot(destination: Destination): boolean {
    const { connections } = destination.limits;
    if (destination.open >= connections) {
      // The slot of an idle session for different hosts is free once the server closed it.
      if (staying(destination) >= connections) this.#evict(destination);
      return false;
    }
    if (
      this.#open >= this.#maxConnections &&
      !this.#evict(destinationWithOldestIdle(this.#destinations.values()))
    ) {
      return false;
    }
    // Evicting the only session of the destination has removed the destination, so add it again.
    this.#destinations.set(destination.name, destination);
    destination.open += 1;
    this.#open += 1;
    return true;
  }

  #evict(destination: Destination | null): boolean {
    const entry = destination?.idle.shift();
    if (!entry) return false;
    entry.cancelIdle();
    this.#open -= 1;
    this.#quit(entry);
    return true;
  }

  #wait(
    destination: Destination,
    request: SessionRequest<unknown>,
  ): Promise<Entry | 'slot' | 'closing' | 'late'> {
    const { organizationId, keys, isFresh, longestWaitMs } = request;
    return new Promise((resolve) => {
      let cancel = () => {};
      const end = (result: Entry | 'slot' | 'closing' | 'late') => {
        cancel();
        this.#waiting -= 1;
        resolve(result);
      };
      const refuse = () => end('closing');
      const waiter = { organizationId, keys, isFresh, ticket: 0, grant: end, refuse };
      if (longestWaitMs !== undefined) {
        cancel = this.#clock.after(longestWaitMs, () => {
          removeWaiter(destination, waiter);
          this.#forgetEmpty(destination);
          end('late');
        });
      }
      this.#waiting += 1;
      if (isFresh) {
        destination.waiters.unshift(waiter);
        return;
      }
      waiter.ticket = this.#tickets;
      this.#tickets += 1;
      destination.waiters.push(waiter);
    });
  }

  async #openInto<Failure extends object>(
    destination: Destination,
    request: SessionRequest<Failure>,
  ) {
    let entry: Entry | null = null;
    try {
      const opened = await request.open();
      if (!('opening' in opened)) return opened;
      const { opening, peer } = opened;
      if (opening.session === null) return { opening, peer };
      entry = entryOf(opening.session, peer, destination, request);
      return this.#lend(entry, false);
    } finally {
      if (!entry) {
        this.#inUse.letGo(request.organizationId);
        this.#giveUpSlot(destination);
      }
    }
  }

  #lend(entry: Entry, isReused: boolean): Lease {
    this.#busy.add(entry);
    entry.users += 1;
    let isHeld = true;
    const { session, peer } = entry;
    return {
      session,
      peer,
      isReused,
      lendOn: () => this.#lendOn(entry),
      release: () => {
        if (isHeld) this.#release(entry);
        isHeld = false;
      },
    };
  }

  #lendOn(entry: Entry): void {
    if (this.#canGoOn(entry)) this.#handOver(entry);
  }

  /**
   * Gives the session to the first waiting request of the same destination. Returns false if no
   * request waits, or if the session cannot serve the request.
   */
  #handOver(entry: Entry): boolean {
    const { destination, key, holder } = entry;
    const next = firstWaiter(destination, this.#inUse, holder);
    if (!next || next.isFresh || !next.keys.includes(key)) return false;
    if (holder !== null) this.#inUse.letGo(holder);
    this.#inUse.hold(next.organizationId);
    entry.holder = next.organizationId;
    removeWaiter(destination, next);
    next.grant(entry);
    if (holder !== next.organizationId) this.#grantFree();
    return true;
  }

  #canGoOn({ session, destination }: Entry): boolean {
    const { connections, messagesPerConnection } = destination.limits;
    const isWanted =
      session.deliveries < messagesPerConnection && staying(destination) <= connections;
    return isWanted && session.isOpen && !this.#isClosing;
  }

  #release(entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    this.#busy.delete(entry);
    const isGood = this.#canGoOn(entry);
    if (isGood && this.#handOver(entry)) return;
    if (entry.holder !== null) this.#inUse.letGo(entry.holder);
    entry.holder = null;
    if (!isGood || firstWaiter(entry.destination, this.#inUse) || this.#isWaitedForElsewhere()) {
      this.#retire(entry);
    } else {
      this.#keepIdle(entry);
      this.#grantFree();
    }
  }

  #keepIdle(entry: Entry): void {
    const { session, destination } = entry;
    destination.idle.push(entry);
    entry.cancelIdle = this.#clock.after(this.#idleCloseMs, () => {
      if (removeIdle(destination, entry)) this.#retire(entry);
    });
    session.onClosed(() => {
      if (removeIdle(destination, entry)) this.#giveUpSlot(destination);
    });
    this.#destinations.delete(destination.name);
    this.#destinations.set(destination.name, destination);
  }

  /** Closes a session without a holder, and grants the slot to a waiting request. */
  #retire(entry: Entry): void {
    entry.cancelIdle();
    this.#open -= 1;
    this.#quit(entry);
    if (this.#open === 0) this.#onEmpty?.();
    this.#grantFree();
  }

  /** Ends a session, which counts for the destination until the server has closed it. */
  #quit({ session, destination }: Entry): void {
    destination.quitting += 1;
    const done = session.quit().finally(() => {
      this.#quitting.delete(done);
      destination.quitting -= 1;
      destination.open -= 1;
      this.#forgetEmpty(destination);
      this.#grantFree();
    });
    this.#quitting.add(done);
  }

  #freeSlot(destination: Destination): void {
    destination.open -= 1;
    this.#open -= 1;
    this.#forgetEmpty(destination);
  }

  #forgetEmpty(destination: Destination): void {
    if (destination.open === 0 && destination.waiters.length === 0)
      this.#destinations.delete(destination.name);
  }

  #giveUpSlot(destination: Destination): void {
    this.#freeSlot(destination);
    if (this.#open === 0) this.#onEmpty?.();
    this.#grantFree();
  }

  /** Grants sessions to waiting requests, oldest first, as far as limits and shares allow. */
  #grantFree(): void {
    while (this.#waiting > 0) {
      const found = nextWaiter(this.#destinations.values(), this.#inUse);
      const taken = found && this.#takeNow(found.destination, found.waiter);
      if (!taken) return;
      removeWaiter(found.destination, found.waiter);
      found.waiter.grant(taken);
    }
  }

  #isWaitedForElsewhere(): boolean {
    if (this.#waiting === 0 || this.#open < this.#maxConnections) return false;
    return nextWaiter(this.#destinations.values(), this.#inUse) !== null;
  }
}
