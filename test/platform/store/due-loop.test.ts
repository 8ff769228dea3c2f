import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '../../../src/access/keys/keys.ts';
import { keys } from '../../../src/access/keys/queries.ts';
import { createLogger } from '../../../src/platform/runtime/log.ts';
import {
  createDueLoop,
  type DueLoop,
  type LoopSurroundings,
} from '../../../src/platform/store/changes/due-loop.ts';
import { bothStores } from '../../support/command.ts';
import { testApp } from '../../support/test-app.ts';
import { type VirtualClock, virtualClock } from '../../support/virtual-clock.ts';

const never = Number.POSITIVE_INFINITY;

describe('a loop over due work', () => {
  let clock: VirtualClock;
  let loop: DueLoop;
  let logged: string[];
  /** Listeners of commits. */
  let listeners: Set<() => void>;
  /** Results or actions of the next steps; after the last one nothing is due. */
  let plan: (number | (() => Promise<number>))[];
  /** Times at which the steps began, in ms since the start of the test. */
  let begun: number[];
  let rests: number;
  let onRest: () => void;
  let isQuiet: boolean;
  let surroundings: LoopSurroundings;
  let startedAt: number;

  beforeEach(async () => {
    clock = virtualClock();
    startedAt = clock.now();
    listeners = new Set();
    const onChange = (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    };
    logged = [];
    const destination = { write: (line: string) => void logged.push(line) };
    const log = await createLogger({ level: 'info', pretty: false, destination });
    plan = [];
    begun = [];
    rests = 0;
    onRest = () => {};
    isQuiet = true;
    surroundings = { clock, log, store: { onChange } };
    loop = createDueLoop(surroundings, {
      name: 'test',
      async step() {
        begun.push(clock.now() - startedAt);
        const next = plan.shift() ?? never;
        return typeof next === 'number' ? next : next();
      },
      trouble: 'the rows cannot be read',
      isQuiet: () => {
        rests += 1;
        onRest();
        return isQuiet;
      },
    });
  });
  afterEach(() => loop.stop());

  /** Plans a step that the test ends. */
  function heldStep(named = never) {
    const { promise, resolve } = Promise.withResolvers<number>();
    plan.push(() => promise);
    return { end: () => resolve(named) };
  }

  const pass = (ms: number) => clock.advance(ms);

  it('steps while more may be due, then sleeps until the returned time', async () => {
    plan = [0, 0, startedAt + 5_000];
    loop.start();
    await pass(4_999);
    expect(begun).toEqual([0, 0, 0]);
    await pass(1);
    expect(begun).toEqual([0, 0, 0, 5_000]);
    expect(rests).toBe(2);
  });

  it('runs every minute without a known time', async () => {
    loop.start();
    await pass(120_000);
    expect(begun).toEqual([0, 60_000, 120_000]);
  });

  it('sleeps a minute at most when the clock is set back during a step', async () => {
    const { end } = heldStep(startedAt + 1_000);
    loop.start();
    clock.set(startedAt - 3_600_000);
    end();
    await pass(59_999);
    expect(begun).toHaveLength(1);
    await pass(1);
    expect(begun).toHaveLength(2);
  });

  it('is woken by a commit', async () => {
    loop.start();
    await pass(1_000);
    for (const listener of listeners) listener();
    await pass(0);
    expect(begun).toEqual([0, 1_000]);
  });

  it('rests between steps that commits wake, and wakes for a caller at once', async () => {
    await loop.stop();
    begun = [];
    const step = async () => {
      begun.push(clock.now() - startedAt);
      return never;
    };
    loop = createDueLoop(surroundings, { name: 'test', step, trouble: '', restMs: 25 });
    loop.start();
    const commit = () => {
      for (const listener of listeners) listener();
    };
    for (let ms = 0; ms < 100; ms += 1) {
      await pass(1);
      commit();
    }
    expect(begun).toEqual([0, 25, 50, 75, 100]);
    loop.wake();
    await pass(0);
    expect(begun).toHaveLength(6);
    await pass(25);
    expect(begun).toHaveLength(7);
  });

  it('runs once more before it sleeps when woken during a step', async () => {
    const { end } = heldStep();
    loop.start();
    loop.wake();
    loop.wake();
    await pass(0);
    expect(begun).toEqual([0]);
    end();
    await pass(0);
    expect(begun).toEqual([0, 0]);
    expect(rests).toBe(1);
  });

  it('stays awake when a listener wakes it at rest', async () => {
    onRest = () => {
      if (rests === 1) loop.wake();
    };
    loop.start();
    await pass(0);
    expect(begun).toEqual([0, 0]);
  });

  it('is idle for all callers once nothing is due and begun work has ended', async () => {
    const { end } = heldStep();
    isQuiet = false;
    loop.start();
    let idle = 0;
    for (const asked of [loop.idle(), loop.idle()]) void asked.then(() => (idle += 1));
    await pass(0);
    end();
    await pass(1_000);
    expect({ idle, rests }).toEqual({ idle: 0, rests: 1 });
    isQuiet = true;
    loop.wake();
    await pass(0);
    expect(idle).toBe(2);
  });

  it('forgets its time to wake when woken early', async () => {
    plan = [startedAt + 30_000];
    loop.start();
    await pass(10_000);
    loop.wake();
    await pass(59_999);
    expect(begun).toEqual([0, 10_000]);
  });

  it('logs a failed step and tries it again after a second', async () => {
    const fail = () => Promise.reject(new Error('disk full'));
    plan = [fail, fail];
    loop.start();
    await pass(999);
    expect(begun).toEqual([0]);
    await pass(1_001);
    expect(begun).toEqual([0, 1_000, 2_000]);
    expect(logged).toHaveLength(2);
    expect(JSON.parse(logged[0] ?? '')).toMatchObject({
      level: 'error',
      msg: 'the rows cannot be read',
      err: { message: 'disk full' },
    });
  });

  it('finishes the running step at a stop, and begins no other', async () => {
    plan = [startedAt];
    const { end } = heldStep(0);
    loop.start();
    await pass(1);
    expect(begun).toHaveLength(2);
    let isOver = false;
    const stopped = loop.stop().then(() => {
      isOver = true;
    });
    await pass(60_000);
    expect(isOver).toBe(false);
    end();
    await stopped;
    expect(listeners.size).toBe(0);
    loop.wake();
    await pass(120_000);
    expect(begun).toHaveLength(2);
    expect(rests).toBe(1);
  });

  it('stops at once while asleep', async () => {
    loop.start();
    await pass(0);
    await loop.stop();
    expect(begun).toEqual([0]);
    expect(clock.nextTimerAt()).toBeUndefined();
  });
});

describe.each(bothStores)('a loop over rows on %s', (store) => {
  it('sees commits of this process and of others', async () => {
    const { app, operator, another, close } = await testApp({ store });
    let seen = 0;
    const loop = createDueLoop(app, {
      name: 'test',
      async step() {
        seen = await keys.count(app.store.db, operator.organizationId);
        return never;
      },
      trouble: 'the keys cannot be read',
    });
    loop.start();
    for (const process of [app, await another()]) {
      const before = await keys.count(app.store.db, operator.organizationId);
      await createKey(process, operator, {});
      await expect.poll(() => seen).toBe(before + 1);
    }
    await loop.stop();
    await close();
  });
});
