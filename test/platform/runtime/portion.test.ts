import { expect, it } from 'vitest';
import { noPortion, partOf, wholePortion } from '../../../src/platform/runtime/fairness/portion.ts';

const names = ['gmail', 'mx a.example', 'mx b.example', 'domain c.example'];

it('parts of all daemons add up to the limit, and differ by one at most', () => {
  for (const name of names) {
    for (let count = 1; count <= 7; count++) {
      for (let limit = 0; limit <= 30; limit++) {
        const parts = Array.from({ length: count }, (_, rank) =>
          partOf(limit, name, { places: [{ count, rank }], taken: {} }),
        );
        expect(parts.reduce((sum, part) => sum + part)).toBe(limit);
        expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
      }
    }
  }
});

it('the rest of a limit goes to other daemons for other names', () => {
  const first = (name: string) =>
    [0, 1, 2].findIndex(
      (rank) => partOf(1, name, { places: [{ count: 3, rank }], taken: {} }) === 1,
    );
  const chosen = new Set(Array.from({ length: 50 }, (_, n) => first(`mx host${n}.example`)));
  expect(chosen).toEqual(new Set([0, 1, 2]));
});

it('the smallest of several places counts', () => {
  const places = [
    { count: 2, rank: 0 },
    { count: 5, rank: 3 },
    { count: 1, rank: 0 },
  ];
  expect(partOf(20, 'gmail', { places, taken: {} })).toBe(4);
});

it('connections that others have above their part are subtracted, of their lane alone', () => {
  const portion = { places: [{ count: 2, rank: 0 }], taken: { gmail: 3 } };
  expect(partOf(10, 'gmail', portion)).toBe(2);
  expect(partOf(4, 'gmail', portion)).toBe(0);
  expect(partOf(10, 'outlook', portion)).toBe(5);
});

it('without a place there is nothing, alone there is all', () => {
  expect(partOf(20, 'gmail', noPortion)).toBe(0);
  expect(partOf(20, 'gmail', wholePortion)).toBe(20);
});
