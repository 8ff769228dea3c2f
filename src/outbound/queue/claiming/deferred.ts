// Frees mail that waits for the warming of the sending domain (src/identity/warming/deferral.ts).
// Frees as much as the open window has places, or all of it once no live plan defers it.
//
//   the queue sees                       | then
//   -------------------------------------+--------------------------------------------
//   a change of any plan or window       | frees a batch of each lane
//   a full batch freed                   | frees the next, after a claim
//   plans that defer, for a minute       | looks again: a place may be left by mail that ended unsent
import type { App } from '../../../core/app.ts';
import { placesOf } from '../../../identity/warming/deferral.ts';
import { type DeferringPlans, warmedDomains } from '../../../identity/warming/warmed-domains.ts';
import type { Db } from '../../../platform/store/db.ts';
import { findInLane, selectLanesOf } from '../../deliveries/claim-queries.ts';
import { giveTurnsNow } from '../desk/queue-walk.ts';
import { domainOfWarming } from './stops.ts';

const lookAgainMs = 60_000;
/** Most deliveries of a lane per transaction: a longer write transaction would delay sends. */
const batch = 200;

/** Frees deferred mail for the queue of a daemon. */
export class DeferredMail {
  readonly #app: App;
  #seen: DeferringPlans | null = null;
  #lookedAt = 0;
  #hasMore = false;

  constructor(app: App) {
    this.#app = app;
  }

  /**
   * Frees a batch of each lane if the plans changed, if the last batch was full, or once a minute
   * while plans defer mail. Returns whether more mail may wait.
   */
  async free(): Promise<boolean> {
    const plans = await warmedDomains(this.#app).deferringNow();
    const now = this.#app.clock.now();
    const isLate = plans.size > 0 && Math.abs(now - this.#lookedAt) >= lookAgainMs;
    if (plans === this.#seen && !isLate && !this.#hasMore) return false;
    this.#hasMore = await freeBatches(this.#app);
    this.#seen = plans;
    this.#lookedAt = now;
    return this.#hasMore;
  }
}

async function freeBatches(app: App): Promise<boolean> {
  let hasMore = false;
  for (const lane of await selectLanesOf(app.store.db, 'warming')) {
    const freed = await app.store.write((trx) => freeBatch(app, trx, lane));
    hasMore ||= freed === batch;
  }
  return hasMore;
}

async function freeBatch(app: App, trx: Db, lane: string): Promise<number> {
  const waitsFor = domainOfWarming(lane);
  if (waitsFor === null) return 0;
  const { organizationId, domain } = waitsFor;
  const places = await placesOf(app, trx, organizationId, domain);
  if (places === 0) return 0;
  const rows = await findInLane(trx, lane, Math.min(places, batch));
  return (await giveTurnsNow(app, trx, rows)).length;
}
