// Memory of the domains with a live plan, by organization, which every send needs; and of the plans
// that defer direct sends, which every claim needs. A change by another process is seen within a
// second (src/platform/store/changes/changes.ts), a change by this process at once.
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { committedIn, KnownRows } from '../../platform/store/changes/changes.ts';
import type { Db } from '../../platform/store/db.ts';
import { selectDeferringPlans, selectWarmedDomains, warmingChanges } from './queries.ts';

/** Most organizations in memory. */
const mostKnown = 10_000;

/** Returns the key of a sending domain in `DeferringPlans`. */
export function deferringKey(organizationId: string, domain: string): string {
  return `${organizationId} ${domain}`;
}

/** Ids of the live plans that defer direct sends, by `deferringKey`. */
export type DeferringPlans = ReadonlyMap<string, string>;

class WarmedDomains {
  readonly #app: App;
  readonly #known: KnownRows<ReadonlySet<string>>;
  /** A single entry with all plans that defer. */
  readonly #deferring: KnownRows<DeferringPlans>;

  constructor(app: App) {
    this.#app = app;
    const countChanges = () => warmingChanges.count(app.store.db);
    this.#known = new KnownRows(app.clock, mostKnown, countChanges);
    this.#deferring = new KnownRows(app.clock, 1, countChanges);
  }

  /** Returns the ids of the domains from memory; undefined if the store must be read. */
  get(organizationId: string): ReadonlySet<string> | undefined {
    return this.#known.isStale() ? undefined : this.#known.get(organizationId);
  }

  /** Returns the ids of the domains from memory, or else from the committed state of the store. */
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

  /**
   * Returns the plans that defer, of all organizations; a new object after each change of a plan.
   * Reads the store, or inside a transaction the committed state, if memory is stale.
   */
  async deferring(db: Db = this.#app.store.db): Promise<DeferringPlans> {
    const reader = committedIn(this.#app.store, db);
    const known = this.#deferring;
    if (known.isStale()) await known.refresh(() => warmingChanges.count(reader));
    return (
      known.get('') ??
      known.load('', async () => {
        const plans = await selectDeferringPlans(reader);
        return new Map(
          plans.map(({ id, organization_id, domain }) => [
            deferringKey(organization_id, domain),
            id,
          ]),
        );
      })
    );
  }

  /**
   * Returns the plans that defer as of now. With such plans in memory it first reads the counter of
   * changes: the queue sleeps after this call, and must not miss a change of the last half second.
   */
  async deferringNow(): Promise<DeferringPlans> {
    const known = await this.deferring();
    if (known.size === 0) return known;
    await this.#deferring.refresh();
    return this.deferring();
  }

  /** Drops the known domains and plans. Call it after the commit of a change. */
  forget(): void {
    this.#deferring.forget();
    this.#known.forget();
  }
}

/** The memory of warming domains in this process. */
export const warmedDomains = perApp((app: App) => new WarmedDomains(app));
