// The tracking hosts that this process knows: asked for every link and every connection, so they are
// in memory. Who changes what is served counts it in the store (`hostChanges`); each process looks
// at that counter after commits, at most each half second, and at all of them each half minute.
import type { App } from '../../app.ts';
import { perApp } from '../../runtime/per-app.ts';
import { atMostEach } from '../../store/at-most-each.ts';
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

  /** Reads them where the counter has moved, or the last reading is old. One after the other. */
  refresh(): Promise<void> {
    const next = this.#reading.then(() => this.#read());
    // What failed is told to who asked; the next one reads again.
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

/** What this process knows of a host that is not disabled; `hostname` in lower case. */
export function servedHost(app: App, hostname: string): ServedHostRow | undefined {
  return knownHosts(app).served(hostname);
}

/**
 * The host that links in mail of a domain begin with, with its port where that is not 443; null where
 * none has a certificate now, and in a process that does not watch them.
 */
export function activeHostOf(app: App, domainId: string): string | null {
  const row = knownHosts(app).ofDomain(domainId);
  if (row?.status !== 'active') return null;
  const expiresAt = row.certificate_expires_at;
  if (expiresAt === null || expiresAt <= app.clock.now()) return null;
  const { publicPort } = app.config.tracking.https;
  return publicPort === 443 ? row.hostname : `${row.hostname}:${publicPort}`;
}

/** Reads what has changed, now. */
export function refreshActiveHosts(app: App): Promise<void> {
  return knownHosts(app).refresh();
}

/** Keeps them known from now on; the returned function ends that. @throws where they cannot be read. */
export async function watchActiveHosts(app: App): Promise<() => void> {
  await refreshActiveHosts(app);
  let isStopped = false;
  let cancel = () => {};
  const look = () => {
    if (isStopped) return;
    refreshActiveHosts(app).catch((error: unknown) => {
      app.log.error({ err: error }, 'the tracking hosts cannot be read: what was known holds');
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
