// The send rate limit (specification 8.1, 7 rule 1): a token bucket for each organization, and for
// each key and member. A send draws on both. While this daemon is alone, the buckets are in memory
// and draws write nothing to the store. Several daemons on one PostgreSQL share the buckets
// (shared-buckets.ts).
//
// Precision: exact to the request, over all keys and daemons. A start or a crash fills the buckets.
// For at most a second after another daemon starts, both may let the same burst through.
// Retry-After is long enough for a single caller; callers of the same organization may draw first.
import type { Caller } from '../../core/api/route.ts';
import type { App } from '../../core/app.ts';
import { RateLimitedError } from '../../platform/errors.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { KnownRows } from '../../platform/store/changes/changes.ts';
import { findOrganization, organizationChanges } from '../organizations/queries.ts';
import {
  Buckets,
  capacity,
  draw,
  giveBack,
  type KnownBucket,
  refill,
  tokensIn,
  waitMs,
} from './buckets.ts';
import { createPeers, type Peers } from './peers.ts';
import { limitsOf, type SendRates, sendRatesOf } from './plans.ts';
import { createSharedDraws, type DrawShared, type SharedDraw } from './shared-buckets.ts';

const mostKnown = 10_000;

/** Cached plan of an organization. The configuration has the limits of the plan. */
interface Known {
  /** Name of the plan; null for a deleted organization. */
  plan: string | null;
}

/**
 * Send rates of organizations, kept in memory. Every half second a request reads a counter of
 * changes in the store, so a changed plan takes effect in every daemon within a second.
 */
class OrganizationRates {
  readonly #app: App;
  readonly #known: KnownRows<Known>;

  constructor(app: App) {
    this.#app = app;
    const countChanges = () => organizationChanges.count(app.store.db);
    this.#known = new KnownRows(app.clock, mostKnown, countChanges);
  }

  /** Returns the rates of an organization; null without a rate limit, and if it is deleted. */
  async find(organizationId: string): Promise<SendRates | null> {
    if (this.#known.isStale()) await this.#known.refresh();
    const known =
      this.#known.get(organizationId) ??
      (await this.#known.load(organizationId, () => this.#read(organizationId)));
    return this.#ratesOf(known);
  }

  /** Returns the cached rates of an organization; null if not cached or without a rate limit. */
  peek(organizationId: string): SendRates | null {
    return this.#ratesOf(this.#known.peek(organizationId));
  }

  /** Reads the limits of the plan each time, as a reload of the configuration changes them. */
  #ratesOf(known: Known | undefined): SendRates | null {
    return known?.plan ? sendRatesOf(limitsOf(this.#app.config, known.plan)) : null;
  }

  async #read(organizationId: string): Promise<Known> {
    const row = await findOrganization(this.#app.store.db, organizationId);
    return { plan: row?.plan ?? null };
  }
}

/**
 * Organization, and key or member, that a draw counts for. Without both (a campaign, the command
 * line), only the organization's bucket counts.
 */
export type Drawer = Pick<Caller, 'organizationId' | 'keyId'> & Partial<Pick<Caller, 'by'>>;

/** Present limit of the caller: the fields of draft-ietf-httpapi-ratelimit-headers-06. */
interface LimitState {
  /** Requests that the tighter of the two buckets holds when it is full. */
  limit: number;
  /** Requests that would be admitted now. */
  remaining: number;
  /** Seconds until the bucket is full or, if it is empty, until the next request is admitted. */
  resetSeconds: number;
}

export class Admission {
  readonly #app: App;
  readonly #rates: OrganizationRates;
  readonly #buckets = new Buckets();
  readonly #peers: Peers;
  readonly #drawShared: DrawShared;

  constructor(app: App) {
    this.#app = app;
    this.#rates = new OrganizationRates(app);
    this.#peers = createPeers(app, () => this.#shareAll());
    this.#drawShared = createSharedDraws(app);
  }

  /**
   * Starts the heartbeats by which daemons know each other. The daemon calls it before it listens.
   */
  start(): Promise<void> {
    return this.#peers.start();
  }

  stop(): Promise<void> {
    return this.#peers.stop();
  }

  /**
   * Draws a token for a request, or throws and draws nothing. Before the body is read, the size of
   * a batch is unknown. A refused batch therefore waits until the buckets are full.
   * @throws RateLimitedError that names `operation`; CapacityError if the store is needed and
   * unavailable.
   */
  async admit(drawer: Drawer, operation: string, { isBatch } = { isBatch: false }): Promise<void> {
    const wait = await this.#draw(drawer, 0, 1);
    this.#refuse(wait > 0 && isBatch ? this.#msUntilFull(drawer) : wait, operation);
  }

  /**
   * Draws for a batch of `count` entries, of which `admit` has drawn the first token. If refused,
   * draws nothing and gives that token back.
   * @throws as `admit`.
   */
  async admitBatch(drawer: Drawer, count: number, operation: string): Promise<void> {
    this.#refuse(await this.#draw(drawer, 1, count), operation);
  }

  /**
   * Draws `count` tokens and returns 0, or draws none and returns the milliseconds to wait. For
   * callers that wait instead of failing. `leavesHalf`: half of the bucket stays for requests.
   */
  tryDraw(drawer: Drawer, count: number, { leavesHalf = false } = {}): Promise<number> {
    return this.#draw(drawer, 0, count, leavesHalf);
  }

  /** Gives back drawn tokens that the caller did not need. */
  async giveBack(drawer: Drawer, count: number): Promise<void> {
    if (count > 0) await this.#draw(drawer, count, 0);
  }

  /** Returns the present limit, after `admit`; null for a caller without a limit. */
  stateOf(drawer: Drawer): LimitState | null {
    const rates = this.#rates.peek(drawer.organizationId);
    if (!rates) return null;
    const now = this.#app.clock.now();
    const buckets = this.#bucketsOf(drawer, rates, now);
    const tightest = buckets.reduce((a, b) => (tokensIn(b, now) < tokensIn(a, now) ? b : a));
    const remaining = tokensIn(tightest, now);
    const wanted = remaining === 0 ? 1 : Number.POSITIVE_INFINITY;
    const reset = waitMs(remaining === 0 ? buckets : [tightest], wanted, now);
    this.#buckets.forgetFull(now);
    return {
      limit: capacity(tightest.rate),
      remaining,
      resetSeconds: Math.ceil(reset / 1_000),
    };
  }

  #msUntilFull(drawer: Drawer): number {
    const rates = this.#rates.peek(drawer.organizationId);
    if (!rates) return 0;
    const now = this.#app.clock.now();
    return waitMs(this.#bucketsOf(drawer, rates, now), Number.POSITIVE_INFINITY, now);
  }

  #refuse(waitForMs: number, operation: string): void {
    if (waitForMs > 0) throw new RateLimitedError(operation, Math.ceil(waitForMs / 1_000));
  }

  async #draw(
    drawer: Drawer,
    returned: number,
    tokens: number,
    leavesHalf = false,
  ): Promise<number> {
    const rates = await this.#rates.find(drawer.organizationId);
    if (!rates) return 0;
    const now = this.#app.clock.now();
    const buckets = this.#bucketsOf(drawer, rates, now);
    const leaving = leavesHalf ? halfOf(capacity(rates.organization)) : 0;
    const drawing = { buckets, returned, tokens, leaving };
    const wait = this.#peers.hasCompany()
      ? await this.#drawInCompany(drawing, now)
      : drawAlone(drawing, now);
    this.#buckets.forgetFull(now);
    return wait;
  }

  /**
   * Draws from the buckets that all daemons share. Other daemons only take tokens, so the local
   * level is an upper bound: if it lacks a whole token, the request is refused without a read of
   * the store. A flood of refusals then costs the store nothing.
   */
  async #drawInCompany(drawing: SharedDraw, now: number): Promise<number> {
    const { buckets, returned, tokens, leaving } = drawing;
    // Without the refill, an empty bucket stays empty until a clock that was set back has caught
    // up.
    for (const bucket of buckets) refill(bucket, now);
    const isEmpty = returned === 0 && waitMs(buckets, 1 + leaving, now) > 0;
    return isEmpty ? waitMs(buckets, tokens + leaving, now) : this.#drawShared(drawing);
  }

  #bucketsOf(drawer: Drawer, rates: SendRates, now: number): KnownBucket[] {
    const { organizationId, keyId, by } = drawer;
    const callerId = by?.kind === 'member' ? by.memberId : keyId;
    const ofOrganization = this.#buckets.get(organizationId, rates.organization, now);
    if (callerId === null) return [ofOrganization];
    return [ofOrganization, this.#buckets.get(callerId, rates.key, now)];
  }

  /** Stores the draws made while this daemon was alone. */
  async #shareAll(): Promise<void> {
    const buckets = this.#buckets.unshared();
    await Promise.all(
      buckets.map((bucket) =>
        this.#drawShared({ buckets: [bucket], returned: 0, tokens: 0, leaving: 0 }),
      ),
    );
  }
}

/**
 * Returns the number of tokens that a draw with `leavesHalf` leaves in a bucket of `full` tokens. A
 * bucket of a single token leaves 0, so that the token can be drawn.
 */
export function halfOf(full: number): number {
  return Math.floor(full / 2);
}

function drawAlone({ buckets, returned, tokens, leaving }: SharedDraw, now: number): number {
  if (returned > 0) giveBack(buckets, returned, now);
  const wait = draw(buckets, tokens, now, leaving);
  for (const bucket of buckets) bucket.unshared = true;
  return wait;
}

/** The admission of a process: all sends draw on the same buckets. */
export const admissionOf = perApp((app: App): Admission => new Admission(app));
