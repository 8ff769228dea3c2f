// Fair turns (start-time fair queuing): every ready delivery has a turn, and claims follow the
// turns. An organization's next message comes a round after the last message. So a million messages
// of an organization never precede a single message of another organization. The sending domains
// share the rounds of their organization. Mail of the service comes a round before all other mail.
//
// Each campaign run has a separate flow, so that a direct send leaves before the backlog of a run.
// The runs of an organization together share the rounds like a fraction of a domain, and evenly
// among themselves. So an organization has no more rounds with runs than without.
//
//   flows with queued mail        | share of a domain   | share of a run
//   ------------------------------+---------------------+------------------------------
//   d domains                     | 1 / d               |
//   r runs                        |                     | 1 / r
//   d domains, r runs of weight w | 1 / (d + w)         | w / (d + w) / r
//
// Several daemons give turns to the same flow. Each learns within a second how far the other
// daemons are, and how many daemons serve the flow (learned-turns.ts): turns end with a mark of the
// process. n daemons take n rounds at a time each.
import type { App } from '../../../core/app.ts';
import { serviceOrganizationId } from '../../../platform/runtime/ids.ts';
import { perApp } from '../../../platform/runtime/per-app.ts';
import { recentlyUsed } from '../../../platform/runtime/recently-used.ts';
import type { DeliveryRow } from '../../deliveries/queries.ts';

const mostFlows = 100_000;
/** Number of rounds after which a domain without queued mail no longer counts as sharing. */
const forgottenAfterRounds = 1_000;
/** Number of parts of a round, because turns are whole numbers. */
const round = 1_000_000;
/** Weight of all runs of an organization, compared with a domain: direct mail goes first. */
const runsWeight = 1 / 4;

/** Number of marks of processes, which are the last digits of turns: far below a round. */
const marks = 1_000;

interface Flow {
  last: number;
}

/** A delivery at the end of the queue. */
export type LastTurn = Flowing & { turn: number };

/** Columns of a delivery that decide the flow. */
type Flowing = Pick<DeliveryRow, 'organization_id' | 'sender_domain' | 'campaign_run_id'>;

/**
 * Gives turns to deliveries that this process accepts. Turns only decide the order, so several
 * processes need not agree for correctness, only for fairness. `firstTurn` is the earliest turn
 * that still waits in the store, or null. A transaction that runs again takes new turns; the unused
 * turns cost a few rounds.
 */
export class DeliveryTurns {
  readonly #random: () => number;
  /** Last digits of the turns of this process; 0 while no second process is known. */
  #mark = 0;
  /** Number of processes that serve a flow; absent for flows that only this process serves. */
  #sharers: ReadonlyMap<string, number> = new Map();
  readonly #flows = recentlyUsed<Flow>(mostFlows);
  readonly #domains = recentlyUsed<Map<string, number>>(mostFlows);
  /** The last turn of each run with queued mail, by organization. */
  readonly #runs = recentlyUsed<Map<string, number>>(mostFlows);
  #served = 0;

  /** `random` returns a float in [0, 1). */
  constructor(random: () => number) {
    this.#random = random;
  }

  /**
   * Records the deliveries at the end of the queue, from all processes. Each mark in the turns of a
   * flow counts as a process, up to `daemons`, because an ended process leaves marks.
   */
  learn(rows: readonly LastTurn[], daemons: number): void {
    if (this.#mark === 0) this.#mark = 1 + Math.floor(this.#random() * (marks - 1));
    const found = new Map<string, Set<number>>();
    for (const row of rows) {
      const { organization_id: organizationId, campaign_run_id: runId, turn } = row;
      const key = keyOf(row);
      const served = found.get(key) ?? new Set([this.#mark]);
      // Turns without a mark were given before this process knew of a second process.
      if (turn % marks !== 0) served.add(turn % marks);
      found.set(key, served);
      if (runId === null) {
        const flow = this.#flows.get(key) ?? { last: 0 };
        flow.last = Math.max(flow.last, turn);
        this.#flows.set(key, flow);
      } else {
        const runs = this.#runs.get(organizationId) ?? new Map<string, number>();
        runs.set(runId, Math.max(runs.get(runId) ?? 0, turn));
        this.#runs.set(organizationId, runs);
      }
    }
    const shared = [...found].filter(([, { size }]) => size > 1);
    this.#sharers = new Map(shared.map(([key, { size }]) => [key, Math.min(size, daemons)]));
  }

  /** Continues as the only process that gives turns. */
  forgetOthers(): void {
    if (this.#sharers.size > 0) this.#sharers = new Map();
  }

  /** Returns the turn with the mark of this process as the last digits. */
  #marked(turn: number): number {
    return turn - (turn % marks) + this.#mark;
  }

  /** Returns the turn of the next delivery of this organization, and sending domain or run. */
  next(
    { organization_id, sender_domain, campaign_run_id }: Flowing,
    firstTurn: number | null,
  ): number {
    const present = Math.max(firstTurn ?? 0, firstTurn === null ? this.#served : 0);
    if (organization_id === serviceOrganizationId) return this.#marked(present - round);
    return campaign_run_id === null
      ? this.#nextDirect(organization_id, sender_domain, present)
      : this.#nextOfRun(organization_id, campaign_run_id, present);
  }

  #nextDirect(organizationId: string, senderDomain: string, present: number): number {
    const key = flowKey(organizationId, senderDomain, null);
    const flow = this.#flows.get(key) ?? { last: 0 };
    const share = this.#sharing(organizationId, senderDomain, present);
    const weight = this.#hasRuns(organizationId, present) ? runsWeight : 0;
    const rounds = (share + weight) * (this.#sharers.get(key) ?? 1);
    flow.last = this.#marked(Math.max(present, flow.last) + round * rounds);
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
    const rounds = domains === 0 ? runs.size : share;
    const sharers = this.#sharers.get(flowKey(organizationId, '', runId)) ?? 1;
    const turn = this.#marked(Math.max(present, last) + round * rounds * sharers);
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
   * Records the turn that a claim has reached. Mail that is accepted while the queue is empty gets
   * a later turn.
   */
  served(turn: number): void {
    this.#served = Math.max(this.#served, turn);
  }

  /** Counts the sending domains of the organization with queued mail, including this domain. */
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

function flowKey(organizationId: string, senderDomain: string, runId: string | null): string {
  return runId === null ? `${organizationId} ${senderDomain}` : `${organizationId} run ${runId}`;
}

function keyOf({ organization_id, sender_domain, campaign_run_id }: Flowing): string {
  return flowKey(organization_id, sender_domain, campaign_run_id);
}

/** The turns of a process, shared by newly accepted deliveries and deliveries made ready again. */
export const turnsOf = perApp<App, DeliveryTurns>(
  (app) => new DeliveryTurns(() => app.random.float()),
);
