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

/** Returns the least CPU time of some attempts. A refusal is an answer. */
async function cpuMs(run: (text: string) => unknown, text: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let made = 0; made < attempts; made += 1) {
    const from = startWork();
    await Promise.resolve(text)
      .then(run)
      .catch(() => undefined);
    least = Math.min(least, workedMs(from));
    if (least > tooLongMs) break;
  }
  return least;
}

const isFaster = (before: number, now: number) =>
  now > stallMs && now > mostGrowth * Math.max(before, stallMs / 4);

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
  let before = await cpuMs(run, hostile(Math.ceil(most / 8)));
  for (const length of [most / 4, most / 2, most].map(Math.ceil)) {
    let now = await cpuMs(run, hostile(length));
    for (let again = 1; isFaster(before, now) && again < attempts; again += 1) {
      before = await cpuMs(run, hostile(Math.ceil(length / 2)));
      now = await cpuMs(run, hostile(length));
    }
    if (isFaster(before, now)) {
      return `${before.toFixed(0)} ms, then ${now.toFixed(0)} ms for ${length} characters`;
    }
    before = now;
  }
  return null;
}
