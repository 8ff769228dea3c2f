// The deliveries in flight: launched after a claim, settled as their attempts end, then released.
// Their leases are renewed while they are in this object; the lease of a lost delivery expires.
//
// state     | event                                | next
// ----------+--------------------------------------+------------------------------------------------
// claimed   | `launch`                             | attempted: holds a place, lane and share
// attempted | the destination has ended            | settled, with all attempts that ended then
// settled   | the store has the outcome            | released: the places are free
// settled   | the store cannot write now           | unsettled: settled again a second later
// any       | the attempt or the write failed      | released; claimed again after the lease
import type { App } from '../../../core/app.ts';
import { CapacityError } from '../../../platform/errors.ts';
import { sleep } from '../../../platform/runtime/clock.ts';
import { mailLogOf } from '../../../platform/runtime/mail-log.ts';
import { keepLease } from '../../../platform/store/changes/lease.ts';
import type { Db } from '../../../platform/store/db.ts';
import { groupWrites } from '../../../platform/store/group.ts';
import { renewLeases } from '../../deliveries/claim-queries.ts';
import type { ClaimedMessage } from '../claiming/claim.ts';
import { type Settlement, settleAll } from '../settling/settle.ts';
import type { AttemptMessage } from './attempter.ts';

const settleBatch = 128;
/** Length of a lease. A crash delays deliveries by at most this time. */
export const leaseMs = 60_000;
const troublePauseMs = 1_000;

export interface InFlightParts {
  /** Name of the daemon in the claims. */
  worker: string;
  attempt: AttemptMessage;
  /** Called when the place of a delivery becomes free. */
  onDown(deliveryId: string): void;
  /** Called after deliveries were released. */
  onRoom(): void;
}

/** The deliveries that a daemon has claimed and not yet settled. */
export class InFlight {
  readonly #app: App;
  readonly #parts: InFlightParts;
  readonly #running = new Set<Promise<void>>();
  readonly #ids = new Set<string>();
  readonly #givingUp = new AbortController();
  readonly #settleOnce: (settlement: Settlement) => Promise<void>;
  #unsettled = 0;
  #endLeases: () => void = () => {};

  constructor(app: App, parts: InFlightParts) {
    this.#app = app;
    this.#parts = parts;
    const settleThese = async (trx: Db, items: Settlement[]) => {
      await settleAll(app, trx, parts.worker, items);
      return items.map(() => undefined);
    };
    // `soon` is durable enough: after a power failure a lost settlement causes a second attempt (at
    // least once on the wire).
    this.#settleOnce = groupWrites(app.store, settleBatch, settleThese, 'soon');
  }

  get load(): number {
    return this.#ids.size;
  }

  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  /**
   * Tells whether outcomes wait for the store. Then no delivery may be claimed, as leases may
   * expire.
   */
  get isStuck(): boolean {
    return this.#unsettled > 0;
  }

  startRenewals(): void {
    const { store } = this.#app;
    this.#endLeases = keepLease(this.#app, {
      leaseMs,
      renew: async (until) => {
        if (this.load === 0) return;
        const { worker } = this.#parts;
        // Lists the ids now: a later claim has a lease that ends after `until`, and must keep it.
        const ids = [...this.#ids];
        await store.write((trx) => renewLeases(trx, worker, ids, until));
      },
      trouble: 'leases of deliveries were not renewed',
    });
  }

  /** Attempts claimed deliveries; never throws. */
  launch(claimed: ClaimedMessage): void {
    const ids = claimed.deliveries.map(({ id }) => id);
    for (const id of ids) this.#ids.add(id);
    this.#app.metrics.inFlight.set(this.load);
    const done = this.#parts
      .attempt(claimed, (settlements) => this.#settleEnded(settlements))
      .catch((error: unknown) => {
        // The lease runs out, and the mail is attempted again.
        const messageId = claimed.message.id;
        this.#app.log.error({ err: error, messageId }, 'the outcome of an attempt was not stored');
      })
      .finally(() => {
        this.#running.delete(done);
        this.#putDown(ids);
      });
    this.#running.add(done);
  }

  /**
   * Waits at most `graceMs` for deliveries in flight. Outcomes that the store cannot accept by then
   * are lost.
   */
  async end(graceMs: number): Promise<void> {
    await waitAtMost(this.#app, Promise.all(this.#running), graceMs);
    this.#givingUp.abort();
    this.#endLeases();
  }

  /** Settles deliveries that ended together, then frees their places. */
  async #settleEnded(settlements: Settlement[]): Promise<void> {
    try {
      await Promise.all(settlements.map((settlement) => this.#settle(settlement)));
      for (const { outcome, routeKind } of settlements) {
        this.#app.metrics.attempts.inc({ outcome: outcome.kind, route: routeKind });
      }
      logAttempts(this.#app, settlements);
    } finally {
      this.#putDown(settlements.map(({ delivery }) => delivery.id));
    }
  }

  /**
   * Settles a delivery. Retries while the store cannot write, as the outcome exists only here.
   */
  async #settle(settlement: Settlement): Promise<void> {
    const { clock, log } = this.#app;
    const { signal } = this.#givingUp;
    for (;;) {
      try {
        return await this.#settleOnce(settlement);
      } catch (error) {
        if (!(error instanceof CapacityError) || signal.aborted) throw error;
        if (!this.isStuck) log.warn({ err: error }, 'outcomes wait for the store');
      }
      this.#unsettled += 1;
      await sleep(clock, troublePauseMs, signal);
      this.#unsettled -= 1;
    }
  }

  /**
   * Frees the places of these deliveries, and wakes the queue, as deliveries may wait for a place.
   */
  #putDown(ids: readonly string[]): void {
    for (const id of ids) if (this.#ids.delete(id)) this.#parts.onDown(id);
    this.#app.metrics.inFlight.set(this.load);
    this.#parts.onRoom();
  }
}

async function waitAtMost(app: App, work: Promise<unknown>, ms: number): Promise<void> {
  if (ms <= 0) return;
  await new Promise<void>((resolve) => {
    const cancel = app.clock.after(ms, resolve);
    void work.finally(() => {
      cancel();
      resolve();
    });
  });
}

// The line of the mail log for an ended attempt: recipient, host, reply and duration. settle.ts
// writes the timeline.

/** Most characters of a reply in the log; the delivery stores the whole reply. */
const mostReplyCharacters = 200;

/**
 * Writes a line for each recipient. `queueMs` counts from acceptance or from the scheduled time.
 */
function logAttempts(app: App, settlements: readonly Settlement[]): void {
  const log = mailLogOf(app);
  if (!log) return;
  const now = app.clock.now();
  for (const { delivery, outcome, routeKind } of settlements) {
    const { kind, reply, trace } = outcome;
    log.info(
      {
        messageId: delivery.message_id,
        recipient: delivery.email,
        outcome: kind,
        route: routeKind,
        host: trace.host,
        code: reply.code,
        enhancedCode: reply.enhancedCode,
        attempt: delivery.attempt_count,
        durationMs: Math.round(trace.durationMs),
        queueMs: now - (delivery.queued_at ?? delivery.created_at),
        ...(kind !== 'sent' && {
          errorCode: outcome.errorCode,
          reply: reply.text.slice(0, mostReplyCharacters),
        }),
      },
      'attempt',
    );
  }
}
