import { describe, expect, it } from 'vitest';
import { sleep } from '../../src/platform/runtime/clock.ts';
import { virtualClock } from './virtual-clock.ts';

describe('the virtual clock', () => {
  it('stands still until it is advanced', async () => {
    const clock = virtualClock(1_000);
    let fired = false;
    clock.after(0, () => {
      fired = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.now()).toBe(1_000);
    expect(fired).toBe(false);
  });

  it('fires timers in order of their due times, each at its own time', async () => {
    const clock = virtualClock(0);
    const fired: [string, number][] = [];
    clock.after(20, () => fired.push(['late', clock.now()]));
    clock.after(10, () => fired.push(['first of two', clock.now()]));
    clock.after(10, () => fired.push(['second of two', clock.now()]));
    clock.after(31, () => fired.push(['beyond', clock.now()]));
    await clock.advance(30);
    expect(fired).toEqual([
      ['first of two', 10],
      ['second of two', 10],
      ['late', 20],
    ]);
    expect(clock.now()).toBe(30);
    expect(clock.nextTimerAt()).toBe(31);
  });

  it('lets promises settle between timers, so that a loop of sleeps runs to its end', async () => {
    const clock = virtualClock(0);
    const woke: number[] = [];
    const loop = (async () => {
      for (let i = 0; i < 72; i++) {
        await sleep(clock, 3_600_000);
        woke.push(clock.now());
      }
    })();
    await clock.advance(72 * 3_600_000);
    await loop;
    expect(woke).toHaveLength(72);
    expect(woke.at(-1)).toBe(72 * 3_600_000);
  });

  it('does not fire a cancelled timer', async () => {
    const clock = virtualClock(0);
    let fired = false;
    clock.after(5, () => {
      fired = true;
    })();
    await clock.advance(10);
    expect(fired).toBe(false);
    expect(clock.nextTimerAt()).toBeUndefined();
  });

  it('leaves running timers alone when the wall clock jumps', async () => {
    const clock = virtualClock(1_000);
    const firedAt: number[] = [];
    clock.after(10, () => firedAt.push(clock.now()));
    clock.set(500);
    expect(clock.now()).toBe(500);
    expect(clock.nextTimerAt()).toBe(510);
    await clock.advance(9);
    expect(firedAt).toEqual([]);
    await clock.advance(1);
    expect(firedAt).toEqual([510]);
  });

  it('stops at a timer that re-arms itself without delay', async () => {
    const clock = virtualClock(0);
    const rearm = () => {
      clock.after(0, rearm);
    };
    rearm();
    await expect(clock.advance(1)).rejects.toThrow('re-arms itself');
  });
});
