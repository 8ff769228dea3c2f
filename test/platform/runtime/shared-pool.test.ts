// The evicted place in a full pool, and the pace that decides it.
import { describe, expect, it } from 'vitest';
import { ClientSpeed } from '../../../src/platform/runtime/fairness/client-speed.ts';
import { SharedPool } from '../../../src/platform/runtime/fairness/shared-pool.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

/** Makes a pool of four places that records its evictions. */
function poolOfFour() {
  const pool = new SharedPool(4);
  const evicted: string[] = [];
  const enter = (holder: string, pace: number | null, name = holder) =>
    pool.enter({ holder, pace: () => pace, evict: () => evicted.push(name) });
  return { enter, evicted };
}

describe('a full pool', () => {
  it('evicts the slowest place of a larger holder before a slower one of a smaller holder', () => {
    const { enter, evicted } = poolOfFour();
    for (const pace of [90_000, 50_000, 70_000]) enter('hog', pace, `hog ${pace}`);
    enter('small', 1);
    expect([enter('late', 0) !== null, evicted]).toEqual([true, ['hog 50000']]);
  });

  it('evicts a place below 10 KB/s where all holders are equal', () => {
    const { enter, evicted } = poolOfFour();
    for (const name of ['a', 'b', 'c']) enter(name, 10_000);
    enter('d', 9_999);
    expect([enter('late', 0) !== null, evicted]).toEqual([true, ['d']]);
  });

  it('refuses a newcomer where no holder is larger or slow', () => {
    const { enter, evicted } = poolOfFour();
    for (const name of ['a', 'b', 'c', 'd']) enter(name, 10_000);
    expect([enter('late', 0), evicted]).toEqual([null, []]);
  });

  it('never evicts a place without a pace', () => {
    const { enter, evicted } = poolOfFour();
    for (let count = 0; count < 3; count++) enter('hog', null);
    enter('small', null);
    expect([enter('late', 0), evicted]).toEqual([null, []]);
  });

  it('evicts nothing for a holder that has a place', () => {
    const { enter, evicted } = poolOfFour();
    for (let count = 0; count < 3; count++) enter('hog', 0);
    enter('small', 0);
    expect([enter('small', 0), enter('hog', 0), evicted]).toEqual([null, null, []]);
  });

  it('lets an evicted place neither grow nor return anything twice', () => {
    const { enter } = poolOfFour();
    const places = [1, 2, 3].map((pace) => enter('hog', pace));
    enter('small', 9);
    enter('late', 9);
    places[0]?.leave();
    expect(places[0]?.grow(1)).toBe(false);
    expect(enter('hog', 9)).toBeNull();
  });
});

describe('a pace', () => {
  it('is too slow below 10,000 bytes in ten seconds of waiting', async () => {
    const clock = virtualClock(0);
    let ends = 0;
    const pace = new ClientSpeed(clock, () => {
      ends += 1;
    });
    pace.wait();
    pace.moved(10_000);
    await clock.advance(10_000);
    pace.moved(9_999);
    await clock.advance(9_999);
    expect(ends).toBe(0);
    await clock.advance(1);
    expect(ends).toBe(1);
    expect(clock.nextTimerAt()).toBeUndefined();
  });

  it('ignores the time that the client waits for us', async () => {
    const clock = virtualClock(0);
    let ends = 0;
    const pace = new ClientSpeed(clock, () => {
      ends += 1;
    });
    for (let turn = 0; turn < 9; turn++) {
      pace.wait();
      await clock.advance(1_000);
      pace.rest();
      await clock.advance(60_000);
    }
    expect(ends).toBe(0);
    pace.wait();
    await clock.advance(1_000);
    expect(ends).toBe(1);
  });

  it('is the rate over each second of waiting, unknown in the first', async () => {
    const clock = virtualClock(0);
    const pace = new ClientSpeed(clock);
    pace.wait();
    pace.moved(4_000);
    await clock.advance(999);
    expect(pace.bytesPerSecond).toBe(Number.POSITIVE_INFINITY);
    await clock.advance(1_001);
    expect(pace.bytesPerSecond).toBe(2_000);
    pace.stop();
    expect(clock.nextTimerAt()).toBeUndefined();
  });
});

describe('a pool whose holder prefers new work', () => {
  const pace = (bytesPerSecond: number) => () => bytesPerSecond;

  /** Makes a pool with places of one holder at these paces. */
  function poolOf(paces: readonly number[]) {
    const pool = new SharedPool(100);
    const evicted: number[] = [];
    for (const one of paces) {
      pool.enter({ holder: 'a', pace: pace(one), evict: () => evicted.push(one) }, 10);
    }
    return { pool, evicted };
  }

  it('evicts the slowest place of that holder', () => {
    const { pool, evicted } = poolOf([30, 10, 20]);
    pool.enter({ holder: 'b', pace: pace(1), evict: () => evicted.push(1) });
    expect([pool.evictSlowestOf('a'), evicted, pool.heldBy('a')]).toEqual([true, [10], 20]);
  });

  it('evicts no place above a pace', () => {
    const { pool, evicted } = poolOf([30, 10]);
    expect([pool.evictSlowestOf('a', 9), evicted]).toEqual([false, []]);
  });

  it('has nothing to evict for a holder without a place', () => {
    expect(poolOf([1]).pool.evictSlowestOf('b')).toBe(false);
  });

  it('takes a part of a place back', () => {
    const { pool } = poolOf([]);
    const place = pool.enter({ holder: 'a', pace: pace(1), evict: () => {} }, 50);
    place?.shrink(30);
    expect([place?.amount, pool.heldBy('a')]).toEqual([20, 20]);
    place?.leave();
    place?.shrink(10);
    expect(pool.heldBy('a')).toBe(0);
  });
});
