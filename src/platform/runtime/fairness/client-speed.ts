// Measures how fast a client transfers bytes while the service waits for the client. Time in which
// the client waits for the service does not count. A measurement sets at most a single timer every
// ten seconds, even for many small pieces.
import type { Clock } from '../clock.ts';

const windowMs = 10_000;
/** Fewest bytes in ten seconds of waiting: 1 KB a second. */
const leastBytes = 10_000;
/** Waiting time in ms after which a speed is first reported. */
const earliestMs = 1_000;

export class ClientSpeed {
  readonly #clock: Clock;
  readonly #onTooSlow: (() => void) | undefined;
  #bytes = 0;
  #waitedMs = 0;
  #bytesBefore = 0;
  #waitedBeforeMs = 0;
  #waitingSince: number | null = null;
  #cancel: (() => void) | null = null;

  /** Calls `onTooSlow` when ten seconds of waiting brought less than 1 KB a second, then stops. */
  constructor(clock: Clock, onTooSlow?: () => void) {
    this.#clock = clock;
    this.#onTooSlow = onTooSlow;
  }

  /** Begins to wait for the client. */
  wait(): void {
    if (this.#waitingSince !== null) return;
    this.#waitingSince = this.#clock.elapsed();
    this.#cancel ??= this.#clock.after(windowMs - this.#waitedMs, () => this.#look());
  }

  /** Ends waiting, because the client waits for the service now. */
  rest(): void {
    this.#waitedMs = this.#waited();
    this.#waitingSince = null;
  }

  /** Counts bytes that the client transferred. */
  moved(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Stops measuring. */
  stop(): void {
    this.rest();
    this.#cancel?.();
    this.#cancel = null;
  }

  /**
   * Bytes per second of waiting, over this and the previous ten seconds of waiting. Infinity in the
   * first second of waiting.
   */
  get bytesPerSecond(): number {
    const waitedMs = this.#waitedBeforeMs + this.#waited();
    if (waitedMs < earliestMs) return Number.POSITIVE_INFINITY;
    return ((this.#bytesBefore + this.#bytes) / waitedMs) * 1000;
  }

  #waited(): number {
    if (this.#waitingSince === null) return this.#waitedMs;
    return this.#waitedMs + this.#clock.elapsed() - this.#waitingSince;
  }

  #look(): void {
    this.#cancel = null;
    const isWaiting = this.#waitingSince !== null;
    this.rest();
    if (this.#waitedMs >= windowMs) {
      const isTooSlow = this.#bytes < leastBytes;
      this.#beginWindow();
      if (isTooSlow && this.#onTooSlow) {
        this.#onTooSlow();
        return;
      }
    }
    if (isWaiting) this.wait();
  }

  #beginWindow(): void {
    this.#bytesBefore = this.#bytes;
    this.#waitedBeforeMs = this.#waitedMs;
    this.#bytes = 0;
    this.#waitedMs = 0;
  }
}
