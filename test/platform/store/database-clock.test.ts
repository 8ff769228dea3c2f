// The clock of a process on PostgreSQL, and leases under clocks that differ by minutes.
import { afterEach, describe, expect, it } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { type Clock, systemClock } from '../../../src/platform/runtime/clock.ts';
import { DatabaseClock, databaseTime } from '../../../src/platform/store/changes/database-clock.ts';
import type { Db } from '../../../src/platform/store/db.ts';
import { kyselyOn, noStreaming } from '../../../src/platform/store/dialect.ts';
import { claim } from '../../outbound/queue/entries.ts';
import { send } from '../../support/delivery.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

let test: TestApp | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

/** A server that answers each query with this time, after `wayMs`. */
function serverAt(now: () => number, pass = async () => {}): Db {
  const executeQuery = async () => {
    await pass();
    return { rows: [{ now: now() }] as never[] };
  };
  return kyselyOn('postgres', { executeQuery, streamQuery: noStreaming });
}

const machineOff = (ms: number): Clock => ({ ...systemClock, now: () => systemClock.now() + ms });

describe('the clock', () => {
  it.each([-120_000, -150, 150, 3_600_000])(
    'follows the server if the machine is %i ms off',
    async (ms) => {
      const clock = new DatabaseClock(machineOff(ms));
      await clock.look(serverAt(() => systemClock.now()));
      expect(Math.abs(clock.now() - systemClock.now())).toBeLessThan(50);
      expect(Math.abs(clock.correctionMs + ms)).toBeLessThan(50);
    },
  );

  it('stays as it is for a difference that may be that of the way', async () => {
    const clock = new DatabaseClock(machineOff(60));
    await clock.look(serverAt(() => systemClock.now()));
    expect(clock.correctionMs).toBe(0);
  });

  it('stays as it is after a slow answer', async () => {
    const machine = virtualClock();
    const clock = new DatabaseClock(machine);
    const slowly = async () => void (await machine.advance(1_001));
    await clock.look(serverAt(() => machine.now() + 60_000, slowly));
    expect(clock.correctionMs).toBe(0);
  });

  it('is set again while a daemon runs, and after a fault', async () => {
    const machine = virtualClock();
    const clock = new DatabaseClock(machine);
    let ahead = 0;
    const there = () => {
      if (Number.isNaN(ahead)) throw new Error('away');
      return machine.now() + ahead;
    };
    const stop = clock.follow(serverAt(there));
    ahead = Number.NaN;
    await machine.advance(10_000);
    ahead = 5_000;
    await machine.advance(10_000);
    expect(clock.correctionMs).toBe(5_000);
    stop();
    ahead = 0;
    await machine.advance(60_000);
    expect(clock.correctionMs).toBe(5_000);
  });

  it('agrees with a real server', async () => {
    test = await testApp({ store: 'postgres' });
    const { db } = test.app.store;
    const clock = new DatabaseClock(machineOff(45_000));
    // A look that a busy machine delayed on one way only is off by half of that way; the next one
    // corrects it.
    const differenceMs = async () => {
      await clock.look(db);
      return Math.abs(clock.now() - (await databaseTime(db)));
    };
    await expect.poll(differenceMs).toBeLessThan(100);
  });
});

it('a daemon whose machine is two minutes ahead leaves the claims of others alone', async () => {
  test = await testApp({ store: 'postgres', start: Date.now() });
  const clock = new DatabaseClock(machineOff(120_000));
  const ahead: App = { ...(await test.another()), clock };
  await send(test.app, test.caller, 'ann@example.com');
  expect(await claim(test.app, 10, 'wrk_right')).toEqual(['ann@example.com']);
  await clock.look(test.app.store.db);
  expect(await claim(ahead, 10, 'wrk_ahead')).toEqual([]);
  // By its own clock the lease of a minute is over.
  const wrong: App = { ...ahead, clock: machineOff(120_000) };
  expect(await claim(wrong, 10, 'wrk_wrong')).toEqual(['ann@example.com']);
});
