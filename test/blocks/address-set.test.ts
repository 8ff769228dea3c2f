import { expect, it } from 'vitest';
import { addressSet } from '../../src/blocks/address-set.ts';

it('knows every address again, through many enlargements', () => {
  const set = addressSet();
  const addresses = Array.from({ length: 200_000 }, (_, i) => `user${i}@example${i % 97}.com`);
  expect(addresses.filter((address) => !set.add(address))).toEqual([]);
  expect(addresses.filter((address) => set.add(address))).toEqual([]);
});
