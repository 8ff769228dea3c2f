// The send rates of organizations, from memory: no store access on the request's path but for one
// look at a counter every half second (as src/keys/authenticator.ts does it), so that a changed plan
// holds in every daemon within a second.
import { LRUCache } from 'lru-cache';
import type { App } from '../app.ts';
import { countOrganizationChanges, findOrganization } from '../organizations/queries.ts';
import { limitsOf, type SendRates, sendRatesOf } from './plans.ts';

const mostKnown = 10_000;
const recheckMs = 500;

/** What is known of one organization; null rates: its plan has no limit. */
interface Known {
  rates: SendRates | null;
}

export class OrganizationRates {
  readonly #app: App;
  readonly #known = new LRUCache<string, Known>({ max: mostKnown });
  #seenChanges = -1;
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  #checking: Promise<void> | null = null;
  /** Counts clearings, so that a row read before one is not kept after it. */
  #epoch = 0;

  constructor(app: App) {
    this.#app = app;
  }

  /** Null for an organization whose sends are not limited. */
  async find(organizationId: string): Promise<SendRates | null> {
    const now = this.#app.clock.now();
    if (now < this.#checkedAtMs || now - this.#checkedAtMs >= recheckMs) await this.#recheck(now);
    const known = this.#known.get(organizationId) ?? (await this.#load(organizationId));
    return known.rates;
  }

  /** As `find`, of those that were found lately; never waits. */
  peek(organizationId: string): SendRates | null {
    return this.#known.peek(organizationId)?.rates ?? null;
  }

  async #load(organizationId: string): Promise<Known> {
    const epoch = this.#epoch;
    const { config, store } = this.#app;
    const row = await findOrganization(store.db, organizationId);
    const known = { rates: row ? sendRatesOf(limitsOf(config, row.plan)) : null };
    if (epoch === this.#epoch) this.#known.set(organizationId, known);
    return known;
  }

  async #recheck(now: number): Promise<void> {
    this.#checking ??= this.#readChanges(now).finally(() => {
      this.#checking = null;
    });
    await this.#checking;
  }

  async #readChanges(now: number): Promise<void> {
    const seen = await countOrganizationChanges(this.#app.store.db);
    if (seen !== this.#seenChanges) {
      this.#known.clear();
      this.#epoch++;
    }
    this.#seenChanges = seen;
    this.#checkedAtMs = now;
  }
}
