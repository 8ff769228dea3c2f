// Domains with a live plan, by organization, in the memory of this process: every send needs them.
// A change by another process is seen within a second (src/platform/store/changes.ts), one by this
// process at once.
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { committedIn, KnownRows } from '../../platform/store/changes.ts';
import type { Db } from '../../platform/store/db.ts';
import { selectWarmedDomains, warmingChanges } from './queries.ts';

/** Limit of organizations in memory. */
const mostKnown = 10_000;

class WarmedDomains {
  readonly #app: App;
  readonly #known: KnownRows<ReadonlySet<string>>;

  constructor(app: App) {
    this.#app = app;
    this.#known = new KnownRows(app.clock, mostKnown, () => warmingChanges.count(app.store.db));
  }

  /** Returns the domains in memory, or undefined if the store must be read. */
  get(organizationId: string): ReadonlySet<string> | undefined {
    return this.#known.isStale() ? undefined : this.#known.get(organizationId);
  }

  /** Returns the domains from memory or, inside a transaction, from the store. */
  async find(trx: Db, organizationId: string): Promise<ReadonlySet<string>> {
    const reader = committedIn(this.#app.store, trx);
    if (this.#known.isStale()) await this.#known.refresh(() => warmingChanges.count(reader));
    return (
      this.#known.get(organizationId) ??
      this.#known.load(
        organizationId,
        async () => new Set(await selectWarmedDomains(reader, organizationId)),
      )
    );
  }

  /** Drops the known domains. Call it after the commit of a change. */
  forget(): void {
    this.#known.forget();
  }
}

/** The warming domains that one process knows. */
export const warmedDomains = perApp((app: App) => new WarmedDomains(app));
