// Logs a warning about relays that could not be reached for hours, and a line when they are back.
import type { App } from '../../../core/app.ts';
import { isoTime } from '../../../platform/runtime/clock.ts';
import { unreachedRelays } from '../desk/unreached-relays.ts';

const everyMs = 60_000;
const warnAgainMs = 3 * 3_600_000;

/** Watches the relays of a daemon. */
export class RelayWatch {
  readonly #app: App;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Time of the last warning about a relay, by `clock.elapsed()`. */
  readonly #warnedAt = new Map<string, number>();

  constructor(app: App) {
    this.#app = app;
  }

  /** Checks the relays, at most once a minute. */
  async look(): Promise<void> {
    const { clock, log } = this.#app;
    const elapsed = clock.elapsed();
    if (elapsed - this.#lookedAt < everyMs) return;
    this.#lookedAt = elapsed;
    const found = await unreachedRelays(this.#app);
    for (const { relay, since } of found) {
      if (elapsed - (this.#warnedAt.get(relay) ?? -Infinity) < warnAgainMs) continue;
      this.#warnedAt.set(relay, elapsed);
      const hours = Math.floor((clock.now() - since) / 3_600_000);
      const facts = { relay, since: isoTime(since), hours };
      log.warn(facts, `the smarthost ${relay} has not been reached for ${hours} h: mail waits`);
    }
    for (const relay of this.#warnedAt.keys()) {
      if (found.some((one) => one.relay === relay)) continue;
      this.#warnedAt.delete(relay);
      log.info({ relay }, `the smarthost ${relay} is reached again`);
    }
  }
}
