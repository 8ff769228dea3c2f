// Runs reads that take longer in a larger store (searches, counts by a filter) outside of the event
// loop, with a deadline. Organizations share four connections for such reads.
//
// read     | event                                     | then
// ---------+-------------------------------------------+------------------------------------
// (none)   | its organization may take a free place    | runs
// (none)   | no place left                             | waits, 100 of an organization at most
// waits    | a place is released, and its              | runs
//          | organization holds the fewest             |
// waits    | 5 s                                       | refused (503)
// runs     | done                                      | answered
// runs     | 500 ms                                    | OverdueError; its end frees the place
import { CapacityError } from '../errors.ts';
import { systemClock } from '../runtime/clock.ts';
import { FairShare } from '../runtime/fairness/fair-share.ts';
import type { Db } from './db.ts';

const places = 4;
const mostWaiting = 400;
const patienceMs = 5_000;
/** Default deadline of a read, in ms. */
export const asideMs = 500;

/** Error of a read that did not end before the deadline. */
export class OverdueError extends Error {}

/** Returns the result of a read; null if the read is overdue. */
export async function unlessOverdue<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof OverdueError) return null;
    throw error;
  }
}

/** A connection for reads outside of the event loop. */
export interface AsidePlace {
  db: Db;
  /**
   * Releases the connection, or ends a read that still runs. Returns whether the connection can be
   * used again.
   */
  finish(isOverdue: boolean): Promise<boolean>;
  /** Closes the idle connection. */
  end(): Promise<void>;
}

interface Waiting {
  holder: string;
  start(): void;
}

const crowded = () =>
  new CapacityError('Too many searches are under way', 1, { reason: 'capacity-searches' });

export class AsideReads {
  readonly #open: () => Promise<AsidePlace>;
  readonly #mostMs: number;
  readonly #share = new FairShare(places);
  readonly #waitingShare = new FairShare(mostWaiting);
  readonly #idle: AsidePlace[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #waiting: Waiting[] = [];

  constructor(open: () => Promise<AsidePlace>, mostMs = asideMs) {
    this.#open = open;
    this.#mostMs = mostMs;
  }

  /**
   * Runs `read` for an organization.
   * @throws OverdueError at the deadline; CapacityError after 5 s without a free connection, or if
   * too many reads wait.
   */
  async run<T>(holder: string, read: (db: Db) => Promise<T>): Promise<T> {
    await this.#enter(holder);
    let place: AsidePlace;
    try {
      place = this.#idle.pop() ?? (await this.#open());
    } catch (error) {
      this.#leave(holder);
      throw error;
    }
    let isOverdue = false;
    const overdue = Promise.withResolvers<never>();
    const cancel = systemClock.after(this.#mostMs, () => {
      isOverdue = true;
      overdue.reject(new OverdueError());
    });
    try {
      return await Promise.race([read(place.db), overdue.promise]);
    } catch (error) {
      isOverdue ||= error instanceof OverdueError;
      throw error;
    } finally {
      cancel();
      // An overdue read occupies the connection until it ends.
      const finished = this.#finish(holder, place, isOverdue);
      this.#underWay.add(finished);
      void finished.then(() => this.#underWay.delete(finished));
    }
  }

  async #finish(holder: string, place: AsidePlace, isOverdue: boolean): Promise<void> {
    const isUsable = await place.finish(isOverdue).catch(() => false);
    if (isUsable) this.#idle.push(place);
    this.#leave(holder);
  }

  #enter(holder: string): Promise<void> {
    if (this.#share.mayHold(holder)) {
      this.#share.hold(holder);
      return Promise.resolve();
    }
    if (!this.#waitingShare.mayHold(holder)) return Promise.reject(crowded());
    this.#waitingShare.hold(holder);
    return new Promise((resolve, reject) => {
      const out = () => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        this.#waitingShare.letGo(holder);
      };
      const cancel = systemClock.after(patienceMs, () => {
        out();
        reject(crowded());
      });
      const waiting = {
        holder,
        start: () => {
          cancel();
          out();
          this.#share.hold(holder);
          resolve();
        },
      };
      this.#waiting.push(waiting);
    });
  }

  #leave(holder: string): void {
    this.#share.letGo(holder);
    // The organization with the fewest running reads comes first, so that no backlog delays a
    // different organization.
    const held = (one: Waiting) => this.#share.heldBy(one.holder);
    this.#waiting
      .filter((one) => this.#share.mayHold(one.holder))
      .toSorted((a, b) => held(a) - held(b))[0]
      ?.start();
  }

  async close(): Promise<void> {
    await Promise.all(this.#underWay);
    await Promise.all(this.#idle.splice(0).map((place) => place.end()));
  }
}
