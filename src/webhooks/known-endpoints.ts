// Which kinds of events the endpoints of an organization want, as this process knows it: each event
// asks, so most are answered from memory. A change by any process is seen within a second
// (src/platform/store/changes.ts), one by this process at once.
import type { App } from '../core/app.ts';
import { perApp } from '../platform/runtime/per-app.ts';
import { committedIn, KnownRows } from '../platform/store/changes.ts';
import { type Db, fromJson } from '../platform/store/db.ts';
import { matcherOf } from './patterns.ts';
import { endpointChanges, findActiveEndpoints } from './queries.ts';

const mostKnown = 10_000;

/** An active endpoint. */
export interface KnownEndpoint {
  id: string;
  isWanted(type: string): boolean;
}

class KnownEndpoints {
  readonly #app: App;
  readonly #known: KnownRows<readonly KnownEndpoint[]>;

  constructor(app: App) {
    this.#app = app;
    const countChanges = () => endpointChanges.count(app.store.db);
    this.#known = new KnownRows(app.clock, mostKnown, countChanges);
  }

  /** Whether the organization may have endpoints, from memory; false only if it surely has none. */
  mayHave(organizationId: string): boolean {
    if (this.#known.isStale()) return true;
    return this.#known.peek(organizationId)?.length !== 0;
  }

  /** Returns the active endpoints, within a transaction. */
  async find(trx: Db, organizationId: string): Promise<readonly KnownEndpoint[]> {
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

async function readEndpoints(db: Db, organizationId: string): Promise<KnownEndpoint[]> {
  const rows = await findActiveEndpoints(db, organizationId);
  return rows.map(({ id, events }) => ({ id, isWanted: matcherOf(fromJson<string[]>(events)) }));
}

/** The endpoints that one process knows. */
export const knownEndpoints = perApp((app: App) => new KnownEndpoints(app));
