// Chooses the next due run: first an organization, by the time that its runs took, then a run of
// that organization, by the time that the run took. A turn of a run prepares and stores a page of
// contacts, and ends between two contacts.
//
//   time of a turn                    | then
//   ----------------------------------+------------------------------------------------------------
//   500 ms                            | ends after the current contact; the next organization
//                                     | begins a turn
//   2 s without a worker for the      | the run waits for capacity: the queue of the organization
//   first contact                     | may be long
//   the daemon stops                  | ends after the current contact, even the first
import { CapacityError } from '../../platform/errors.ts';
import type { Clock } from '../../platform/runtime/clock.ts';
import { FairShare } from '../../platform/runtime/fairness/fair-share.ts';
import { type PreparationEnds, TurnOver } from '../mail/dispatch.ts';

const turnMs = 500;
const patienceMs = 2_000;

interface Due {
  id: string;
  organization_id: string;
}

/** A turn of a run, with the signals that end it. */
export class Turn implements PreparationEnds {
  readonly #over = new AbortController();
  readonly #latest = new AbortController();
  readonly #cancels: readonly (() => void)[];
  readonly #ending = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.over.addEventListener('abort', () => this.#ending.resolve());
    const impatient = () =>
      new CapacityError('no worker was free to fill a message', 1, { reason: 'capacity-parser' });
    this.#cancels = [
      clock.after(turnMs, () => this.#over.abort(new TurnOver())),
      clock.after(patienceMs, () => this.#latest.abort(impatient())),
    ];
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Resolves once the time of the turn is over. */
  get ending(): Promise<void> {
    return this.#ending.promise;
  }

  get latest(): AbortSignal {
    return this.#latest.signal;
  }

  /** Ends the turn at the next contact, when the daemon stops. */
  stop(): void {
    for (const one of [this.#over, this.#latest]) one.abort(new TurnOver());
  }

  /** Ends the timers of the turn. */
  finish(): void {
    for (const cancel of this.#cancels) cancel();
  }
}

/** Chooses and records the turns of a daemon. An organization has a single turn at a time. */
export class RunTurns {
  readonly #organizations = new FairShare(1);
  /** Order of the due runs of each organization. */
  #runs = new Map<string, FairShare>();

  /**
   * Returns the next due run in turn; undefined without a due run. Skips the organizations in
   * `busy`, which have a turn now.
   */
  next<Run extends Due>(
    due: readonly Run[],
    busy: Pick<ReadonlyMap<string, unknown>, 'has'> = new Map(),
  ): Run | undefined {
    const organizations = [...new Set(due.map(({ organization_id }) => organization_id))];
    this.#runs = new Map(organizations.map((id) => [id, this.#runsOf(id)]));
    const organization = this.#organizations.findNext(organizations.filter((id) => !busy.has(id)));
    if (organization === undefined) return;
    const own = due.filter(({ organization_id }) => organization_id === organization);
    const next = this.#runsOf(organization).findNext(own.map(({ id }) => id));
    return own.find(({ id }) => id === next);
  }

  /** Records the time of a turn. */
  record({ id, organization_id: organization }: Due, ms: number): void {
    this.#organizations.recordTurn(organization, ms);
    this.#runs.get(organization)?.recordTurn(id, ms);
  }

  #runsOf(organization: string): FairShare {
    return this.#runs.get(organization) ?? new FairShare(1);
  }
}
