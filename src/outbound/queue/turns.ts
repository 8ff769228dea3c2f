// Fair turns (start-time fair queuing): every ready delivery has a turn, and claims follow the
// turns. An organization's next message comes one round after its last one, so a million messages
// of one organization never precede a single message of another. Within an organization the sending
// domains share its rounds.
//
// Each campaign run has a flow of its own, so that a direct send of its organization leaves before
// the backlog of the run. The runs of an organization together share its rounds like a part of a
// domain, and evenly among themselves. So an organization has no more rounds with runs than without.
//
//   flows with queued mail        | share of a domain   | share of a run
//   ------------------------------+---------------------+------------------------------
//   d domains                     | 1 / d               |
//   r runs                        |                     | 1 / r
//   d domains, r runs of weight w | 1 / (d + w)         | w / (d + w) / r
import type { App } from '../../core/app.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../platform/runtime/recently-used.ts';
import type { DeliveryRow } from '../deliveries/queries.ts';

const mostFlows = 100_000;
/** Number of rounds after which a domain without queued mail no longer counts as sharing. */
const forgottenAfterRounds = 1_000;
/** Number of parts of a round, because turns are whole numbers. */
const round = 1_000_000;
/** Weight of the runs of an organization beside one of its domains: its direct mail goes first. */
const runsWeight = 1 / 4;

interface Flow {
  last: number;
}

/** Columns of a delivery that decide its flow. */
type Flowing = Pick<DeliveryRow, 'organization_id' | 'sender_domain' | 'campaign_run_id'>;

/**
 * Gives turns to deliveries that one process accepts. Only the order matters, so several processes
 * need no agreement: `firstTurn` is the earliest turn that still waits in the store, or null. A
 * transaction that runs again takes new turns. The turns of its first run stay unused, which costs
 * a few rounds.
 */
class Turns {
  readonly #flows = recentlyUsed<Flow>(mostFlows);
  readonly #domains = recentlyUsed<Map<string, number>>(mostFlows);
  /** The last turn of each run with queued mail, by organization. */
  readonly #runs = recentlyUsed<Map<string, number>>(mostFlows);
  #served = 0;

  /** Returns the turn of the next delivery of this organization, and sending domain or run. */
  next(
    { organization_id, sender_domain, campaign_run_id }: Flowing,
    firstTurn: number | null,
  ): number {
    const present = Math.max(firstTurn ?? 0, firstTurn === null ? this.#served : 0);
    return campaign_run_id === null
      ? this.#nextDirect(organization_id, sender_domain, present)
      : this.#nextOfRun(organization_id, campaign_run_id, present);
  }

  #nextDirect(organizationId: string, senderDomain: string, present: number): number {
    const key = `${organizationId} ${senderDomain}`;
    const flow = this.#flows.get(key) ?? { last: 0 };
    const share = this.#sharing(organizationId, senderDomain, present);
    const weight = this.#hasRuns(organizationId, present) ? runsWeight : 0;
    flow.last = Math.max(present, flow.last) + round * (share + weight);
    this.#flows.set(key, flow);
    return flow.last;
  }

  #nextOfRun(organizationId: string, runId: string, present: number): number {
    const runs = this.#runs.get(organizationId) ?? new Map<string, number>();
    const last = runs.get(runId) ?? 0;
    runs.set(runId, last);
    for (const [id, reached] of runs) if (id !== runId && reached < present) runs.delete(id);
    const domains = this.#activeDomains(organizationId, present);
    const share = (runs.size * (domains + runsWeight)) / runsWeight;
    const turn = Math.max(present, last) + round * (domains === 0 ? runs.size : share);
    runs.set(runId, turn);
    this.#runs.set(organizationId, runs);
    return turn;
  }

  #hasRuns(organizationId: string, present: number): boolean {
    for (const last of this.#runs.get(organizationId)?.values() ?? []) {
      if (last >= present) return true;
    }
    return false;
  }

  #activeDomains(organizationId: string, present: number): number {
    let active = 0;
    for (const domain of this.#domains.get(organizationId)?.keys() ?? []) {
      const flow = this.#flows.get(`${organizationId} ${domain}`);
      if (flow && flow.last >= present) active++;
    }
    return active;
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
