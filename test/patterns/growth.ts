// Growth of time with hostile texts: the CPU time for a text of a length, and for one of twice that
// length.

import { startWork, workedMs } from '../support/work-time.ts';

/** Writes a text of about this length. */
export type Hostile = (length: number) => string;

/** Repeats a piece between a head and a tail. */
export function repeated(piece: string, head = '', tail = ''): Hostile {
  return (length) => head + piece.repeat(Math.ceil(length / piece.length)) + tail;
}

const attempts = 3;
/** Twice the text may take this much more time. A quadratic reader takes four times as long. */
const mostGrowth = 2.8;
/** The event loop may lose this much time in a turn. */
const stallMs = 50;
const tooLongMs = 2_000;

/**
 * The least CPU time for a text. A refusal is an answer. Attempts are made only as far as a verdict
 * needs them: most texts take so little time that the first attempt decides.
 */
class LeastTime {
  ms = Number.POSITIVE_INFINITY;
  readonly #run: (text: string) => unknown;
  readonly #text: string;
  #made = 0;

  constructor(run: (text: string) => unknown, text: string) {
    this.#run = run;
    this.#text = text;
  }

  /** Makes an attempt; returns false if all attempts were made. */
  async attempt(): Promise<boolean> {
    if (this.#made === attempts || (this.#made > 0 && this.ms > tooLongMs)) return false;
    this.#made += 1;
    const from = startWork();
    await Promise.resolve(this.#text)
      .then(this.#run)
      .catch(() => undefined);
    this.ms = Math.min(this.ms, workedMs(from));
    return true;
  }

  async allAttempts(): Promise<void> {
    while (await this.attempt());
  }
}

const isFaster = (before: LeastTime, now: LeastTime) =>
  now.ms > stallMs && now.ms > mostGrowth * Math.max(before.ms, stallMs / 4);

/**
 * Returns the times of texts that grow faster than their length, up to `most` characters; null for
 * none. Growth counts if it shows again: a busy machine may slow the core between two texts, and a
 * reader in quadratic time always shows it.
 */
export async function fasterGrowth(
  run: (text: string) => unknown,
  hostile: Hostile,
  most: number,
): Promise<string | null> {
  const timeOf = (length: number) => new LeastTime(run, hostile(Math.ceil(length)));
  let before = timeOf(most / 8);
  for (const length of [most / 4, most / 2, most]) {
    let now = timeOf(length);
    await now.attempt();
    if (now.ms > stallMs) await before.allAttempts();
    while (isFaster(before, now) && (await now.attempt()));
    for (let again = 1; isFaster(before, now) && again < attempts; again += 1) {
      before = timeOf(length / 2);
      now = timeOf(length);
      await before.allAttempts();
      await now.allAttempts();
    }
    if (isFaster(before, now)) {
      const times = `${before.ms.toFixed(0)} ms, then ${now.ms.toFixed(0)} ms`;
      return `${times} for ${Math.ceil(length)} characters`;
    }
    before = now;
  }
  return null;
}
