// Open SMTP sessions, kept for the next message and counted: per lane (one destination) and in all.
// Knows how to share sessions, not how to open them, nor what is said on them.
import type { Clock } from '../../clock.ts';
import { SmtpFault } from './fault.ts';
import type { Opening } from './open.ts';
import type { SmtpSession } from './session.ts';

export interface PoolOptions {
  clock: Clock;
  /** Connections in all. */
  maxConnections: number;
  /** An unused session is closed after so long. */
  idleCloseMs?: number;
}

/** Both at least 1. They may change from request to request: the latest hold for the lane. */
export interface LaneLimits {
  connections: number;
  messagesPerConnection: number;
}

/** Where a session leads, as the attempt history shows it. */
export interface Peer {
  host: string;
  address: string;
}

export interface SessionRequest<Failure> {
  /** The destination that the limit holds for; sessions are never shared between lanes. */
  lane: string;
  limits: LaneLimits;
  /** An idle session with one of these keys will do; an opened one gets the first. */
  keys: readonly string[];
  /** Never take an idle session: one was just found dead. */
  isFresh: boolean;
  open: () => Promise<{ opening: Opening; peer: Peer } | Failure>;
}

/** A session on loan; it must be given back by `release`, whatever became of it. */
export interface Lease {
  session: SmtpSession;
  peer: Peer;
  isReused: boolean;
  /**
   * The message has left but for its answer: whoever waits for this session may begin behind it.
   * Without anyone who waits, nothing happens.
   */
  lendOn(): void;
  release(): void;
}

interface Entry {
  session: SmtpSession;
  peer: Peer;
  lane: Lane;
  key: string;
  /** Leases out: two while the next message begins behind the one before it. */
  users: number;
  cancelIdle: () => void;
}

interface Waiter {
  /** Over all lanes, in order of arrival. */
  ticket: number;
  keys: readonly string[];
  isFresh: boolean;
  /** With an entry: that session. With null: the right to open one. */
  grant: (entry: Entry | null) => void;
  refuse: () => void;
}

interface Lane {
  name: string;
  limits: LaneLimits;
  /** Connections open or being opened. */
  open: number;
  /** Oldest first. */
  idle: Entry[];
  waiters: Waiter[];
}

const defaultIdleCloseMs = 10_000;

/*
 * a slot of a connection, counted in its lane and in all:
 * free → opening (acquire) → busy (opened) → idle (released by all, still good, nobody waits)
 * idle → busy (acquire by the same lane and key)
 * busy → busy, twice on loan (lendOn, where someone waits for it)
 * opening, busy, idle → free: opening failed, session spent or dead, idle too long, evicted, closed
 * A slot that becomes free goes to the longest waiting request that the limits let through.
 */
export class SmtpPool {
  readonly #clock: Clock;
  readonly #maxConnections: number;
  readonly #idleCloseMs: number;
  readonly #lanes = new Map<string, Lane>();
  readonly #busy = new Set<Entry>();
  readonly #quitting = new Set<Promise<void>>();
  #open = 0;
  #tickets = 0;
  #isClosing: boolean = false;
  #onEmpty: (() => void) | null = null;

  constructor(options: PoolOptions) {
    this.#clock = options.clock;
    this.#maxConnections = options.maxConnections;
    this.#idleCloseMs = options.idleCloseMs ?? defaultIdleCloseMs;
  }

  /** Connections open or being opened, idle ones included. */
  get connections(): number {
    return this.#open;
  }

  /**
   * A session: an idle one, else a new one, else, at a limit, whichever comes free first, in order of
   * arrival. Resolves with what `open` returned when that is no session, and with null once the pool
   * is closing.
   */
  async acquire<Failure extends object>(
    request: SessionRequest<Failure>,
  ): Promise<Lease | Failure | { opening: Opening & { session: null }; peer: Peer } | null> {
    if (this.#isClosing) return null;
    const lane = this.#laneOf(request.lane, request.limits);
    const idle = this.#takeIdle(lane, request);
    if (idle) return this.#lend(idle, true);
    if (!this.#takeSlot(lane)) {
      const granted = await this.#wait(lane, request);
      if (granted === 'closing') return null;
      if (granted) return this.#lend(granted, true);
    }
    return this.#openInto(lane, request);
  }

  /**
   * Says goodbye on idle sessions, refuses who waits, and resolves when the busy ones have been
   * released and closed too.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const lane of this.#lanes.values()) {
      for (const entry of lane.idle.splice(0)) this.#retire(entry);
      for (const waiter of lane.waiters.splice(0)) waiter.refuse();
    }
    if (this.#open > 0) {
      await new Promise<void>((resolve) => {
        this.#onEmpty = resolve;
      });
    }
    await Promise.all(this.#quitting);
  }

  /** Cuts every busy session: what is under way on it ends with a fault. */
  abort(): void {
    for (const { session } of this.#busy) session.abort('given up at our shutdown');
  }

  #laneOf(name: string, limits: LaneLimits): Lane {
    const known = this.#lanes.get(name);
    if (known) {
      known.limits = limits;
      this.#admit(known);
      return known;
    }
    const lane: Lane = { name, limits, open: 0, idle: [], waiters: [] };
    this.#lanes.set(name, lane);
    return lane;
  }

  /** Lets those in who wait for nothing any more, after a limit of the lane was raised. */
  #admit(lane: Lane): void {
    while (lane.open < lane.limits.connections && this.#open < this.#maxConnections) {
      const waiter = lane.waiters.shift();
      if (!waiter) return;
      lane.open += 1;
      this.#open += 1;
      waiter.grant(null);
    }
  }

  #takeIdle(lane: Lane, { keys, isFresh }: { keys: readonly string[]; isFresh: boolean }) {
    if (isFresh) return null;
    // The one used last: the others grow old and are closed.
    const index = lane.idle.findLastIndex((entry) => keys.includes(entry.key));
    const [entry] = index === -1 ? [] : lane.idle.splice(index, 1);
    entry?.cancelIdle();
    return entry ?? null;
  }

  /** Counts a slot for the lane, closing an idle session for it where a limit needs that. */
  #takeSlot(lane: Lane): boolean {
    if (lane.open >= lane.limits.connections && !this.#evict(lane)) return false;
    if (lane.open >= lane.limits.connections) return false;
    if (this.#open >= this.#maxConnections && !this.#evict(this.#laneWithOldestIdle())) {
      return false;
    }
    // Evicting the lane's only session has forgotten the lane.
    this.#lanes.set(lane.name, lane);
    lane.open += 1;
    this.#open += 1;
    return true;
  }

  #evict(lane: Lane | null): boolean {
    const entry = lane?.idle.shift();
    if (!entry) return false;
    entry.cancelIdle();
    this.#freeSlot(entry.lane);
    this.#quit(entry.session);
    return true;
  }

  /** Lanes are in order of their last use for idling, so the first with an idle session will do. */
  #laneWithOldestIdle(): Lane | null {
    for (const lane of this.#lanes.values()) if (lane.idle.length > 0) return lane;
    return null;
  }

  #wait(lane: Lane, { keys, isFresh }: SessionRequest<unknown>): Promise<Entry | null | 'closing'> {
    return new Promise((resolve) => {
      lane.waiters.push({
        ticket: this.#tickets,
        keys,
        isFresh,
        grant: resolve,
        refuse: () => resolve('closing'),
      });
      this.#tickets += 1;
    });
  }

  async #openInto<Failure extends object>(lane: Lane, request: SessionRequest<Failure>) {
    let entry: Entry | null = null;
    try {
      const opened = await request.open();
      if (!('opening' in opened)) return opened;
      const { opening, peer } = opened;
      if (opening.session === null) return { opening, peer };
      entry = {
        session: opening.session,
        peer,
        lane,
        key: request.keys[0] ?? '',
        users: 0,
        cancelIdle: () => {},
      };
      return this.#lend(entry, false);
    } finally {
      if (!entry) this.#giveUpSlot(lane);
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
    if (this.#canGoOn(entry)) this.#takeWaiter(entry)?.grant(entry);
  }

  /** The first who waits in the lane, if this session will do. */
  #takeWaiter({ lane, key }: Entry): Waiter | undefined {
    const [next] = lane.waiters;
    return next && !next.isFresh && next.keys.includes(key) ? lane.waiters.shift() : undefined;
  }

  #canGoOn({ session, lane }: Entry): boolean {
    const { connections, messagesPerConnection } = lane.limits;
    const isWanted = session.deliveries < messagesPerConnection && lane.open <= connections;
    return isWanted && session.isOpen && !this.#isClosing;
  }

  #release(entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    this.#busy.delete(entry);
    const isGood = this.#canGoOn(entry);
    const next = isGood ? this.#takeWaiter(entry) : undefined;
    if (!isGood) this.#retire(entry);
    else if (next) next.grant(entry);
    else if (entry.lane.waiters.length > 0 || this.#isWaitedForElsewhere()) this.#retire(entry);
    else this.#keepIdle(entry);
  }

  #keepIdle(entry: Entry): void {
    const { session, lane } = entry;
    const remove = () => {
      const index = lane.idle.indexOf(entry);
      if (index === -1) return false;
      lane.idle.splice(index, 1);
      entry.cancelIdle();
      return true;
    };
    lane.idle.push(entry);
    entry.cancelIdle = this.#clock.after(this.#idleCloseMs, () => {
      if (remove()) this.#retire(entry);
    });
    session.onClosed(() => {
      if (remove()) this.#giveUpSlot(lane);
    });
    this.#lanes.delete(lane.name);
    this.#lanes.set(lane.name, lane);
  }

  /** Ends a session that nobody holds; its slot goes on. */
  #retire(entry: Entry): void {
    entry.cancelIdle();
    this.#quit(entry.session);
    this.#giveUpSlot(entry.lane);
  }

  #quit(session: SmtpSession): void {
    const done = session.quit().finally(() => this.#quitting.delete(done));
    this.#quitting.add(done);
  }

  #freeSlot(lane: Lane): void {
    lane.open -= 1;
    this.#open -= 1;
    const isEmpty = lane.open === 0 && lane.waiters.length === 0;
    if (isEmpty) this.#lanes.delete(lane.name);
  }

  #giveUpSlot(lane: Lane): void {
    this.#freeSlot(lane);
    if (this.#open === 0) this.#onEmpty?.();
    const next = this.#nextLane(lane);
    const waiter = next?.waiters.shift();
    if (!next || !waiter) return;
    next.open += 1;
    this.#open += 1;
    waiter.grant(null);
  }

  /** The lane whose first waiter has waited longest, of those that a free slot can help. */
  #nextLane(freed: Lane): Lane | null {
    // Below the limit in all, only the lane's own limit held anyone back.
    if (this.#open + 1 < this.#maxConnections) {
      return freed.waiters.length > 0 && hasRoom(freed) ? freed : null;
    }
    let best: Lane | null = null;
    for (const lane of this.#lanes.values()) {
      const [first] = lane.waiters;
      if (!first || !hasRoom(lane)) continue;
      if (!best || first.ticket < (best.waiters[0]?.ticket ?? 0)) best = lane;
    }
    return best;
  }

  #isWaitedForElsewhere(): boolean {
    if (this.#open < this.#maxConnections) return false;
    for (const lane of this.#lanes.values()) {
      if (lane.waiters.length > 0 && hasRoom(lane)) return true;
    }
    return false;
  }
}

function hasRoom({ open, limits }: Lane): boolean {
  return open < limits.connections;
}

/** What a closing pool means for a delivery. */
export function closingFault(): SmtpFault {
  return SmtpFault.of('connection', 'connect', 'the service is shutting down', '4.3.2');
}
