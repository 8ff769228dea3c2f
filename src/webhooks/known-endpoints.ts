// Which kinds of events the endpoints of an organization want, as this process knows it: each event
// asks, so most are answered from memory. A change by any process is seen within a second
// (src/store/changes.ts), one by this process at once.
import type { App } from '../app.ts';
import { perApp } from '../runtime/per-app.ts';
import { KnownRows } from '../store/changes.ts';
import { type Db, fromJson } from '../store/db.ts';
import { hasGathered, type LastWrite, lastly } from '../store/last-writes.ts';
import { matcherOf } from './patterns.ts';
import { addEndpointChange, countEndpointChanges, findActiveEndpoints } from './queries.ts';

const mostKnown = 10_000;
const changeName = 'webhook_changes';

/** An active endpoint. */
export interface KnownEndpoint {
  id: string;
  isWanted(type: string): boolean;
}

class EndpointChange implements LastWrite {
  write(trx: Db): Promise<void> {
    return addEndpointChange(trx);
  }
}

/**
 * Counts a change of endpoints at the end of its transaction. To be called before the transaction
 * records an event: what it reads of endpoints from then on is not kept, as it may never be committed.
 */
export function noteEndpointChange(trx: Db): void {
  lastly(trx, changeName, () => new EndpointChange());
}

class KnownEndpoints {
  readonly #app: App;
  readonly #known: KnownRows<readonly KnownEndpoint[]>;

  constructor(app: App) {
    this.#app = app;
    const countChanges = () => countEndpointChanges(app.store.db);
    this.#known = new KnownRows(app.clock, mostKnown, countChanges);
  }

  /** From memory: false only where there is known to be none. */
  mayHave(organizationId: string): boolean {
    if (this.#known.isStale()) return true;
    return this.#known.peek(organizationId)?.length !== 0;
  }

  /** The active ones, asked within a transaction. */
  async find(trx: Db, organizationId: string): Promise<readonly KnownEndpoint[]> {
    const db = this.#readingFrom(trx);
    if (hasGathered(trx, changeName)) return readEndpoints(trx, organizationId);
    if (this.#known.isStale()) await this.#known.refresh(() => countEndpointChanges(db));
    return (
      this.#known.get(organizationId) ??
      this.#known.load(organizationId, () => readEndpoints(db, organizationId))
    );
  }

  /** To be called after the commit of a change. */
  forget(): void {
    this.#known.forget();
  }

  /**
   * What is committed. On PostgreSQL the transaction itself reads it: were each to wait for a second
   * connection, as many as the pool has would wait for one another. On SQLite a transaction is shared
   * with others, which may change endpoints and fail.
   */
  #readingFrom(trx: Db): Db {
    const { kind, db } = this.#app.store;
    return kind === 'postgres' ? trx : db;
  }
}

async function readEndpoints(db: Db, organizationId: string): Promise<KnownEndpoint[]> {
  const rows = await findActiveEndpoints(db, organizationId);
  return rows.map(({ id, events }) => ({ id, isWanted: matcherOf(fromJson<string[]>(events)) }));
}

/** The endpoints that one process knows. */
export const knownEndpoints = perApp((app: App) => new KnownEndpoints(app));
