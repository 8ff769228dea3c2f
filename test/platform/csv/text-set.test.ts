import { expect, it } from 'vitest';
import { textSet } from '../../../src/platform/csv/text-set.ts';

it('a text set contains every added text, through many enlargements', () => {
  const set = textSet();
  const addresses = Array.from({ length: 200_000 }, (_, i) => `user${i}@example${i % 97}.com`);
  expect(addresses.filter((address) => !set.add(address))).toEqual([]);
  expect(addresses.filter((address) => set.add(address))).toEqual([]);
});
