// Parts of a limit over real heartbeats on PostgreSQL: whatever daemons do, the parts never add up
// to more than the limit, and to all of it once nothing changes any more.
import { afterEach, describe, expect, it } from 'vitest';
import { portionsOf } from '../../../src/access/admission/portions.ts';
import type { App } from '../../../src/core/app.ts';
import { CapacityError } from '../../../src/platform/errors.ts';
import { partOf } from '../../../src/platform/runtime/fairness/portion.ts';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { Daemons } from './daemons.ts';

const limits = [1, 3, 10, 20];
const names = ['gmail', 'mx a.example'];
const stepMs = 250;

let test: TestApp;
let daemons: Daemons;
afterEach(async () => {
  await daemons.close();
  await test.close();
});

/** A daemon whose way to the store can be cut. */
interface Cuttable {
  app: App;
  isCut: boolean;
}

async function cuttable(): Promise<Cuttable> {
  const opened = await test.another();
  const { store } = opened;
  const { write } = store;
  const daemon: Cuttable = { app: opened, isCut: false };
  const cutWrite: typeof write = (work, durability) =>
    daemon.isCut
      ? Promise.reject(new CapacityError('the way to the store is cut'))
      : write(work, durability);
  Object.assign(store, { write: cutWrite });
  return daemon;
}

const partsOf = (running: readonly Cuttable[], limit: number, name: string) =>
  running.map(({ app }) => {
    const places = portionsOf(app).at(app.clock.elapsed());
    return partOf(limit, name, { places, taken: {} });
  });

function sums(running: readonly Cuttable[]): number[] {
  return limits.flatMap((limit) =>
    names.map((name) => partsOf(running, limit, name).reduce((sum, part) => sum + part, 0)),
  );
}

const whole = limits.flatMap((limit) => names.map(() => limit));

function expectWithin(running: readonly Cuttable[], when: string): void {
  for (const [index, sum] of sums(running).entries()) {
    expect(sum, `${when}, limit ${whole[index]}`).toBeLessThanOrEqual(whole[index] ?? 0);
  }
}

describe('parts of a limit', () => {
  it.each([1, 2, 3, 4])(
    'never exceed it while daemons come, go, hang and die (seed %i)',
    async (seed) => {
      test = await testApp({ store: 'postgres' });
      daemons = new Daemons(test);
      const random = seededRandom(seed);
      const pick = (count: number) => Math.floor(random.float() * count);
      let running: Cuttable[] = [];
      const steps: (() => Promise<unknown>)[] = [
        async () => {
          if (running.length >= 4) return;
          const one = await cuttable();
          await daemons.start(one.app);
          running.push(one);
        },
        // It stops in order: its connections are closed before its row goes.
        async () => {
          const one = running[pick(running.length)];
          if (!one || one.isCut) return;
          running = running.filter((other) => other !== one);
          await daemons.stop(one.app);
        },
        // It dies: its row stays, and its connections are gone.
        async () => {
          const one = running[pick(running.length)];
          if (!one) return;
          running = running.filter((other) => other !== one);
          one.isCut = true;
        },
        async () => {
          const one = running[pick(running.length)];
          if (one) one.isCut = !one.isCut;
        },
      ];
      for (let event = 0; event < 25; event++) {
        await steps[pick(steps.length)]?.();
        expectWithin(running, `event ${event}`);
        for (let wait = pick(16); wait > 0; wait--) {
          await daemons.pass(stepMs);
          expectWithin(running, `event ${event}, ${wait} steps before the next`);
        }
      }
      for (const one of running) one.isCut = false;
      if (running.length === 0) return;
      await daemons.settled(20_000);
      expect(sums(running)).toEqual(whole);
    },
  );

  it('are the whole at once for a daemon that is alone, and half a while after another came', async () => {
    test = await testApp({ store: 'postgres' });
    daemons = new Daemons(test);
    const one = await cuttable();
    await daemons.start(one.app);
    expect(partsOf([one], 20, 'gmail')).toEqual([20]);
    const two = await cuttable();
    await daemons.start(two.app);
    expect(partsOf([one, two], 20, 'gmail')).toEqual([20, 0]);
    await daemons.settled(1_250);
    expect(partsOf([one, two], 20, 'gmail')).toEqual([10, 0]);
    await daemons.settled(5_000);
    expect(partsOf([one, two], 20, 'gmail')).toEqual([10, 10]);
    two.isCut = true;
    await daemons.settled(4_250);
    expect(partsOf([one, two], 20, 'gmail')).toEqual([10, 0]);
    await daemons.settled(12_000);
    expect(partsOf([one, two], 20, 'gmail')).toEqual([20, 0]);
    two.isCut = false;
    await daemons.settled(2_250);
    expect(partsOf([one, two], 20, 'gmail')).toEqual([10, 0]);
    await daemons.settled(6_000);
    expect(partsOf([one, two], 20, 'gmail')).toEqual([10, 10]);
  });

  it('of two daemons that start at once are never the whole twice', async () => {
    test = await testApp({ store: 'postgres' });
    daemons = new Daemons(test);
    const both = [await cuttable(), await cuttable()];
    await Promise.all(both.map(({ app }) => daemons.start(app)));
    for (let step = 0; step < 32; step++) {
      expectWithin(both, `step ${step}`);
      await daemons.pass(stepMs);
    }
    expect(sums(both)).toEqual(whole);
  });

  it('are the whole for a process without heartbeats', async () => {
    test = await testApp({ store: 'postgres' });
    daemons = new Daemons(test);
    expect(portionsOf(test.app).at(0)).toEqual([{ count: 1, rank: 0 }]);
  });
});
