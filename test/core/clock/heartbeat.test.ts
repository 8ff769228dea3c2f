// Jumps of the clock between runs and while a daemon runs, as the store keeps them, on both stores.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isClockTrusted, timeOfAge } from '../../../src/core/clock/age.ts';
import { startHeartbeat } from '../../../src/core/clock/heartbeat.ts';
import { findClockState } from '../../../src/core/clock/queries.ts';
import { machineChecks, thisMachine } from '../../../src/doctor/machine.ts';
import { clockJumpsOf } from '../../../src/platform/runtime/clock-jumps.ts';
import { timeOfId } from '../../../src/platform/runtime/ids.ts';
import { stores } from '../../support/command.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

describe.each(stores)('the heartbeat of the clock on %s', (store) => {
  let test: TestApp;
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
    await test.close();
  });

  /** Runs a daemon's heartbeat for a while, and starts the next one after its end and `jumpMs`. */
  async function restarted(jumpMs: number) {
    test = await testApp({ store });
    const end = await startHeartbeat(test.app);
    await test.clock.advance(5 * minute);
    await end();
    test.clock.set(test.clock.now() + jumpMs);
    const app = await test.another();
    ends.push(await startHeartbeat(app));
    return app;
  }

  /** Lets minutes pass, each with its stored heartbeat. */
  async function pass(minutes: number): Promise<void> {
    for (let passed = 0; passed < minutes; passed++) {
      await test.clock.advance(minute);
      await expect.poll(async () => (await state()).beat_at).toBe(test.clock.now());
    }
  }

  const state = async () => (await findClockState(test.app.store.db)) ?? { beat_at: 0 };

  it.each([
    ['more than a minute before the last heartbeat', -minute - 1, true],
    ['a minute before it', -minute, false],
    ['a day after it', day, false],
    ['more than a day after it', day + 1, true],
  ])('tells whether a start %s is a jump', async (_name, jumpMs, isJump) => {
    const app = await restarted(jumpMs);
    expect(await isClockTrusted(app)).toBe(!isJump);
    expect(await state()).toMatchObject({ jump_ms: isJump ? jumpMs : null });
  });

  it('lets new ids follow a heartbeat that is a minute ahead', async () => {
    const app = await restarted(-minute);
    expect(timeOfId(app.newId('event'))).toBe(test.clock.now() + minute);
  });

  it('makes nothing old until both times have agreed for an hour, over restarts', async () => {
    test = await testApp({ store });
    const { app, clock } = test;
    const end = await startHeartbeat(app);
    clock.set(clock.now() + 120 * day);
    expect(await timeOfAge(app, day)).toBe(0);
    await pass(30);
    await end();
    const next = await test.another();
    ends.push(await startHeartbeat(next));
    await pass(20);
    expect(await timeOfAge(next, day)).toBe(0);
    await pass(11);
    expect(await timeOfAge(next, day)).toBe(clock.now() - day);
  });

  it('makes data of a clock that was behind no older than it is', async () => {
    test = await testApp({ store });
    const { app, clock } = test;
    ends.push(await startHeartbeat(app));
    const right = clock.now();
    clock.set(right - 120 * day);
    clockJumpsOf(app).look();
    await pass(2);
    clock.set(right + 2 * minute);
    clockJumpsOf(app).look();
    await pass(61);
    expect(await timeOfAge(app, 90 * day)).toBe(right - 120 * day);
    expect(await timeOfAge(app, 130 * day)).toBe(clock.now() - 130 * day);
    expect(await timeOfAge(app, hour)).toBe(clock.now() - hour);
  });

  it('counts no hour that two daemons share twice', async () => {
    test = await testApp({ store });
    const apps = [test.app, await test.another()];
    for (const app of apps) ends.push(await startHeartbeat(app));
    test.clock.set(test.clock.now() - 2 * day);
    const writes = apps.map((app) => vi.spyOn(app.store, 'write'));
    for (const app of apps) clockJumpsOf(app).look();
    // A jump that the second daemon stores minutes later, as the file was busy, counts anew from
    // then.
    const stored = () => writes.map(({ mock }) => mock.settledResults.map(({ type }) => type));
    await expect.poll(stored).toEqual([['fulfilled'], ['fulfilled']]);
    await pass(59);
    const third = await test.another();
    expect(await isClockTrusted(third)).toBe(false);
    await pass(2);
    expect(await isClockTrusted(third)).toBe(true);
  });

  it('is told by doctor after a jump', async () => {
    test = await testApp({ store });
    const { app, clock } = test;
    ends.push(await startHeartbeat(app));
    const check = machineChecks.find(({ name }) => name === 'clock-jumps');
    const look = () => check?.look({ app, machine: thisMachine, offline: null });
    expect(await look()).toMatchObject({ status: 'ok' });
    clock.set(clock.now() + 90_000);
    await clock.advance(minute);
    await expect.poll(look).toMatchObject({
      status: 'warn',
      found: expect.stringContaining('the clock went forward by 90 s at'),
    });
  });
});
