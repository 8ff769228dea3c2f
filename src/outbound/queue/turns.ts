// Fair turns (start-time fair queuing): every ready delivery has a turn, and claims follow the
// turns. An organization's next message comes one round after its last one, so a million messages
// of one organization never precede a single message of another. Within an organization the sending
// domains share its rounds.
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';

const mostFlows = 100_000;
/** Number of rounds after which a domain without queued mail no longer counts as sharing. */
const forgottenAfterRounds = 1_000;
/** Number of parts of a round, because turns are whole numbers. */
const round = 1_000_000;

interface Flow {
  last: number;
}

/**
 * Gives turns to deliveries that one process accepts. Only the order matters, so several processes
 * need no agreement: `firstTurn` is the earliest turn that still waits in the store, or null. A
 * transaction that runs again takes new turns. The turns of its first run stay unused, which costs
 * a few rounds.
 */
class Turns {
  readonly #flows = recentlyUsed<Flow>(mostFlows);
  readonly #domains = recentlyUsed<Map<string, number>>(mostFlows);
  #served = 0;

  /** Returns the turn of the next delivery of this organization and sending domain. */
  next(organizationId: string, senderDomain: string, firstTurn: number | null): number {
    const present = Math.max(firstTurn ?? 0, firstTurn === null ? this.#served : 0);
    const key = `${organizationId} ${senderDomain}`;
    const flow = this.#flows.get(key) ?? { last: 0 };
    const share = this.#sharing(organizationId, senderDomain, present);
    flow.last = Math.max(present, flow.last) + round * share;
    this.#flows.set(key, flow);
    return flow.last;
  }

  /**
   * Records the turn that a claim reached. Mail that is accepted while the queue is empty gets a
   * later turn.
   */
  served(turn: number): void {
    this.#served = Math.max(this.#served, turn);
  }

  /** Counts the sending domains of the organization with queued mail, including this one. */
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

/** The turns of one process, shared by accepted deliveries and by those made ready again. */
export const turnsOf = perApp<App, Turns>(() => new Turns());
