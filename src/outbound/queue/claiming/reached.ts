// Frees mail that waits only because a server could not be reached, once that server accepts mail
// again. Lanes keep their limits, so the mail is sent at their pace.
//
//   event                                        | then
//   ---------------------------------------------+------------------------------------------------
//   a lane accepts mail, for the first time or   | a walk over unreached mail, for all such lanes
//   after a failed connection                    |
//   a walk has a full batch                      | the next batch, after a claim
//   a lane accepts mail within 10 s of a walk    | the next walk, 10 s after that walk began
import type { App } from '../../../core/app.ts';
import type { Db } from '../../../platform/store/db.ts';
import { lockDeliveries } from '../../deliveries/queries.ts';
import { findUnreached, type UnreachedRow } from '../../deliveries/unreached-queries.ts';
import { findFromAddresses } from '../../messages/queries.ts';
import { giveTurnsNow } from '../desk/queue-walk.ts';
import type { LaneChoice } from './claim.ts';

/** Most deliveries per transaction: a longer write transaction would delay sends. */
const batch = 200;
const betweenWalksMs = 10_000;
/** Least time since the last attempt before a delivery is freed: an unsteady server gets a rest. */
const restMs = 60_000;

/**
 * Tells whether a delivery may have a further attempt before the planned time. A server that is
 * often unreachable gets at most twice the attempts of the schedule.
 */
function mayGoEarly({ attempt_count: made, early_attempts: early }: UnreachedRow): boolean {
  return early * 2 < made;
}

interface Walk {
  lanes: ReadonlySet<string>;
  after: string;
}

/** Frees unreached mail for the queue of a daemon. */
export class ReachedMail {
  readonly #app: App;
  readonly #choice: LaneChoice;
  #walk: Walk | null = null;
  #begunAt = Number.NEGATIVE_INFINITY;

  constructor(app: App, choice: LaneChoice) {
    this.#app = app;
    this.#choice = choice;
  }

  /**
   * Frees the next batch of the walk. Begins a walk if a lane was reached and the pause is over.
   * Returns whether the walk has more.
   */
  async free(): Promise<boolean> {
    this.#walk ??= this.#begin();
    if (this.#walk === null) return false;
    const { lanes, after } = this.#walk;
    const rows = await this.#batchAfter(this.#app.store.db, after);
    const last = rows.at(-1);
    if (last) await this.#app.store.write((trx) => this.#freeBatch(trx, rows, { lanes, after }));
    this.#walk = last && rows.length === batch ? { lanes, after: last.id } : null;
    return this.#walk !== null;
  }

  /** Returns when the next walk may begin, in ms since 1970; infinity if no lane was reached. */
  nextAt(): number {
    if (!this.#choice.lanes.hasReached()) return Number.POSITIVE_INFINITY;
    return this.#app.clock.now() + Math.max(0, this.#restOfPauseMs());
  }

  #restOfPauseMs(): number {
    return this.#begunAt + betweenWalksMs - this.#app.clock.elapsed();
  }

  #begin(): Walk | null {
    const { lanes } = this.#choice;
    if (!lanes.hasReached() || this.#restOfPauseMs() > 0) return null;
    this.#begunAt = this.#app.clock.elapsed();
    return { lanes: lanes.takeReached(), after: '' };
  }

  #batchAfter(db: Db, after: string): Promise<UnreachedRow[]> {
    return findUnreached(db, { after, before: this.#app.clock.now() - restMs, limit: batch });
  }

  async #freeBatch(trx: Db, seen: readonly UnreachedRow[], { lanes, after }: Walk): Promise<void> {
    const { laneOf, needsAddress } = this.#choice;
    await lockDeliveries(
      trx,
      seen.map(({ id }) => id),
    );
    // Reads the rows again under the lock, so that a new hold stays in force.
    const rows = (await this.#batchAfter(trx, after)).filter(mayGoEarly);
    const messageIds = rows.map((row) => row.message_id);
    const from = needsAddress ? await findFromAddresses(trx, messageIds) : null;
    const due = rows.filter((row) => {
      const { organization_id: organizationId, message_id, sender_domain } = row;
      const email = from?.get(message_id) ?? `@${sender_domain}`;
      const lane = laneOf(row.email, { organizationId, email });
      return lane !== null && lanes.has(lane);
    });
    await giveTurnsNow(this.#app, trx, due);
  }
}
