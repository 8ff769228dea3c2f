// Fair turns (start-time fair queuing): every delivery that may go now holds a turn, and claims go by
// turn. An organization's next message stands one round after its last one, so one tenant's million
// never stands before another's single message. Within an organization the sending domains share.
import type { App } from '../app.ts';
import { perApp } from '../runtime/per-app.ts';
import { recentlyUsed } from '../runtime/recently-used.ts';

const mostFlows = 100_000;
/** A domain that has queued nothing for so many rounds no longer counts as sharing. */
const forgottenAfterRounds = 1_000;
/** Turns are whole numbers: fractions of a round. */
const round = 1_000_000;

interface Flow {
  last: number;
}

/**
 * Gives turns to what one process accepts. Only the order matters, so that several processes need no
 * agreement: `firstTurn` is the earliest turn still waiting in the store, null for none. A transaction
 * that is run again takes turns again: those of its first run stay empty, which costs a few rounds.
 */
class Turns {
  readonly #flows = recentlyUsed<Flow>(mostFlows);
  readonly #domains = recentlyUsed<Map<string, number>>(mostFlows);
  #served = 0;

  /** The turn of the next delivery of this organization and sending domain. */
  next(organizationId: string, senderDomain: string, firstTurn: number | null): number {
    const present = Math.max(firstTurn ?? 0, firstTurn === null ? this.#served : 0);
    const key = `${organizationId} ${senderDomain}`;
    const flow = this.#flows.get(key) ?? { last: 0 };
    const share = this.#sharing(organizationId, senderDomain, present);
    flow.last = Math.max(present, flow.last) + round * share;
    this.#flows.set(key, flow);
    return flow.last;
  }

  /** A claim reached this turn: what comes while the queue is empty stands behind it. */
  served(turn: number): void {
    this.#served = Math.max(this.#served, turn);
  }

  /** How many sending domains of the organization have something queued, this one included. */
  #sharing(organizationId: string, senderDomain: string, present: number): number {
    const domains = this.#domains.get(organizationId) ?? new Map<string, number>();
    domains.set(
      senderDomain,
      this.#flows.get(`${organizationId} ${senderDomain}`)?.last ?? present,
    );
    for (const [domain, last] of domains) {
      if (domain !== senderDomain && last < present - forgottenAfterRounds * round) {
        domains.delete(domain);
      }
    }
    this.#domains.set(organizationId, domains);
    let active = 1;
    for (const [domain, last] of domains) if (domain !== senderDomain && last >= present) active++;
    return active;
  }
}

/** The turns of one process: what it accepts and what it makes ready again share them. */
export const turnsOf = perApp<App, Turns>(() => new Turns());
