// Which place yields in a spent pool, and the pace by which that is decided.
import { describe, expect, it } from 'vitest';
import { Pace } from '../../src/runtime/pace.ts';
import { SharedPool } from '../../src/runtime/shared-pool.ts';
import { virtualClock } from '../support/virtual-clock.ts';

/** A pool of four places with what was evicted from it. */
function poolOfFour() {
  const pool = new SharedPool(4);
  const evicted: string[] = [];
  const enter = (holder: string, pace: number | null, name = holder) =>
    pool.enter({ holder, pace: () => pace, evict: () => evicted.push(name) });
  return { enter, evicted };
}

describe('a spent pool', () => {
  it('ends the slowest place of a larger holder, not a slower one of a smaller', () => {
    const { enter, evicted } = poolOfFour();
    for (const pace of [90_000, 50_000, 70_000]) enter('hog', pace, `hog ${pace}`);
    enter('small', 1);
    expect([enter('late', 0) !== null, evicted]).toEqual([true, ['hog 50000']]);
  });

  it('ends a place below 10 KB/s where no holder is larger', () => {
    const { enter, evicted } = poolOfFour();
    for (const name of ['a', 'b', 'c']) enter(name, 10_000);
    enter('d', 9_999);
    expect([enter('late', 0) !== null, evicted]).toEqual([true, ['d']]);
  });

  it('refuses a newcomer where nobody is larger or slow', () => {
    const { enter, evicted } = poolOfFour();
    for (const name of ['a', 'b', 'c', 'd']) enter(name, 10_000);
    expect([enter('late', 0), evicted]).toEqual([null, []]);
  });

  it('never ends a place without a pace', () => {
    const { enter, evicted } = poolOfFour();
    for (let count = 0; count < 3; count++) enter('hog', null);
    enter('small', null);
    expect([enter('late', 0), evicted]).toEqual([null, []]);
  });

  it('ends nothing for a holder that has a place', () => {
    const { enter, evicted } = poolOfFour();
    for (let count = 0; count < 3; count++) enter('hog', 0);
    enter('small', 0);
    expect([enter('small', 0), enter('hog', 0), evicted]).toEqual([null, null, []]);
  });

  it('lets an evicted place grow no more and give back nothing twice', () => {
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
    const pace = new Pace(clock, () => {
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

  it('does not count the time that the client waits for us', async () => {
    const clock = virtualClock(0);
    let ends = 0;
    const pace = new Pace(clock, () => {
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

  it('is what came in each second of waiting, unknown in the first', async () => {
    const clock = virtualClock(0);
    const pace = new Pace(clock);
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
