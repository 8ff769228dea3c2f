// The send rates of organizations, from memory: no store access on the request's path but for one look
// at a counter every half second, so that a changed plan holds in every daemon within a second.
import type { App } from '../app.ts';
import { countOrganizationChanges, findOrganization } from '../organizations/queries.ts';
import { KnownRows } from '../store/changes.ts';
import { limitsOf, type SendRates, sendRatesOf } from './plans.ts';

const mostKnown = 10_000;

/** What is known of one organization; null rates: its plan has no limit. */
interface Known {
  rates: SendRates | null;
}

export class OrganizationRates {
  readonly #app: App;
  readonly #known: KnownRows<Known>;

  constructor(app: App) {
    this.#app = app;
    const countChanges = () => countOrganizationChanges(app.store.db);
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
