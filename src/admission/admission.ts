// The send rate limit (specification 8.1, 7 rule 1): a bucket for each organization and
// one for each key, drawn on together. In memory, without a write to the store, while this daemon is
// alone; with several on one PostgreSQL the buckets are shared (shared-buckets.ts).
//
// How exact: to the request, over all keys and daemons. A start or a crash fills the buckets. For at
// most a second after another daemon starts, both may let the same burst through. Retry-After is
// enough for a caller that is alone; others of its organization may be quicker, and are then first.
import type { Caller } from '../api/route.ts';
import type { App } from '../app.ts';
import { RateLimitedError } from '../errors.ts';
import { findOrganization, organizationChanges } from '../organizations/queries.ts';
import { perApp } from '../runtime/per-app.ts';
import { KnownRows } from '../store/changes.ts';
import {
  Buckets,
  capacity,
  draw,
  giveBack,
  type KnownBucket,
  tokensIn,
  waitMs,
} from './buckets.ts';
import { createPeers, type Peers } from './peers.ts';
import { limitsOf, type SendRates, sendRatesOf } from './plans.ts';
import { createSharedDraws, type DrawShared } from './shared-buckets.ts';

const mostKnown = 10_000;

/** What is known of one organization; null rates: its plan has no limit. */
interface Known {
  rates: SendRates | null;
}

/**
 * The send rates of organizations, from memory: no store access on the request's path but for one look
 * at a counter every half second, so that a changed plan holds in every daemon within a second.
 */
class OrganizationRates {
  readonly #app: App;
  readonly #known: KnownRows<Known>;

  constructor(app: App) {
    this.#app = app;
    const countChanges = () => organizationChanges.count(app.store.db);
    this.#known = new KnownRows(app.clock, mostKnown, countChanges);
  }

  /** Null for an organization whose sends are not limited. */
  async find(organizationId: string): Promise<SendRates | null> {
    if (this.#known.isStale()) await this.#known.refresh();
    const known =
      this.#known.get(organizationId) ??
      (await this.#known.load(organizationId, () => this.#read(organizationId)));
    return known.rates;
  }

  /** As `find`, of those that were found lately; never waits. */
  peek(organizationId: string): SendRates | null {
    return this.#known.peek(organizationId)?.rates ?? null;
  }

  async #read(organizationId: string): Promise<Known> {
    const { config, store } = this.#app;
    const row = await findOrganization(store.db, organizationId);
    return { rates: row ? sendRatesOf(limitsOf(config, row.plan)) : null };
  }
}

/** Who draws; without a key (a campaign, the command line) on the organization's bucket alone. */
export type Drawer = Pick<Caller, 'organizationId' | 'keyId'>;

/** Where the caller stands: the fields of draft-ietf-httpapi-ratelimit-headers-06. */
interface LimitState {
  /** Requests that the tighter of the two buckets holds when it is full. */
  limit: number;
  /** Requests that would be admitted now. */
  remaining: number;
  /** Seconds until the bucket is full; where nothing remains, until the next request. */
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

  /** Joins the other daemons of the store; only the daemon does, before it listens. */
  start(): Promise<void> {
    return this.#peers.start();
  }

  stop(): Promise<void> {
    return this.#peers.stop();
  }

  /**
   * Draws for one request, or throws and draws nothing. Of a batch the size is not known yet: where
   * it is refused here, it is told to wait until the buckets are full, which is enough for any.
   * @throws RateLimitedError naming `operation`; CapacityError when the store is needed and away.
   */
  async admit(drawer: Drawer, operation: string, { isBatch } = { isBatch: false }): Promise<void> {
    const wait = await this.#draw(drawer, 0, 1);
    this.#refuse(wait > 0 && isBatch ? this.#msUntilFull(drawer) : wait, operation);
  }

  /**
   * Draws for a batch of `count` whose request has drawn one: the rest of it, or, where that is
   * refused, nothing, and the one is given back. @throws as `admit`.
   */
  async admitBatch(drawer: Drawer, count: number, operation: string): Promise<void> {
    this.#refuse(await this.#draw(drawer, 1, count), operation);
  }

  /** Draws `count`; 0, or the milliseconds to wait. For what paces itself instead of failing. */
  tryDraw(drawer: Drawer, count: number): Promise<number> {
    return this.#draw(drawer, 0, count);
  }

  /** After `admit`; null where nothing limits the caller. */
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

  async #draw(drawer: Drawer, returned: number, tokens: number): Promise<number> {
    const rates = await this.#rates.find(drawer.organizationId);
    if (!rates) return 0;
    const now = this.#app.clock.now();
    const buckets = this.#bucketsOf(drawer, rates, now);
    const wait = this.#peers.hasCompany()
      ? await this.#drawInCompany(buckets, returned, tokens, now)
      : drawAlone(buckets, returned, tokens, now);
    this.#buckets.forgetFull(now);
    return wait;
  }

  /**
   * Our own view is an upper bound, and exact for a bucket without a single token: nobody can have
   * drawn on that since we looked. So a flood that is refused costs the store nothing.
   */
  async #drawInCompany(
    buckets: readonly KnownBucket[],
    returned: number,
    tokens: number,
    now: number,
  ): Promise<number> {
    const isEmpty = returned === 0 && waitMs(buckets, 1, now) > 0;
    return isEmpty ? waitMs(buckets, tokens, now) : this.#drawShared({ buckets, returned, tokens });
  }

  #bucketsOf({ organizationId, keyId }: Drawer, rates: SendRates, now: number): KnownBucket[] {
    const ofOrganization = this.#buckets.get(organizationId, rates.organization, now);
    if (keyId === null) return [ofOrganization];
    return [ofOrganization, this.#buckets.get(keyId, rates.key, now)];
  }

  /** Tells the store what was drawn while nobody else did. */
  async #shareAll(): Promise<void> {
    const buckets = this.#buckets.unshared();
    await Promise.all(
      buckets.map((bucket) => this.#drawShared({ buckets: [bucket], returned: 0, tokens: 0 })),
    );
  }
}

function drawAlone(
  buckets: readonly KnownBucket[],
  returned: number,
  tokens: number,
  now: number,
): number {
  if (returned > 0) giveBack(buckets, returned, now);
  const wait = draw(buckets, tokens, now);
  for (const bucket of buckets) bucket.unshared = true;
  return wait;
}

/** The admission of one process: whatever sends draws on the same buckets. */
export const admissionOf = perApp((app: App): Admission => new Admission(app));
