// Deletes messages that are older than `retention.messagesDays`, whole, as by hand; what was counted of
// them stays counted in usage. What has not ended yet (a scheduled message) stays until it has. Ids are in
// the order of time, so the oldest come first. Each message is a transaction of its own; after a few of
// them it rests, and it rests longer while the service has other work.
import type { App } from '../app.ts';
import { sleep } from '../runtime/clock.ts';
import { firstIdAt } from '../runtime/ids.ts';
import { removeMessage } from './messages.ts';
import { findEndedBetween } from './queries.ts';
import type { Surroundings } from './search.ts';

const dayMs = 86_400_000;
/** One go: half of what may hold up others, as the last message of it may be large. */
const goMs = 25;
const mostPerGo = 50;
const restMs = 25;
const restBesideWorkMs = 200;

export interface Retention {
  /** Deletes what is too old by now; returns how many messages that were. */
  run(): Promise<number>;
  /** Ends the run that is under way, after the message it is at. */
  stop(): void;
}

/** The retention of one daemon. */
export function createRetention(app: App, { isPressing, isWorking }: Surroundings): Retention {
  const { clock, store } = app;
  const stopping = new AbortController();

  /** Deletes for a while; returns where it got, or null where nothing is left. */
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
      if (total > 0) app.log.info({ messages: total, days }, 'messages were deleted for their age');
      return total;
    },
    stop: () => stopping.abort(),
  };
}

/** A clock that is set forward makes no message older. */
function steadyNow({ clock, opened }: App): number {
  return Math.floor(Math.min(clock.now(), opened.at + clock.elapsed() - opened.elapsed));
}
