// Deletes messages older than `retention.messagesDays` as a whole, like a deletion by hand, and before that the
// content of those older than `retention.contentDays`. Usage keeps their counts. A message that has not ended (a
// scheduled one) stays whole until it ends. Ids are in the order of time, so the oldest messages come first, each in a
// transaction of its own. The run pauses after a few of them, and longer while the service has other work.
import type { App } from '../../core/app.ts';
import { sleep } from '../../platform/runtime/clock.ts';
import { firstIdAt } from '../../platform/runtime/ids.ts';
import type { Db } from '../../platform/store/db.ts';
import { hasContent, removeContent } from './content-removal.ts';
import { removeMessage } from './messages.ts';
import { findEnded } from './retention-queries.ts';
import type { Surroundings } from './search.ts';

const dayMs = 86_400_000;
/**
 * Time of one run of deletions. Half of the delay that other work may see, as the last message may
 * be large.
 */
const goMs = 25;
const mostPerGo = 50;
const mostPerLook = 500;
const restMs = 25;
const restBesideWorkMs = 200;

export interface Retention {
  /** Deletes the messages and contents that are too old now. Returns their number. */
  run(): Promise<number>;
  /** Ends the run after the current message. */
  stop(): void;
}

interface Found {
  ids: readonly string[];
  last: string | null;
}

/** A kind of deletion. */
interface Pass {
  /** Returns the next messages to handle, and the last id that was looked at; null at the end. */
  find(db: Db, range: { after: string; before: string }): Promise<Found>;
  remove(app: App, trx: Db, id: string): Promise<boolean>;
  /** Line of the log. */
  words: string;
}

const wholeMessages: Pass = {
  async find(db, range) {
    const rows = await findEnded(db, { ...range, limit: mostPerGo });
    return { ids: rows.map(({ id }) => id), last: rows.at(-1)?.id ?? null };
  },
  remove: removeMessage,
  words: 'old messages were deleted',
};

const contents: Pass = {
  // Most old messages have lost their content already: each look passes over a bounded number of them.
  async find(db, range) {
    const rows = await findEnded(db, { ...range, limit: mostPerLook });
    return { ids: rows.filter(hasContent).map(({ id }) => id), last: rows.at(-1)?.id ?? null };
  },
  remove: removeContent,
  words: 'the content of old messages was deleted',
};

/** Creates the retention of one daemon. */
export function createRetention(app: App, { isPressing, isWorking }: Surroundings): Retention {
  const { clock, store } = app;
  const stopping = new AbortController();

  /** Deletes for `goMs`. Returns the last id, or null if nothing is left. */
  const go = async ({ find, remove }: Pass, after: string, before: string) => {
    const { ids, last } = await find(store.db, { after, before });
    const startedAt = clock.elapsed();
    let removed = 0;
    for (const id of ids) {
      if (await store.write((trx) => remove(app, trx, id), 'quiet')) removed += 1;
      const isOver = clock.elapsed() - startedAt >= goMs || stopping.signal.aborted;
      if (isOver) return { removed, at: id };
    }
    return { removed, at: last };
  };

  const runPass = async (pass: Pass, days: number | null) => {
    if (days === null) return 0;
    const before = firstIdAt('message', Math.max(0, steadyNow(app) - days * dayMs));
    let total = 0;
    for (let at: string | null = ''; at !== null && !stopping.signal.aborted; ) {
      const done: { removed: number; at: string | null } = await go(pass, at, before);
      total += done.removed;
      at = done.at;
      const hasWork = isPressing() || isWorking();
      if (at !== null) await sleep(clock, hasWork ? restBesideWorkMs : restMs, stopping.signal);
    }
    if (total > 0) app.log.info({ messages: total, days }, pass.words);
    return total;
  };

  return {
    async run() {
      const { messagesDays, contentDays } = app.config.retention;
      const whole = await runPass(wholeMessages, messagesDays);
      return whole + (await runPass(contents, contentDays));
    },
    stop: () => stopping.abort(),
  };
}

/** Returns a time that ignores a clock set forward, so that messages do not age by it. */
function steadyNow({ clock, opened }: App): number {
  return Math.floor(Math.min(clock.now(), opened.at + clock.elapsed() - opened.elapsed));
}
