// Cache of the tracking hosts in this process, because every link and every connection looks up a
// host. Each change of a served host increments a counter in the store (`hostChanges`). Each
// process compares that counter after commits, at most every half second, and reads all hosts again
// every half minute.
import type { App } from '../../../core/app.ts';
import { perApp } from '../../../platform/runtime/per-app.ts';
import { atMostEach } from '../../../platform/store/rows/at-most-each.ts';
import { hostChanges, type ServedHostRow, selectServedHosts } from './queries.ts';

const lookEachMs = 500;
const rereadMs = 30_000;

class KnownHosts {
  readonly #app: App;
  #byName = new Map<string, ServedHostRow>();
  #byDomain = new Map<string, ServedHostRow>();
  #seenChanges = -1;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> = Promise.resolve();

  constructor(app: App) {
    this.#app = app;
  }

  served(hostname: string): ServedHostRow | undefined {
    return this.#byName.get(hostname);
  }

  ofDomain(domainId: string): ServedHostRow | undefined {
    return this.#byDomain.get(domainId);
  }

  /**
   * Rereads the hosts if the counter moved or the last read is old. Reads run in sequence.
   */
  refresh(): Promise<void> {
    const next = this.#reading.then(() => this.#read());
    // Only the present caller gets the error; the next caller reads again.
    this.#reading = next.catch(() => {});
    return next;
  }

  async #read(): Promise<void> {
    const { store, clock } = this.#app;
    const counter = await hostChanges.count(store.db);
    const ageMs = clock.elapsed() - this.#readAt;
    if (counter === this.#seenChanges && ageMs < rereadMs) return;
    const rows = await selectServedHosts(store.db);
    this.#byName = new Map(rows.map((row) => [row.hostname, row]));
    this.#byDomain = new Map(rows.map((row) => [row.domain_id, row]));
    this.#seenChanges = counter;
    this.#readAt = clock.elapsed();
  }
}

const knownHosts = perApp((app: App) => new KnownHosts(app));

/** Returns the cached row of a host that is not disabled. `hostname` must be in lower case. */
export function servedHost(app: App, hostname: string): ServedHostRow | undefined {
  return knownHosts(app).served(hostname);
}

/**
 * Returns the host for links in mail of a domain, with the port unless that is 443. Null without a
 * host that has a valid certificate, and in a process that has not read the hosts.
 */
export function activeHostOf(app: App, domainId: string): string | null {
  const row = knownHosts(app).ofDomain(domainId);
  if (row?.status !== 'active') return null;
  const expiresAt = row.certificate_expires_at;
  if (expiresAt === null || expiresAt <= app.clock.now()) return null;
  const { publicPort } = app.config.tracking.https;
  return publicPort === 443 ? row.hostname : `${row.hostname}:${publicPort}`;
}

/** Reads the hosts now if the cache is out of date. */
export function refreshActiveHosts(app: App): Promise<void> {
  return knownHosts(app).refresh();
}

/**
 * Reads the hosts, then keeps the cache current. Returns a function that ends the updates. Rejects
 * if the first read fails.
 */
export async function watchActiveHosts(app: App): Promise<() => void> {
  await refreshActiveHosts(app);
  let isStopped = false;
  let cancel = () => {};
  const look = () => {
    if (isStopped) return;
    refreshActiveHosts(app).catch((error: unknown) => {
      app.log.error(
        { err: error },
        'the tracking hosts cannot be read: the last known ones are used',
      );
    });
  };
  const rest = () => {
    look();
    cancel = app.clock.after(rereadMs, rest);
  };
  cancel = app.clock.after(rereadMs, rest);
  const unsubscribe = app.store.onChange(atMostEach(app.clock, lookEachMs, look));
  return () => {
    isStopped = true;
    cancel();
    unsubscribe();
  };
}
