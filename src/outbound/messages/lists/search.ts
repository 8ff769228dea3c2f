// Fills the table that message searches read (term-queries.ts). It runs after the commit of the
// messages, so that a send pays nothing. Ids are in the order of time, so new messages come after a
// mark. Messages of a transaction that commits late have ids before the mark, so three passes look
// for missing messages:
//
//   when                                          | finds
//   ----------------------------------------------+-----------------------------------------------------
//   a quarter of a second after a commit          | messages after the mark `newest`
//   with it, and once a minute                    | late messages younger than five seconds
//   ten minutes later, after the mark `settled`   | the rest: no transaction takes that long; and all
//                                                 | messages older than the table
//
// It yields to foreground work: it stops during a burst (for ten seconds at most) and slows down
// beside deliveries. On PostgreSQL the daemon that holds the marks fills, and the remaining daemons
// try again a second later. Once an organization changes the keys of metadata that it searches by,
// the messages that are there are indexed first (metadata.ts). Messages that commands accepted are
// first seen here, and counted for the metrics.
import type { App } from '../../../core/app.ts';
import { firstIdAt } from '../../../platform/runtime/ids.ts';
import { createDueLoop, type Pause } from '../../../platform/store/changes/due-loop.ts';
import { togetherOrAlone } from '../../../platform/store/rows/each-alone.ts';
import { indexNext } from './metadata.ts';
import {
  type BriefWay,
  countByCommands,
  type Examined,
  examine,
  findMarks,
  holdMarks,
  insertTerms,
  type SearchMarks,
  setMarks,
} from './term-queries.ts';

/** Most messages in a transaction: about 3 ms of SQLite's single connection. */
const batch = 200;
/** Pause between batches while deliveries are in flight. */
const besideWorkMs = 200;
/** Delay after a commit: later commits join the batch, and the sender gets the answer first. */
const gatherMs = 250;
const lateMs = 5_000;
const settledMs = 600_000;
const lookAgainMs = 60_000;
const othersPauseMs = 1_000;
/** Longest wait for a burst to end. */
const patienceMs = 10_000;

/** Load to which the filler yields. */
export interface Surroundings {
  /** Tells whether a burst of sends or mails is arriving. */
  isPressing(): boolean;
  /** Tells whether deliveries are in flight. */
  isWorking(): boolean;
}

export interface SearchFiller {
  start(): void;
  stop(): Promise<void>;
  /** Adds all messages that the search table lacks, and returns their number. For tests. */
  fill(): Promise<number>;
}

/** Result of a batch; `others` if a different daemon fills the table now. */
type Filled = { filled: number; isMore: boolean } | 'others';

/** Creates the loop of a daemon that fills the table for searches of messages. */
export function createSearchFiller(app: App, surroundings: Surroundings): SearchFiller {
  const walk = new Walk(app);
  const pace = new Pace(app, surroundings);

  const step = async (): Promise<number | Pause> => {
    const pauseMs = pace.pauseMs();
    if (pauseMs > 0) return { pauseMs };
    const filled = await walk.next();
    pace.looked(filled);
    if (filled === 'others') return { pauseMs: othersPauseMs };
    if (filled.isMore) return surroundings.isWorking() ? { pauseMs: besideWorkMs } : 0;
    return { pauseMs: lookAgainMs };
  };

  const trouble = 'messages cannot be added to the search now: trying again';
  const loop = createDueLoop(app, { name: 'message search', step, trouble, isTimed: false });
  return {
    start: () => loop.start(),
    stop: () => loop.stop(),
    async fill() {
      let total = 0;
      for (;;) {
        const filled = await walk.next();
        if (filled === 'others') return total;
        total += filled.filled;
        if (!filled.isMore) return total;
      }
    },
  };
}

/** Decides when to run. Called after each commit, so it must cost next to nothing. */
class Pace {
  readonly #app: App;
  readonly #surroundings: Surroundings;
  /** Time of the next run by `elapsed`. Null until a commit wakes the filler. */
  #lookAt: number | null = null;
  /** Time by `elapsed` at which the current wait for the end of a burst began. */
  #waitsSince = 0;
  #isBehind = true;

  constructor(app: App, surroundings: Surroundings) {
    this.#app = app;
    this.#surroundings = surroundings;
  }

  pauseMs(): number {
    const now = this.#app.clock.elapsed();
    if (this.#lookAt === null) {
      this.#waitsSince = now;
      this.#lookAt = now + (this.#isBehind ? 0 : gatherMs);
    }
    if (now < this.#lookAt) return this.#lookAt - now;
    if (!this.#surroundings.isPressing() || now - this.#waitsSince >= patienceMs) return 0;
    this.#lookAt = now + besideWorkMs;
    return besideWorkMs;
  }

  looked(filled: Filled): void {
    const now = this.#app.clock.elapsed();
    this.#isBehind = filled !== 'others' && filled.isMore;
    this.#lookAt = this.#isBehind && this.#surroundings.isWorking() ? now + besideWorkMs : null;
  }
}

/** Walks over the messages in the order of their ids. */
class Walk {
  readonly #app: App;
  /** Position among the newest messages. Null before a walk begins. */
  #at: string | null = null;

  constructor(app: App) {
    this.#app = app;
  }

  /** Fills one batch: the newest messages first, then settled messages. */
  async next(): Promise<Filled> {
    const { db } = this.#app.store;
    const isIndexing = await indexNext(this.#app);
    if (isIndexing === 'others') return 'others';
    if (isIndexing) return { filled: 0, isMore: true };
    const marks = await findMarks(db);
    const late = this.#floor(lateMs);
    this.#at ??= late < marks.newest ? late : marks.newest;
    const newest = await examine(db, { from: this.#at, limit: batch });
    const last = newest.at(-1)?.id;
    if (last !== undefined) {
      const filled = await this.#fill(newest, (held) => ({
        ...held,
        newest: max(held.newest, last),
      }));
      if (filled === null) return 'others';
      this.#at = last;
      if (newest.length === batch) return { filled, isMore: true };
      this.#at = null;
      return this.#settle(marks, filled);
    }
    this.#at = null;
    return this.#settle(marks, 0);
  }

  async #settle(marks: SearchMarks, filledBefore: number): Promise<Filled> {
    const to = this.#floor(settledMs);
    // After the clock was set back, new messages have ids before the mark.
    const from = marks.settled > to ? to : marks.settled;
    const settled = await examine(this.#app.store.db, { from, to, limit: batch });
    const isMore = settled.length === batch;
    const last = settled.at(-1)?.id;
    if (last === undefined && from === marks.settled) return { filled: filledBefore, isMore };
    const filled = await this.#fill(settled, (held) => ({ ...held, settled: last ?? from }), true);
    return filled === null ? 'others' : { filled: filledBefore + filled, isMore };
  }

  /**
   * Inserts the missing messages and moves the marks. If no message is missing, only `isMarked`
   * moves the marks. Returns null while a concurrent daemon fills the table.
   */
  async #fill(
    examined: readonly Examined[],
    moved: (held: SearchMarks) => SearchMarks,
    isMarked = false,
  ): Promise<number | null> {
    const missing = examined.flatMap(({ id, isIn }) => (isIn ? [] : id));
    if (missing.length === 0 && !isMarked) return 0;
    const { log } = this.#app;
    let isMoved = false;
    const insert = async (ids: readonly string[]) => {
      const isIn = await this.#insert(ids, ids === missing ? moved : (held) => held);
      isMoved ||= ids === missing;
      return isIn;
    };
    const results = await togetherOrAlone(missing, insert, (messageId, error) => {
      log.error({ err: error, messageId }, 'a message cannot be added to the search: left out');
    });
    // The mark moves even if a message cannot be inserted.
    if (!isMoved) results.push(await this.#insert([], moved));
    return results.includes(false) ? null : missing.length;
  }

  /**
   * Inserts messages and moves the marks. Returns false while a concurrent daemon fills the table.
   */
  async #insert(
    ids: readonly string[],
    moved: (held: SearchMarks) => SearchMarks,
  ): Promise<boolean> {
    const found = await this.#app.store.write(async (trx) => {
      const held = await holdMarks(trx);
      if (!held) return null;
      const byCommands = ids.length > 0 ? await countByCommands(trx, ids) : new Map();
      await insertTerms(trx, ids);
      await setMarks(trx, moved(held));
      return byCommands;
    }, 'quiet');
    if (found) this.#count(found);
    return found !== null;
  }

  /** Counts messages that commands accepted. Each message is inserted once, and so counted once. */
  #count(byCommands: ReadonlyMap<BriefWay, number>): void {
    for (const [via, count] of byCommands) {
      this.#app.metrics.accepted.inc({ direction: 'outbound', via }, count);
    }
  }

  #floor(agoMs: number): string {
    return firstIdAt('message', Math.max(0, this.#app.clock.now() - agoMs));
  }
}

function max(one: string, other: string): string {
  return one > other ? one : other;
}
