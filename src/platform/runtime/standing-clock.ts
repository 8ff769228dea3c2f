// A clock for rehearsals and for tests of other programs (`svc daemon --clock virtual`): the wall
// clock stands still until it is advanced. Steady time (`elapsed`, `after`) continues, since other
// machines and threads do not stand still; it jumps together with the wall clock.
//
//   state      | event                  | next
//   -----------+------------------------+---------------------------------------------------------------------
//   standing   | `advanceTo`            | advancing: jumps from due time to due time, settles at each
//   standing   | `follow`               | following: continues at the pace of the system's clock
//   following  | `advanceTo`            | advancing
//   advancing  | its target is settled  | standing
//   advancing  | another call           | the other call waits for its turn
import { type Clock, isoTime, type JoinedWork, systemClock } from './clock.ts';

/** Interval in ms at which due work runs while this clock follows the system's clock. */
const followEachMs = 1_000;
/** Most rounds of work at a single time. If work is still due after them, settling fails. */
const mostRounds = 100_000;

/** Error of a clock that is told to advance to a time in the past. */
export class PastTimeError extends Error {
  constructor(now: number) {
    super(`time never goes back: the clock shows ${isoTime(now)}`);
  }
}

export interface StandingClockOptions {
  /** Called with each new time, before due work runs. */
  onTime?: (now: number) => void;
}

/** A wall clock that stands still, with the work that depends on it. */
export class StandingClock implements Clock {
  readonly #works = new Set<JoinedWork>();
  readonly #onTime: (now: number) => void;
  #nowMs: number;
  #jumpedMs = 0;
  /** Steady time (ms) from which this clock follows the system's clock; null while it stands. */
  #followsSince: number | null = null;
  #cancelFollow: () => void = () => {};
  #turn: Promise<unknown> = Promise.resolve();

  /** Creates a clock that shows `startMs`, ms since 1970. */
  constructor(startMs: number, { onTime = () => {} }: StandingClockOptions = {}) {
    this.#nowMs = startMs;
    this.#onTime = onTime;
  }

  now(): number {
    if (this.#followsSince === null) return this.#nowMs;
    return Math.floor(this.#nowMs + systemClock.elapsed() - this.#followsSince);
  }

  elapsed(): number {
    return systemClock.elapsed() + this.#jumpedMs;
  }

  after(delayMs: number, run: () => void): () => void {
    return systemClock.after(delayMs, run);
  }

  join(work: JoinedWork): () => void {
    this.#works.add(work);
    return () => void this.#works.delete(work);
  }

  /** Resolves once no work is due at the present time. */
  settle(): Promise<void> {
    return this.#inTurn(() => this.#settle(true));
  }

  /**
   * Advances from due time to due time up to `targetMs`, where the clock then stands. Resolves once
   * all due work has settled.
   * @throws PastTimeError for a target before the present
   */
  advanceTo(targetMs: number): Promise<void> {
    return this.#inTurn(() => this.#advanceTo(() => targetMs));
  }

  /** Advances by `ms`, counted from the time at which all earlier calls have ended. */
  advanceBy(ms: number): Promise<void> {
    return this.#inTurn(() => this.#advanceTo((now) => now + ms));
  }

  /** Follows the pace of the system's clock until the clock is advanced. */
  follow(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#followsSince !== null) return;
      this.#followsSince = systemClock.elapsed();
      this.#followOn();
    });
  }

  /** Stops following; for the end of the process. */
  close(): void {
    this.#stand();
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(run);
    this.#turn = done.catch(() => {});
    return done;
  }

  async #advanceTo(targetOf: (now: number) => number): Promise<void> {
    const targetMs = targetOf(this.now());
    if (targetMs < this.now()) throw new PastTimeError(this.now());
    this.#stand();
    await this.#settle(false);
    for (;;) {
      const next = this.#nextAt();
      if (next > targetMs) break;
      this.#jump(next);
      await this.#settle(false);
    }
    this.#jump(targetMs);
    await this.#settle(true);
  }

  #jump(toMs: number): void {
    this.#jumpedMs += toMs - this.#nowMs;
    this.#nowMs = toMs;
    this.#onTime(toMs);
  }

  /** Returns the first due time after the present; Infinity if no work is due later. */
  #nextAt(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const work of this.#works) {
      // Some due times come from `elapsed` and are fractions; the wall clock has whole ms.
      const at = Math.ceil(work.nextAt());
      if (at > this.#nowMs) next = Math.min(next, at);
    }
    return next;
  }

  /**
   * Runs due work in rounds until a round finds nothing to do: work of a loop can make work for a
   * second loop.
   */
  async #settle(isLast: boolean): Promise<void> {
    for (let round = 0; round < mostRounds; round++) {
      const worked = await Promise.all([...this.#works].map((work) => work.settle(isLast)));
      if (!worked.includes(true)) return;
    }
    throw new Error(`work does not settle at ${isoTime(this.#nowMs)}`);
  }

  #stand(): void {
    this.#cancelFollow();
    this.#nowMs = this.now();
    this.#followsSince = null;
  }

  #followOn(): void {
    this.#onTime(this.now());
    this.#cancelFollow = systemClock.after(followEachMs, () => {
      void this.#inTurn(async () => {
        if (this.#followsSince === null) return;
        await this.#settle(true);
        this.#followOn();
      });
    });
  }
}
