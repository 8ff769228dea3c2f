// Deletes messages older than `retention.messagesDays` as a whole, like a deletion by hand. Usage
// keeps their counts. A message that has not ended (a scheduled one) stays until it ends. Ids are
// in the order of time, so the oldest messages are deleted first, each in a transaction of its own.
// The run pauses after a few of them, and longer while the service has other work.
import type { App } from '../../core/app.ts';
import { sleep } from '../../platform/runtime/clock.ts';
import { firstIdAt } from '../../platform/runtime/ids.ts';
import { removeMessage } from './messages.ts';
import { findEndedBetween } from './queries.ts';
import type { Surroundings } from './search.ts';

const dayMs = 86_400_000;
/**
 * Time of one run of deletions. Half of the delay that other work may see, as the last message may
 * be large.
 */
const goMs = 25;
const mostPerGo = 50;
const restMs = 25;
const restBesideWorkMs = 200;

export interface Retention {
  /** Deletes the messages that are too old now. Returns their number. */
  run(): Promise<number>;
  /** Ends the run after the current message. */
  stop(): void;
}

/** Creates the retention of one daemon. */
export function createRetention(app: App, { isPressing, isWorking }: Surroundings): Retention {
  const { clock, store } = app;
  const stopping = new AbortController();

  /** Deletes for `goMs`. Returns the last id, or null if nothing is left. */
  const go = async (after: string, before: string) => {
    const ids = await findEndedBetween(store.db, { after, before, limit: mostPerGo });
    const startedAt = clock.elapsed();
    let removed = 0;
    let at: string | null = null;
    for (const id of ids) {
      if (await store.write((trx) => removeMessage(app, trx, id), 'quiet')) removed += 1;
      at = id;
      if (clock.elapsed() - startedAt >= goMs || stopping.signal.aborted) break;
    }
    return { removed, at };
  };

  return {
    async run() {
      const days = app.config.retention.messagesDays;
      if (days === null) return 0;
      const before = firstIdAt('message', Math.max(0, steadyNow(app) - days * dayMs));
      let total = 0;
      for (let at: string | null = ''; at !== null && !stopping.signal.aborted; ) {
        const done: { removed: number; at: string | null } = await go(at, before);
        total += done.removed;
        at = done.at;
        const hasWork = isPressing() || isWorking();
        if (at !== null) await sleep(clock, hasWork ? restBesideWorkMs : restMs, stopping.signal);
      }
      if (total > 0) app.log.info({ messages: total, days }, 'old messages were deleted');
      return total;
    },
    stop: () => stopping.abort(),
  };
}

/** Returns a time that ignores a clock set forward, so that messages do not age by it. */
function steadyNow({ clock, opened }: App): number {
  return Math.floor(Math.min(clock.now(), opened.at + clock.elapsed() - opened.elapsed));
}
