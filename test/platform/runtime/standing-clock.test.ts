import { describe, expect, it, vi } from 'vitest';
import type { JoinedWork } from '../../../src/platform/runtime/clock.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { PastTimeError, StandingClock } from '../../../src/platform/runtime/standing-clock.ts';

const start = Date.UTC(2026, 2, 2, 9);
const never = Number.POSITIVE_INFINITY;

/** Work with due times, which notes the time of each run. */
function workAt(clock: StandingClock, times: number[], onRun = (_at: number) => {}) {
  const ran: number[] = [];
  const due = [...times].sort((a, b) => a - b);
  const work: JoinedWork = {
    async settle() {
      let hasWorked = false;
      for (; due[0] !== undefined && due[0] <= clock.now(); hasWorked = true) {
        due.shift();
        ran.push(clock.now());
        onRun(clock.now());
      }
      return hasWorked;
    },
    nextAt: () => due[0] ?? never,
  };
  return { ran, due, leave: clock.join(work) };
}

describe('a standing clock', () => {
  it('shows one time while real time passes', async () => {
    const clock = new StandingClock(start);
    const before = clock.elapsed();
    await new Promise((resolve) => clock.after(5, () => resolve(undefined)));
    expect(clock.now()).toBe(start);
    expect(clock.elapsed()).toBeGreaterThan(before);
  });

  it('plays due times in order, each at its own time, and stands at the target', async () => {
    const seed = Math.floor(performance.now() * 1_000) % 1_000_000;
    const random = seededRandom(seed);
    const clock = new StandingClock(start);
    const aheadMs = () => Math.floor(random.float() * 1_000_000);
    const works = Array.from({ length: 5 }, () =>
      workAt(
        clock,
        Array.from({ length: 40 }, () => start + aheadMs()),
      ),
    );
    const wanted = works.map(({ due }) => due.filter((at) => at <= start + 500_000));
    const elapsed = clock.elapsed();
    await clock.advanceBy(500_000);
    expect(
      works.map(({ ran }) => ran),
      `seed ${seed}`,
    ).toEqual(wanted);
    expect(clock.now()).toBe(start + 500_000);
    expect(clock.elapsed() - elapsed).toBeGreaterThanOrEqual(500_000);
  });

  it('settles work that other work made, at the same time, before it continues', async () => {
    const clock = new StandingClock(start);
    const second = workAt(clock, []);
    workAt(clock, [start + 10, start + 20], (at) => second.due.push(at));
    await clock.advanceBy(30);
    expect(second.ran).toEqual([start + 10, start + 20]);
  });

  it('shows whole milliseconds, whatever a due time is', async () => {
    const clock = new StandingClock(start);
    const work = workAt(clock, [start + 0.25]);
    await clock.advanceBy(10);
    expect(work.ran).toEqual([start + 1]);
  });

  it('never goes back, and refuses a target in the past', async () => {
    const clock = new StandingClock(start);
    await expect(clock.advanceTo(start - 1)).rejects.toThrow(PastTimeError);
    expect(clock.now()).toBe(start);
  });

  it('takes advances in turn', async () => {
    const clock = new StandingClock(start);
    const held = Promise.withResolvers<void>();
    let isHeld = true;
    clock.join({
      async settle() {
        if (isHeld) await held.promise;
        return false;
      },
      nextAt: () => never,
    });
    const both = [clock.advanceBy(10), clock.advanceTo(start + 5)];
    isHeld = false;
    held.resolve();
    const results = await Promise.allSettled(both);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(clock.now()).toBe(start + 10);
  });

  it('leaves out work that left', async () => {
    const clock = new StandingClock(start);
    const work = workAt(clock, [start + 10]);
    work.leave();
    await clock.advanceBy(20);
    expect(work.ran).toEqual([]);
  });

  it('tells each new time before work is settled at it', async () => {
    const told: number[] = [];
    const clock = new StandingClock(start, { onTime: (now) => told.push(now) });
    workAt(clock, [start + 10], () => expect(told.at(-1)).toBe(start + 10));
    await clock.advanceBy(20);
    expect(told).toEqual([start + 10, start + 20]);
  });

  it('follows real time until it is advanced, and settles on the way', async () => {
    vi.useFakeTimers();
    try {
      const clock = new StandingClock(start);
      const work = workAt(clock, [start + 1_500]);
      await clock.follow();
      await vi.advanceTimersByTimeAsync(1_400);
      expect(work.ran).toEqual([]);
      await vi.advanceTimersByTimeAsync(700);
      expect(work.ran).toHaveLength(1);
      await clock.advanceBy(0);
      const stood = clock.now();
      expect(stood).toBeGreaterThanOrEqual(start + 2_100);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(clock.now()).toBe(stood);
    } finally {
      vi.useRealTimers();
    }
  });
});
