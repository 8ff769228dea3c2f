// Detects other daemons on this store. The lock of SQLite admits one daemon. On PostgreSQL each
// writes a heartbeat every second, off the path of requests. Only a daemon that is surely alone
// keeps the rate limits in memory; in doubt it assumes company.
//
//   state    event                                                  next
//   company  at the start, or the own heartbeat is 3 s late         draws go through the store
//   company  each peer has been silent for 10 s                     alone
//   alone    a heartbeat shows another daemon                       company; draws are shared
import type { App } from '../../core/app.ts';
import { portionsOf } from './portions.ts';
import { beat, type DaemonRow, deleteDaemons } from './queries.ts';
import { differingSettings, settingsOf } from './settings.ts';

const beatMs = 1_000;
/** Time without a heartbeat of our own after which daemons may have joined unseen. */
const trustMs = 3_000;
/** Silence after which a daemon counts as stopped, by our clock; longer than `trustMs`. */
const silentMs = 10_000;
/**
 * Silence after which the row of a daemon is removed. If the daemon comes back, it inserts a new
 * row.
 */
const forgottenMs = 60_000;

export interface Peers {
  /** Makes the first heartbeat. @throws CapacityError if the store cannot be written. */
  start(): Promise<void>;
  stop(): Promise<void>;
  hasCompany(): boolean;
}

const nobody: Peers = { start: async () => {}, stop: async () => {}, hasCompany: () => false };

class StorePeers implements Peers {
  readonly #app: App;
  readonly #onCompany: () => Promise<void>;
  readonly #id: string;
  /**
   * Peers by id: the last number of heartbeats, and the time when this number was first seen, by
   * the system's clock and by the steady clock.
   */
  readonly #others = new Map<string, { beats: number; sinceMs: number; sinceElapsed: number }>();
  /** Differing settings that the log has already named, by id of the daemon. */
  readonly #named = new Map<string, string>();
  #isAlone = false;
  #beatAtMs = Number.NEGATIVE_INFINITY;
  #cancelNext: (() => void) | null = null;
  #beating: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(app: App, onCompany: () => Promise<void>) {
    this.#app = app;
    this.#onCompany = onCompany;
    this.#id = app.newId('worker');
  }

  async start(): Promise<void> {
    portionsOf(this.#app).begin();
    // If two daemons start together, at least one of them sees both by the second heartbeat.
    await this.#write();
    await this.#beat();
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelNext?.();
    await this.#beating;
    await this.#app.store
      .write((trx) => deleteDaemons(trx, [this.#id]), 'quiet')
      .catch((error: unknown) => {
        this.#app.log.warn(
          { err: error },
          'other daemons could not be notified of the end of this one',
        );
      });
  }

  hasCompany(): boolean {
    const ageMs = this.#app.clock.now() - this.#beatAtMs;
    return !this.#isAlone || ageMs < 0 || ageMs > trustMs;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#cancelNext = this.#app.clock.after(beatMs, () => {
      this.#beating = this.#beat()
        .catch((error: unknown) => {
          this.#app.log.warn({ err: error }, 'a heartbeat failed: rate limits use the store');
        })
        .then(() => this.#schedule());
    });
  }

  /** Writes a heartbeat. Returns all daemons of the store. */
  async #write(): Promise<DaemonRow[]> {
    const now = this.#app.clock.now();
    const state = {
      id: this.#id,
      root_keys: this.#app.secrets.keyIds.join(' '),
      settings: settingsOf(this.#app),
    };
    return this.#app.store.write(async (trx) => {
      const daemons = await beat(trx, state);
      await deleteDaemons(trx, this.#forgotten(now));
      return daemons;
    }, 'quiet');
  }

  async #beat(): Promise<void> {
    const { clock } = this.#app;
    const now = clock.now();
    const elapsed = clock.elapsed();
    const rows = await this.#write();
    this.#observe(rows, now, elapsed);
    const live = [...this.#others].flatMap(([id, { sinceElapsed }]) =>
      elapsed - sinceElapsed > silentMs ? [] : id,
    );
    const rank = live.filter((id) => id < this.#id).length;
    portionsOf(this.#app).see({ count: live.length + 1, rank }, elapsed);
    this.#nameSettings(rows);
    const wasAlone = this.#isAlone;
    this.#isAlone = [...this.#others.values()].every(({ sinceMs }) => now - sinceMs > silentMs);
    this.#beatAtMs = now;
    if (wasAlone && !this.#isAlone) await this.#onCompany();
  }

  #observe(rows: readonly DaemonRow[], now: number, elapsed: number): void {
    const there = new Set(rows.map(({ id }) => id));
    for (const id of this.#others.keys()) if (!there.has(id)) this.#others.delete(id);
    for (const { id, beats } of rows) {
      const isNews = id !== this.#id && this.#others.get(id)?.beats !== beats;
      if (isNews) this.#others.set(id, { beats, sinceMs: now, sinceElapsed: elapsed });
    }
  }

  /** Logs the settings in which live daemons differ from this daemon, once for each change. */
  #nameSettings(rows: readonly DaemonRow[]): void {
    const own = rows.find(({ id }) => id === this.#id);
    if (!own) return;
    for (const id of this.#named.keys()) if (!this.#others.has(id)) this.#named.delete(id);
    for (const row of rows) {
      if (!this.#others.has(row.id)) continue;
      const settings = differingSettings(own, row);
      const text = settings.join(', ');
      if ((this.#named.get(row.id) ?? '') === text) continue;
      this.#named.set(row.id, text);
      if (text === '') continue;
      this.#app.log.warn(
        { daemon: row.id, settings },
        `another daemon of this store has other values of ${text}: give all daemons the same configuration`,
      );
    }
  }

  #forgotten(now: number): string[] {
    return [...this.#others].flatMap(([id, { sinceMs }]) =>
      now - sinceMs > forgottenMs ? [id] : [],
    );
  }
}

/** Creates the peers of a daemon. Calls `onCompany` each time this daemon ceases to be alone. */
export function createPeers(app: App, onCompany: () => Promise<void>): Peers {
  return app.store.kind === 'sqlite' ? nobody : new StorePeers(app, onCompany);
}
