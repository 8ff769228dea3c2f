import { describe, expect, it } from 'vitest';
import { startWork, workedMs } from '../support/work-time.ts';
import { attacksOn, seeded } from './attacks.ts';
import { boundedInputs } from './bounded-inputs.ts';
import { readVerdicts } from './verdicts.ts';

/**
 * Most time of one search on the event loop, and in a worker, whose deadline is two seconds or
 * less.
 */
const mostMs = { loop: 50, worker: 500 };

function patternOf(literal: string): RegExp {
  const end = literal.lastIndexOf('/');
  return new RegExp(literal.slice(1, end), literal.slice(end + 1));
}

/** Returns the CPU time of the slowest search. */
function slowestMs(pattern: RegExp, texts: Iterable<string>): number {
  let slowest = 0;
  for (const text of texts) {
    pattern.lastIndex = 0;
    const from = startWork();
    text.replace(pattern, '');
    slowest = Math.max(slowest, workedMs(from));
  }
  return slowest;
}

describe('attacks on patterns', () => {
  it.each<[RegExp, number]>([
    [/\s+$/, 16_000],
    [/<a[^>]*>/, 64_000],
    [/(?:\w+ )+x/, 16_000],
  ])('find the growth of %s', (pattern, length) => {
    const attacks = attacksOn(pattern, { length, count: 6, random: seeded(1) });
    expect(slowestMs(pattern, attacks)).toBeGreaterThan(mostMs.loop);
  });
});

describe.each(Object.entries(boundedInputs))(
  'patterns of the input "%s"',
  (name, { characters: length, isInWorker }) => {
    const literals = [...readVerdicts()].filter(([, verdict]) => verdict === name);
    const limit = isInWorker ? mostMs.worker : mostMs.loop;
    const count = length > 100_000 ? 20 : 120;

    it.each(literals)(`takes under ${limit} ms for ${length} hostile characters: %s`, (literal) => {
      const pattern = patternOf(literal);
      const attacks = attacksOn(pattern, { length, count, random: seeded(7) });
      expect(slowestMs(pattern, attacks)).toBeLessThan(limit);
    });
  },
);
