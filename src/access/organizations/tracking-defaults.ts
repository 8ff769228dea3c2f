// Tracking defaults of organizations, for sends without a setting of their own (`svc orgs update
// --track-opens`). Kept in memory, so that a send reads no store. Every process sees a change
// within a second.
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { findTrackingOrganizations, organizationChanges } from './queries.ts';

const staleMs = 1_000;

interface Defaults {
  opens: boolean;
  clicks: boolean;
}

const none: Defaults = { opens: false, clicks: false };

class KnownDefaults {
  readonly #app: App;
  #byOrganization = new Map<string, Defaults>();
  #changes = -1;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  constructor(app: App) {
    this.#app = app;
  }

  of(organizationId: string): Defaults | Promise<Defaults> {
    const known = () => this.#byOrganization.get(organizationId) ?? none;
    if (this.#app.clock.elapsed() - this.#readAt < staleMs) return known();
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading.then(known);
  }

  async #read(): Promise<void> {
    const { db } = this.#app.store;
    const at = this.#app.clock.elapsed();
    const changes = await organizationChanges.count(db);
    if (changes !== this.#changes) {
      const rows = await findTrackingOrganizations(db);
      this.#byOrganization = new Map(
        rows.map((row) => [
          row.id,
          { opens: row.track_opens === 1, clicks: row.track_clicks === 1 },
        ]),
      );
      this.#changes = changes;
    }
    this.#readAt = at;
  }
}

const defaultsOf = perApp((app: App) => new KnownDefaults(app));

/** Returns the tracking defaults of an organization; a promise if they must be read. */
export function trackingDefaults(app: App, organizationId: string): Defaults | Promise<Defaults> {
  return defaultsOf(app).of(organizationId);
}
