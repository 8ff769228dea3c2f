// Concurrent reads: one batch after the other, each answer to its own caller.
import { describe, expect, it } from 'vitest';
import { groupReads } from '../../../src/platform/store/group.ts';

describe('concurrent reads', () => {
  it('are batched, and each gets its own answer', async () => {
    const batches: number[] = [];
    const read = groupReads(128, async (items: readonly number[]) => {
      batches.push(items.length);
      return items.map((item) => item * 2);
    });
    const numbers = Array.from({ length: 300 }, (_, index) => index);
    expect(await Promise.all(numbers.map(read))).toEqual(numbers.map((number) => number * 2));
    expect(batches).toEqual([128, 128, 44]);
    expect(await read(7)).toBe(14);
  });

  it('fail together without harm to later ones', async () => {
    let isBroken = true;
    const read = groupReads(2, async (items: readonly number[]) => {
      if (isBroken) throw new Error('broken');
      return [...items];
    });
    const results = await Promise.allSettled([read(1), read(2)]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    isBroken = false;
    expect(await Promise.all([read(3), read(4), read(5)])).toEqual([3, 4, 5]);
  });
});
