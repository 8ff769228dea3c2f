// Cache of the kinds of events that the endpoints of an organization want. Each new event is
// checked against it. A change by a different process is seen within a second
// (src/platform/store/changes/changes.ts), a change by this process at once.
import type { PermissionMap } from '../../core/api/permission.ts';
import type { App } from '../../core/app.ts';
import { matcherOf } from '../../history/events/patterns.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { committedIn, KnownRows } from '../../platform/store/changes/changes.ts';
import { type Db, fromJson } from '../../platform/store/db.ts';
import { endpointChanges, findActiveEndpoints } from './queries.ts';

const mostKnown = 10_000;

/** Mailboxes that an installation receives events of. */
export interface EndpointReach {
  mailboxIds?: readonly string[];
  namespaceId?: string;
}

/** Limits of the endpoint of an installation. */
export interface EndpointLimits {
  /** Mailboxes that limit the events; null for all events. */
  reach: EndpointReach | null;
  /** Permissions that decide which data the posted bodies show (shown-data.ts). */
  permissions: PermissionMap;
}

/** An active endpoint. */
export interface KnownEndpoint {
  id: string;
  isWanted(type: string): boolean;
  /** Null for an endpoint that belongs to no installation. */
  limits: EndpointLimits | null;
}

/** The active endpoints of an organization. */
export class EndpointsOf {
  readonly #byId: ReadonlyMap<string, KnownEndpoint>;
  /** Endpoints by kind, so that an event does not search up to 10,000 endpoints. */
  readonly #byType = new Map<string, readonly KnownEndpoint[]>();

  constructor(endpoints: readonly KnownEndpoint[]) {
    this.#byId = new Map(endpoints.map((one) => [one.id, one]));
  }

  get count(): number {
    return this.#byId.size;
  }

  /** Returns the active endpoint with this id, or undefined. */
  find(id: string): KnownEndpoint | undefined {
    return this.#byId.get(id);
  }

  /**
   * Returns the endpoints that want events of a kind. The number of kinds is bounded (names.ts).
   */
  wanting(type: string): readonly KnownEndpoint[] {
    let found = this.#byType.get(type);
    if (!found) {
      found = [...this.#byId.values()].filter((one) => one.isWanted(type));
      this.#byType.set(type, found);
    }
    return found;
  }
}

class KnownEndpoints {
  readonly #app: App;
  readonly #known: KnownRows<EndpointsOf>;

  constructor(app: App) {
    this.#app = app;
    const countChanges = () => endpointChanges.count(app.store.db);
    this.#known = new KnownRows(app.clock, mostKnown, countChanges);
  }

  /** Tells from memory whether the organization may have active endpoints. False is certain. */
  mayHave(organizationId: string): boolean {
    if (this.#known.isStale()) return true;
    return this.#known.peek(organizationId)?.count !== 0;
  }

  /**
   * Returns the active endpoints, from the cache if it is current. For a transaction that has
   * changed endpoints, reads them from the store.
   */
  async find(trx: Db, organizationId: string): Promise<EndpointsOf> {
    const db = committedIn(this.#app.store, trx);
    if (endpointChanges.isNoted(trx)) return readEndpoints(trx, organizationId);
    if (this.#known.isStale()) await this.#known.refresh(() => endpointChanges.count(db));
    return (
      this.#known.get(organizationId) ??
      this.#known.load(organizationId, () => readEndpoints(db, organizationId))
    );
  }

  /** Clears the memory. Call it after the commit of a change. */
  forget(): void {
    this.#known.forget();
  }
}

async function readEndpoints(db: Db, organizationId: string): Promise<EndpointsOf> {
  const rows = await findActiveEndpoints(db, organizationId);
  return new EndpointsOf(
    rows.map(({ id, events, installation_id, reach, permissions }) => ({
      id,
      isWanted: matcherOf(fromJson<string[]>(events)),
      limits:
        installation_id === null
          ? null
          : {
              reach: fromJson<EndpointReach>(reach),
              permissions: fromJson<PermissionMap>(permissions) ?? {},
            },
    })),
  );
}

/** The cache of endpoints in this process. */
export const knownEndpoints = perApp((app: App) => new KnownEndpoints(app));
